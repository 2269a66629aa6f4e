//! Settings under test, and the choices of one setting that an ablation compares.
//!
//! A further choice is one line in [`Ablation::choices`], and a line in `paper` if the paper has a figure for it.

use serde::{Deserialize, Serialize};

use super::{CONTEXTS, Completion};
use ragonite_document::evidence::{ContextParts, EvidenceSettings, Kind, Linearizer, TableEvidence};
use ragonite_rag::prompt::{Neighbours, SourceOrder};
use ragonite_rag::retrieval::{Fusion, Mode, Reranking, RetrievalSettings, Translate};

/// The settings that may differ between two runs over the same questions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Variation {
    /// Context that is embedded, indexed and shown.
    pub context: ContextParts,
    /// Splitting of documents and form of tables.
    pub evidence: EvidenceSettings,
    /// Settings of the search.
    pub retrieval: RetrievalSettings,
    /// Whether hits are reranked.
    pub rerank: Reranking,
    /// Origin of the completed question.
    pub completion: Completion,
    /// Order of the sources in the prompt.
    pub order: SourceOrder,
    /// How often shared context occurs in the prompt.
    pub neighbours: Neighbours,
}

/// A run of an ablation.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// Name of the choice, for people.
    pub name: String,
    /// Settings of the run.
    pub variation: Variation,
}

/// The runs of an ablation.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparing {
    /// In the order of the paper, where it has them.
    pub variants: Vec<Variant>,
    /// Index of the run that the others are compared with: the configured settings.
    pub default: usize,
}

/// A setting whose choices are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Ablation {
    /// Title, heading, before and after, each alone, none and all.
    Context,
    /// Linearizer of tables.
    Linearizer,
    /// Rows, tables, or both.
    Index,
    /// Passages, lists or tables alone, and all.
    Kinds,
    /// Dense, lexical, hybrid.
    Mode,
    /// By rank with several constants, and by score.
    Fusion,
    /// With and without the reranker.
    Rerank,
    /// Origin of the completed question.
    Completion,
    /// With and without translation of the question.
    Translation,
    /// Number of hits.
    K,
    /// Best source of the prompt last or first.
    Order,
    /// Shared context once or with each source.
    Neighbours,
}

type Change = fn(&mut Variation);

fn by_rank(variation: &mut Variation, k: u32) {
    variation.retrieval.fusion = Fusion::Rrf;
    variation.retrieval.rrf_k = k;
}

