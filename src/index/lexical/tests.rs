//! Tests of the index by words on small domains.

use std::fs;

use super::TextField::{After, Before, Content, Heading, Title};
use super::*;
use crate::Index;
use crate::test_kit::{WordEmbedder, domain, ingest, page};
use ragonite_base::CancelToken;
use ragonite_document::evidence::{Context, ContextParts, Evidence, Kind};
use ragonite_inference::Embed as _;

fn wiki() -> (tempfile::TempDir, Index, WordEmbedder) {
    let embedder = WordEmbedder::new("f00d");
    let (folder, mut index) = domain(&embedder);
    let pages = [
        page("Tests", &["The test matrix for the Kestrel board", "Kolmet 9.0.2-Release passed, see OXT-1654"]),
        page("Limits", &["Limit of the wind in the harbour", "The wind limit of a launch"]),
        page("Lagerung", &["Die Akkus werden in den Häusern am Hafen gelagert", "Ansprechpartner ist Frau Müller"]),
    ];
    ingest(&mut index, &pages, &embedder).unwrap();
    (folder, index, embedder)
}

fn best(index: &Index, question: &str) -> String {
    let found = index.lexical_search(question, 1).unwrap();
    let stored = index.evidences(&found.iter().map(|scored| scored.evidence).collect::<Vec<_>>()).unwrap();
    stored.into_iter().next().map(|stored| stored.evidence.content).unwrap_or_default()
}

#[test]
fn questions_in_both_languages_find_pages_of_both() {
    let (_folder, index, _) = wiki();
    for (question, content) in [
        ("Wo steht die Testmatrix?", "The test matrix for the Kestrel board"),
        ("Was gilt für 9.0.2?", "Kolmet 9.0.2-Release passed, see OXT-1654"),
        ("oxt-1654", "Kolmet 9.0.2-Release passed, see OXT-1654"),
        ("In welchem Haus liegt der Akku?", "Die Akkus werden in den Häusern am Hafen gelagert"),
        ("Who is Mueller?", "Ansprechpartner ist Frau Müller"),
        ("Which kestral matrx is it?", "The test matrix for the Kestrel board"),
    ] {
        assert_eq!(best(&index, question), content, "{question}");
    }
    assert!(index.lexical_search("Zugspitze", 3).unwrap().is_empty());
}

#[test]
fn words_side_by_side_come_before_the_same_words_apart() {
    let (_folder, index, _) = wiki();
    assert_eq!(best(&index, "wind limit"), "The wind limit of a launch");
    let found = index.lexical_search("wind limit", 2).unwrap();
    assert!(found[0].score > found[1].score);
}

#[test]
fn a_date_finds_the_same_date_written_otherwise() {
    let embedder = WordEmbedder::new("f00d");
    let (_folder, mut index) = domain(&embedder);
    let pages = [
        page("Storm - June 22 2013", &["The lost buoys are 6 13"]),
        page("Storm - August 22 2013", &["The lost buoys are 6 13 22"]),
        page("2017-09-14 storm", &["The lost buoys are 14 9 17"]),
        page("Sturm am 1. März 2012", &["The lost buoys are 12 1 3"]),
        page("Sturm am 1. April 2012", &["The lost buoys are 12 1 3 2012"]),
    ];
    ingest(&mut index, &pages, &embedder).unwrap();
    let title = |question: &str| {
        let found = index.lexical_search(question, 1).unwrap();
        let stored = index.evidences(&found.iter().map(|scored| scored.evidence).collect::<Vec<_>>()).unwrap();
        let terms = index.question_terms(question).unwrap();
        let matched = stored.first().map(|stored| terms.matched(&stored.evidence, stored.indexed)).unwrap();
        assert!(matched.iter().any(|matched| matched.how == MatchKind::Date), "{question}: {matched:?}");
        stored.into_iter().next().map(|stored| stored.title).unwrap_or_default()
    };
    for (question, expected) in [
        ("Which buoys were lost on 22.6.13?", "Storm - June 22 2013"),
        ("lost buoys on 2013-06-22", "Storm - June 22 2013"),
        ("Bojen am 22. Juni 2013", "Storm - June 22 2013"),
        ("lost buoys on September 14, 2017", "2017-09-14 storm"),
        ("lost buoys on 9/14/2017", "2017-09-14 storm"),
        ("lost buoys on March 1st, 2012", "Sturm am 1. März 2012"),
        ("lost buoys on 4/1/2012", "Sturm am 1. April 2012"),
    ] {
        assert_eq!(title(question), expected, "{question}");
    }
}

