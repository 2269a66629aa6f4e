//! Values of settings as text.
//!
//! Invariant: what [`Value::text`] gives, [`Value::read`] takes.

use serde::Serialize;
use serde::de::value::{Error as WordError, StrDeserializer};
use serde::de::{DeserializeOwned, IntoDeserializer as _};

use ragonite_document::evidence::{ContextParts, Kind};
use ragonite_inference::GeneratorChoice;
use ragonite_rag::answer::Abstain;
use ragonite_rag::attribution::{EstimateFirst, GroupTest, Method};
use ragonite_rag::pipeline::AnswerWithoutMatch;
use ragonite_rag::prompt::AnswerLanguage;
use ragonite_rag::retrieval::{Copies, Fusion, Mode, Reranking, Translate};

/// A value that is shown, typed and stored as text.
pub(super) trait Value: Clone {
    fn text(&self) -> String;

    /// None if the text is no valid value.
    fn read(text: &str) -> Option<Self>;
}

macro_rules! by_display {
    ($($kind:ty),*) => {$(
        impl Value for $kind {
            fn text(&self) -> String {
                self.to_string()
            }

            fn read(text: &str) -> Option<Self> {
                text.parse().ok()
            }
        }
    )*};
}

macro_rules! by_word {
    ($($kind:ty),*) => {$(
        impl Value for $kind {
            fn text(&self) -> String {
                word_of(self)
            }

            fn read(text: &str) -> Option<Self> {
                of_word(text)
            }
        }
    )*};
}

by_display!(usize, u32, f32, f64, ContextParts, GeneratorChoice);
by_word!(Mode, Fusion, Reranking, Copies, Translate, AnswerWithoutMatch, Method, GroupTest, EstimateFirst);
by_word!(Abstain, AnswerLanguage);

impl Value for Vec<Kind> {
    fn text(&self) -> String {
        if Kind::ALL.iter().all(|kind| self.contains(kind)) {
            return "all".to_owned();
        }
        let chosen = Kind::ALL.into_iter().filter(|kind| self.contains(kind));
        chosen.map(Kind::as_str).collect::<Vec<_>>().join(",")
    }

    fn read(text: &str) -> Option<Self> {
        if text == "all" {
            return Some(Kind::ALL.to_vec());
        }
        text.split(',').map(|word| of_word(word.trim())).collect()
    }
}

/// The word of a choice in the configuration.
fn word_of(value: &impl Serialize) -> String {
    toml::Value::try_from(value).ok().and_then(|word| word.as_str().map(str::to_owned)).unwrap_or_default()
}

fn of_word<T: DeserializeOwned>(word: &str) -> Option<T> {
    let words: StrDeserializer<'_, WordError> = word.into_deserializer();
    T::deserialize(words).ok()
}