impl Ablation {
    /// The word on the command line.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Linearizer => "linearizer",
            Self::Index => "index",
            Self::Kinds => "kinds",
            Self::Mode => "mode",
            Self::Fusion => "fusion",
            Self::Rerank => "rerank",
            Self::Completion => "completion",
            Self::Translation => "translation",
            Self::K => "k",
            Self::Order => "order",
            Self::Neighbours => "neighbours",
        }
    }

    /// The choices by name, each with its change.
    fn choices(self) -> Vec<(&'static str, Change)> {
        match self {
            // The choices of context are in a table of their own.
            Self::Context => Vec::new(),
            Self::Linearizer => vec![
                ("verbalized", |v| v.evidence.linearizer = Linearizer::Verbalized),
                ("piped", |v| v.evidence.linearizer = Linearizer::Piped),
                ("markdown", |v| v.evidence.linearizer = Linearizer::Markdown),
                ("html", |v| v.evidence.linearizer = Linearizer::Html),
                ("plain", |v| v.evidence.linearizer = Linearizer::Plain),
            ],
            Self::Index => vec![
                ("row", |v| v.evidence.tables = TableEvidence::Row),
                ("table", |v| v.evidence.tables = TableEvidence::Table),
                ("both", |v| v.evidence.tables = TableEvidence::Both),
            ],
            Self::Kinds => vec![
                ("passages", |v| v.retrieval.kinds = vec![Kind::Passage]),
                ("lists", |v| v.retrieval.kinds = vec![Kind::List]),
                ("tables", |v| v.retrieval.kinds = vec![Kind::Table, Kind::Row]),
                ("all", |v| v.retrieval.kinds = Kind::ALL.to_vec()),
            ],
            Self::Mode => vec![
                ("lexical", |v| v.retrieval.mode = Mode::Lexical),
                ("dense", |v| v.retrieval.mode = Mode::Dense),
                ("hybrid", |v| v.retrieval.mode = Mode::Hybrid),
            ],
            Self::Fusion => vec![
                ("rrf 1", |v| by_rank(v, 1)),
                ("rrf 10", |v| by_rank(v, 10)),
                ("rrf 60", |v| by_rank(v, 60)),
                ("rrf 600", |v| by_rank(v, 600)),
                ("blend", |v| v.retrieval.fusion = Fusion::Blend),
            ],
            Self::Rerank => vec![("off", |v| v.rerank = Reranking::Off), ("on", |v| v.rerank = Reranking::On)],
            Self::Completion => {
                vec![
                    ("none", |v| v.completion = Completion::None),
                    ("history", |v| v.completion = Completion::History),
                    ("model", |v| v.completion = Completion::Model),
                    ("human", |v| v.completion = Completion::Human),
                ]
            }
            Self::Translation => vec![
                ("off", |v| v.retrieval.translate = Translate::Off),
                ("auto", |v| v.retrieval.translate = Translate::Auto),
            ],
            Self::K => vec![
                ("3", |v| v.retrieval.top_k = 3),
                ("5", |v| v.retrieval.top_k = 5),
                ("10", |v| v.retrieval.top_k = 10),
                ("20", |v| v.retrieval.top_k = 20),
            ],
            Self::Order => vec![
                ("best-then-longest", |v| v.order = SourceOrder::BestThenLongest),
                ("longest-first", |v| v.order = SourceOrder::LongestFirst),
                ("best-last", |v| v.order = SourceOrder::BestLast),
                ("best-first", |v| v.order = SourceOrder::BestFirst),
            ],
            Self::Neighbours => {
                vec![("once", |v| v.neighbours = Neighbours::Once), ("each", |v| v.neighbours = Neighbours::Each)]
            }
        }
    }

    /// The runs to compare; `configured` is the default, and comes last if it is none of the choices.
    #[must_use]
    pub fn compare(self, configured: &Variation) -> Comparing {
        let mut variants: Vec<Variant> = if self == Self::Context {
            let choice = |(context, name): (ContextParts, &str)| {
                let retrieval = RetrievalSettings { context, ..configured.retrieval.clone() };
                Variant { name: name.to_owned(), variation: Variation { context, retrieval, ..configured.clone() } }
            };
            CONTEXTS.into_iter().map(choice).collect()
        } else {
            let choice = |(name, change): (&str, Change)| {
                let mut variation = configured.clone();
                change(&mut variation);
                Variant { name: name.to_owned(), variation }
            };
            self.choices().into_iter().map(choice).collect()
        };
        let known = variants.iter().position(|variant| variant.variation == *configured);
        let default = known.unwrap_or(variants.len());
        if known.is_none() {
            variants.push(Variant { name: "configured".to_owned(), variation: configured.clone() });
        }
        Comparing { variants, default }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: [Ablation; 12] = [
        Ablation::Context,
        Ablation::Linearizer,
        Ablation::Index,
        Ablation::Kinds,
        Ablation::Mode,
        Ablation::Fusion,
        Ablation::Rerank,
        Ablation::Completion,
        Ablation::Translation,
        Ablation::K,
        Ablation::Order,
        Ablation::Neighbours,
    ];

    fn configured() -> Variation {
        Variation {
            context: ContextParts::ALL,
            evidence: EvidenceSettings::default(),
            retrieval: RetrievalSettings::default(),
            rerank: Reranking::On,
            completion: Completion::Human,
            order: SourceOrder::BestThenLongest,
            neighbours: Neighbours::Once,
        }
    }

    #[test]
    fn every_ablation_compares_choices_that_differ_with_the_default_among_them() {
        for ablation in ALL {
            let Comparing { variants, default } = ablation.compare(&configured());
            assert!(variants.len() >= 2, "{ablation:?}");
            assert_eq!(variants[default].variation, configured(), "{ablation:?}");
            for (place, variant) in variants.iter().enumerate() {
                let others = || variants.iter().enumerate().filter(|(other, _)| *other != place);
                assert!(others().all(|(_, other)| other.variation != variant.variation && other.name != variant.name));
            }
            assert_eq!(serde_json::to_value(ablation).unwrap(), ablation.word());
        }
    }

    #[test]
    fn settings_that_are_no_choice_are_compared_as_configured() {
        let mut seven = configured();
        seven.retrieval.top_k = 7;
        let Comparing { variants, default } = Ablation::K.compare(&seven);
        assert_eq!((default, variants[default].name.as_str()), (variants.len() - 1, "configured"));
        assert_eq!(Ablation::Mode.compare(&seven).variants[0].variation.retrieval.top_k, 7);
    }

    #[test]
    fn context_changes_what_is_indexed_and_what_is_shown() {
        let variants = Ablation::Context.compare(&configured()).variants;
        assert_eq!(variants[0].name, "none");
        assert!(variants.iter().all(|variant| variant.variation.context == variant.variation.retrieval.context));
    }
}
