//! Errors of the crates as problems: what failed, why, and the remedy.

use std::error::Error as StdError;

use ragonite_app::Problem;
use ragonite_base::Canceled;
use ragonite_config::ChangesError;
use ragonite_eval::ExportCaseError;
use ragonite_history::HistoryError;
use ragonite_index::IndexError;
use ragonite_inference::InferenceError;
use ragonite_rag::answer::AnswerError;
use ragonite_rag::attribution::AttributionError;
use ragonite_rag::retrieval::RetrievalError;

/// Why a job has no result.
#[derive(Debug)]
pub(super) enum Stop {
    /// The user cancelled.
    Canceled,
    /// It failed.
    Failed(Problem),
}

impl From<Problem> for Stop {
    fn from(problem: Problem) -> Self {
        Self::Failed(problem)
    }
}

impl From<Canceled> for Stop {
    fn from(_: Canceled) -> Self {
        Self::Canceled
    }
}

macro_rules! stop_of {
    ($($error:ty),*) => {$(
        impl From<$error> for Stop {
            fn from(error: $error) -> Self {
                use $error as Error;
                match error {
                    Error::Canceled(_) => Self::Canceled,
                    error => Self::Failed(problem(&error)),
                }
            }
        }
    )*};
}

stop_of!(AnswerError, AttributionError, IndexError, InferenceError, RetrievalError);

/// The problem of an error, with the remedy of the first cause that has one.
pub fn problem(error: &(dyn StdError + 'static)) -> Problem {
    let mut cause = Some(error);
    while let Some(error_at_hand) = cause {
        if let Some(next) = remedy(error_at_hand) {
            return Problem::of(error, next);
        }
        cause = error_at_hand.source();
    }
    Problem::of(error, "")
}

fn remedy(error: &(dyn StdError + 'static)) -> Option<String> {
    if let Some(error) = error.downcast_ref::<InferenceError>() {
        return remedy_of_inference(error);
    }
    if let Some(error) = error.downcast_ref::<HistoryError>() {
        return Some(error.next_step().to_owned());
    }
    if let Some(error) = error.downcast_ref::<ExportCaseError>() {
        return Some(error.next_step().to_owned());
    }
    if let Some(ChangesError::Unknown { .. } | ChangesError::Value { .. } | ChangesError::Parse { .. }) =
        error.downcast_ref::<ChangesError>()
    {
        let next = "Change a setting of the domain, which writes the file anew, or correct or delete the file.";
        return Some(next.to_owned());
    }
    let error = error.downcast_ref::<std::io::Error>()?;
    let next = match error.kind() {
        std::io::ErrorKind::StorageFull => "Free some space and run it again; what was stored before is whole.",
        std::io::ErrorKind::PermissionDenied => "Check the rights of the file and its folder.",
        std::io::ErrorKind::ReadOnlyFilesystem => "Choose a folder that can be written with --data-dir.",
        _ => return None,
    };
    Some(next.to_owned())
}

fn remedy_of_inference(error: &InferenceError) -> Option<String> {
    let next = match error {
        InferenceError::MissingFile { model, .. } => format!(
            "Run `make models` (`make models PROFILE=…` for another profile than starter) in a checkout or `ragonite models \
             pull {model}` in a build with network code, or put the files of `{model}` into `<folder>/{model}/` of one of \
             these folders; `ragonite models list` names them. Where a domain chose the model, its settings can choose \
             another."
        ),
        InferenceError::DamagedFile { .. } => {
            "Delete the file and run `make models` (with PROFILE=… where that is not starter) in a checkout or `ragonite \
             models pull` with the model's id in a build with network code, or copy it again from where it is whole."
                .to_owned()
        }
        InferenceError::PromptTooLong { .. } => {
            "Ask a shorter question, or lower `prompt.evidence_tokens` in the configuration.".to_owned()
        }
        InferenceError::Load { .. } => {
            "Check the weights with `ragonite models verify`; where they are damaged, delete the file and run `make \
             models`.".to_owned()
        }
        InferenceError::NoKernels { .. } => {
            "Take the program out of its bundle again, with its folder `ragonite-lib`, and leave the two together.".to_owned()
        }
        InferenceError::Run { .. } => {
            "Try again; where it fails again, make the context smaller (`generation.context_tokens`) or, where a GPU \
             computes, set `device` to \"cpu\" in the configuration.".to_owned()
        }
        InferenceError::NoGpu { .. } => {
            "Set `device` to \"auto\" or \"cpu\" in the configuration or in $RAGONITE_DEVICE; `make cuda`, or `make build \
             FEATURES=vulkan` or `metal`, makes a build for a GPU, and `ragonite doctor` says what keeps it from running."
                .to_owned()
        }
        InferenceError::OutOfMemory { .. } => {
            "Close other programs, choose a smaller profile with --profile or, in the settings of the domain, a smaller model, or \
             make the context smaller: lower `generation.context_tokens`, or set `generation.kv_cache` to \"q8_0\", in the configuration. Where it is a GPU's memory, `device = \"cpu\"` does without it.".to_owned()
        }
        InferenceError::OutOfAddressSpace { .. } => {
            "Raise the limit in the shell that starts the program (`ulimit -v unlimited`), choose a smaller profile with \
             --profile, or lower `generation.context_tokens` in the configuration.".to_owned()
        }
        _ => return None,
    };
    Some(next)
}