#[test]
fn an_index_of_an_older_version_is_built_anew_from_the_database() {
    let (folder, index, embedder) = wiki();
    let folder = folder.path().join("wiki");
    let generation = index.derived.lexical.generation;
    drop(index);
    let path = folder.join(FOLDER);
    fs::remove_dir_all(&path).unwrap();
    fs::create_dir_all(&path).unwrap();
    let mut builder = Schema::builder();
    builder.add_i64_field("evidence", INDEXED | FAST);
    let indexing = TextFieldIndexing::default().set_tokenizer("ragonite_words_2");
    builder.add_text_field("text", TextOptions::default().set_indexing_options(indexing));
    let old = tantivy::Index::create_in_dir(&path, builder.build()).unwrap();
    old.tokenizers().register("ragonite_words_2", tokenizer::analyzer(Language::English));
    let mut writer: IndexWriter = old.writer_with_num_threads(1, WRITER_BYTES).unwrap();
    let mut prepared = writer.prepare_commit().unwrap();
    prepared.set_payload(&generation.to_string());
    prepared.commit().unwrap();
    drop((writer, old));
    checksums::write(&path).unwrap();
    assert!(Lexical::load(&folder, Others::Refused, &CancelToken::never()).unwrap().is_none());
    let index = Index::open(&folder, embedder.identity(), &CancelToken::never(), &mut |_| {}).unwrap();
    assert_eq!(best(&index, "OXT-1654"), "Kolmet 9.0.2-Release passed, see OXT-1654");
    drop(index);
    let lexical = Lexical::load(&folder, Others::Refused, &CancelToken::never()).unwrap().unwrap();
    assert_eq!((lexical.generation, lexical.len()), (generation, 6));
}

#[test]
fn what_met_is_named_with_its_places() {
    let (_folder, index, _) = wiki();
    let evidence = Evidence {
        kind: Kind::Passage,
        content: "The test matrix of the Kestrel board".to_owned(),
        context: Context {
            title: "Tests".to_owned(),
            heading_path: vec!["Boards".to_owned(), "Matrix".to_owned()],
            before: "Boards are tested".to_owned(),
            after: "OXT-1654".to_owned(),
        },
        table: None,
        row: None,
        location: String::new(),
        links: Vec::new(),
    };
    let terms = index.question_terms("Was sagt die Testmatrix zu kestral und OXT-1654?").unwrap();
    let named = |parts| -> Vec<(String, String, MatchKind, Vec<TextField>)> {
        terms.matched(&evidence, parts).into_iter().map(|m| (m.word, m.term, m.how, m.fields)).collect()
    };
    let row =
        |word: &str, term: &str, how, fields: &[TextField]| (word.to_owned(), term.to_owned(), how, fields.to_vec());
    assert_eq!(
        named(ContextParts::ALL),
        [
            row("testmatrix", "test", MatchKind::Part, &[Title, Before, Content]),
            row("testmatrix", "matrix", MatchKind::Part, &[Heading, Content]),
            row("kestral", "kestrel", MatchKind::Close, &[Content]),
            row("oxt-1654", "oxt-1654", MatchKind::Same, &[After]),
            row("oxt", "oxt", MatchKind::Same, &[After]),
            row("1654", "1654", MatchKind::Same, &[After]),
        ]
    );
    let without_context: Vec<String> = named(ContextParts::NONE).into_iter().map(|(_, term, ..)| term).collect();
    assert_eq!(without_context, ["test", "matrix", "kestrel"]);
    assert!(index.question_terms("").unwrap().matched(&evidence, ContextParts::ALL).is_empty());
}

#[test]
fn whatever_is_found_has_a_word_that_met() {
    let (_folder, index, _) = wiki();
    for question in ["Wo ist die Testmatrix?", "Häuser am Hafen", "9.0.2", "the wind", "Mueller", "lauch limits"] {
        let terms = index.question_terms(question).unwrap();
        let found = index.lexical_search(question, 10).unwrap();
        assert!(!found.is_empty(), "{question}");
        for scored in found {
            let stored = &index.evidences(&[scored.evidence]).unwrap()[0];
            assert!(!terms.matched(&stored.evidence, ContextParts::ALL).is_empty(), "{question}");
        }
    }
}
