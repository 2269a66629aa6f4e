//! Shared helpers of the tests of this crate.

use std::fs;
use std::path::Path;

use super::{Asked, Completion, Outcome, Page, Preparation, Question, QuestionType, Variation, prepare};
use ragonite_base::{CancelToken, DocumentId, EvidenceId, Language};
use ragonite_document::evidence::{Context, ContextParts, EvidenceSettings, Kind};
use ragonite_index::Index;
use ragonite_inference::Embed;
use ragonite_rag::prompt::{Neighbours, SourceOrder};
use ragonite_rag::retrieval::{Copies, Fusion, Hit, HitExplanation, Reranking, RetrievalSettings, Translate};

/// An English question at a turn of its conversation.
pub(super) fn question(turn: usize) -> Question {
    Question {
        conversation: "c".into(),
        turn,
        language: Language::English,
        raw: "And there?".into(),
        completed: "Who ran the TPM tests?".into(),
        answer: "Alice".into(),
        facts: Vec::new(),
        past: Vec::new(),
        gold: vec!["https://wiki.example.net/spaces/TEST/pages/1/Pump+Tests".into()],
        source: Kind::Passage,
        question_type: QuestionType::Simple,
        topic: None,
    }
}

/// A hit with this content on a page of its own, without context.
pub(super) fn hit(rank: usize, content: &str) -> Hit {
    let id = i64::try_from(rank).unwrap();
    Hit {
        rank,
        evidence: EvidenceId(id),
        document: DocumentId(id),
        title: "Page".to_owned(),
        heading: String::new(),
        url: String::new(),
        date: None,
        space: None,
        ancestors: Vec::new(),
        location: "p1".to_owned(),
        kind: Kind::Passage,
        table: None,
        row: None,
        text: content.to_owned(),
        content: content.to_owned(),
        links: Vec::new(),
        context: Context::default(),
        fused: 1.0,
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

/// The settings of the paper.
pub(super) fn as_in_paper() -> Variation {
    Variation {
        context: ContextParts::ALL,
        evidence: EvidenceSettings::default(),
        retrieval: RetrievalSettings {
            fusion: Fusion::Rrf,
            copies: Copies::Keep,
            translate: Translate::Off,
            ..RetrievalSettings::default()
        },
        rerank: Reranking::On,
        completion: Completion::Model,
        order: SourceOrder::BestThenLongest,
        neighbours: Neighbours::Once,
    }
}

/// A question with its gold page at this rank of ten hits, by number and by text.
pub(super) fn asked(question: Question, page: Option<usize>) -> Asked {
    Asked {
        question,
        query: String::new(),
        how: None,
        translated: None,
        gold: vec![Page { number: "1".into(), url: "/pages/1".into(), content: "text".into() }],
        hits: Vec::new(),
        quality: None,
        k: 10,
        spelled: false,
        outcome: Outcome { page, content: page, url: None, gold_in_ten: 2 },
    }
}

/// Four pages, two of them copies of each other.
pub(super) fn wiki() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let page = |number: &str, title: &str, space: &str, text: &str| {
        let url = format!("https://wiki.example.net/spaces/{space}/pages/{number}/{title}");
        let json = serde_json::json!({"title": title, "url": url, "content": format!("<p>{text}</p>"), "space": space});
        fs::write(folder.path().join(format!("{number}.json")), json.to_string()).unwrap();
    };
    page("1", "Pump:Tests", "TEST", "Alice ran the TPM tests on every board");
    page("2", "Architecture", "CS", "The platform has three layers");
    page("3", "Architecture", "~alice", "The platform has three layers");
    page("4", "Travel", "CS", "Trains are booked by the office");
    folder
}

/// The domain of these documents, stored in `folder`.
pub(super) fn kept_index(documents: &Path, folder: &Path, embedder: &dyn Embed) -> Index {
    let evidence = EvidenceSettings::default();
    let preparation = Preparation { name: "wiki", documents, evidence: &evidence, context: ContextParts::ALL };
    prepare(folder, &preparation, embedder, &CancelToken::never(), &mut |_| {}).unwrap().0
}
