//! Tests with a real generator across crates: prompts, answers and explanations by SmolLM2-135M.

mod answer;
mod prompt;
mod soak;

use std::ops::ControlFlow;

use ragonite::base::{DocumentId, EvidenceId};
use ragonite::document::evidence::{Context, Kind};
use ragonite::inference::GeneratorSettings;
use ragonite::llama::LlamaGenerator;
use ragonite::rag::retrieval::{Hit, HitExplanation};

/// The weights of the profile `tiny` within the folder of models.
const TINY: &str = "smollm2-135m-instruct/SmolLM2-135M-Instruct.Q4_1.gguf";

/// The generator of `tiny`, if its weights are available.
fn tiny() -> Option<LlamaGenerator> {
    let path = ragonite_testing::weights(TINY)?;
    let go_on = Box::new(|_| ControlFlow::Continue(()));
    Some(LlamaGenerator::load("smollm2", &path, &GeneratorSettings::default(), go_on).unwrap())
}

fn hit(rank: usize, text: &str) -> Hit {
    Hit {
        rank,
        evidence: EvidenceId(100 + i64::try_from(rank).unwrap()),
        document: DocumentId(1),
        title: "Stations".to_owned(),
        heading: String::new(),
        url: "stations.md".to_owned(),
        date: None,
        space: None,
        ancestors: Vec::new(),
        location: "Table 1".to_owned(),
        kind: Kind::Passage,
        table: None,
        row: None,
        text: text.to_owned(),
        content: text.to_owned(),
        links: Vec::new(),
        context: Context::default(),
        fused: 0.0,
        dense_rank: None,
        dense_score: None,
        lexical_rank: None,
        lexical_score: None,
        rerank_score: None,
        copies: Vec::new(),
        version: None,
        why: HitExplanation::default(),
    }
}
