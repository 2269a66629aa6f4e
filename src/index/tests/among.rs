//! Tests of searches among some of the evidences, and of the language of a domain.

use time::macros::date;

use super::*;
use ragonite_base::{DocumentId, Language};
use ragonite_document::evidence::Kind;

/// Twenty pages by month, each with five passages and a table of four rows.
fn year(embedder: &WordEmbedder) -> (tempfile::TempDir, Index) {
    let (folder, mut index) = domain(embedder);
    let pages: Vec<Page> = (0..20)
        .map(|n| {
            let passages = (0..5).map(|fact| format!("TPM tests of the lab, fact {fact} of page {n}")).collect();
            let header = vec!["Board".to_owned(), "Result".to_owned()];
            let rows = (0..4).map(|row| vec![format!("TPM tests board {row}"), format!("passed {n}")]).collect();
            let table = Some(TableGrid { number: 1, caption: String::new(), header, rows });
            let date = (n != 7).then(|| format!("2025-{:02}-15T08:00:00Z", n % 12 + 1));
            Page { passages, table, date, ..page(&format!("Page {n}"), &[]) }
        })
        .collect();
    ingest(&mut index, &pages, embedder).unwrap();
    (folder, index)
}

fn filters() -> Vec<Filter> {
    let within = |within| Filter { within, ..Filter::default() };
    let left_out = |evidences: &[i64], documents: &[i64]| Filter {
        left_out: LeftOut {
            evidences: evidences.iter().copied().map(EvidenceId).collect(),
            documents: documents.iter().copied().map(DocumentId).collect(),
        },
        ..Filter::default()
    };
    vec![
        Filter { kinds: vec![Kind::Row], ..Filter::default() },
        Filter { kinds: vec![Kind::Passage, Kind::List], ..Filter::default() },
        Filter { kinds: vec![Kind::List], ..Filter::default() },
        Filter { kinds: Vec::new(), ..Filter::default() },
        within(Within { document: Some("page 3".to_owned()), ..Within::default() }),
        within(Within { documents: vec![DocumentId(2), DocumentId(5), DocumentId(999)], ..Within::default() }),
        within(Within {
            document: Some("page 1".to_owned()),
            documents: vec![DocumentId(2), DocumentId(5)],
            ..Within::default()
        }),
        within(Within { document: Some("no such page".to_owned()), ..Within::default() }),
        within(Within { since: Some(date!(2025 - 06 - 01)), until: Some(date!(2025 - 08 - 31)), ..Within::default() }),
        Filter {
            kinds: vec![Kind::Row],
            within: Within {
                document: Some("PAGE 1".to_owned()),
                until: Some(date!(2025 - 03 - 15)),
                ..Within::default()
            },
            ..Filter::default()
        },
        left_out(&[3, 4, 5, 90], &[]),
        left_out(&[], &[2, 19]),
        Filter { kinds: vec![Kind::Row], ..left_out(&[8], &[3]) },
    ]
}

/// Whether a filter lets an evidence through, told from what is stored of it.
fn fits(filter: &Filter, stored: &StoredEvidence) -> bool {
    let Within { document, documents, since, until } = &filter.within;
    let day = stored.date.as_deref().map(|date| date[..10].to_owned());
    let named = document.as_ref().is_none_or(|text| stored.title.to_lowercase().contains(&text.to_lowercase()));
    let late = since.is_none_or(|since| day.as_ref().is_some_and(|day| *day >= since.to_string()));
    let early = until.is_none_or(|until| day.as_ref().is_some_and(|day| *day <= until.to_string()));
    let one_of = documents.is_empty() || documents.contains(&stored.document);
    let LeftOut { evidences, documents } = &filter.left_out;
    let left_out = evidences.contains(&stored.id) || documents.contains(&stored.document);
    filter.kinds.contains(&stored.evidence.kind) && one_of && named && late && early && !left_out
}

#[test]
fn a_search_among_some_finds_what_a_search_of_all_finds_of_them() {
    let embedder = embedder();
    let (_folder, index) = year(&embedder);
    let vector = embedder.embed(&["TPM tests board 2"], TextRole::Query, &CancelToken::never()).unwrap().remove(0);
    let all = [index.dense_search(&vector, 1000).unwrap(), index.lexical_search("TPM tests board 2", 1000).unwrap()];
    assert_eq!(all[0].len(), 180);
    for filter in filters() {
        let among = |k| {
            let by_meaning = index.dense_search_among(&vector, k, &filter).unwrap();
            [by_meaning, index.lexical_search_among("TPM tests board 2", k, &filter).unwrap()]
        };
        let (some, few) = (among(1000), among(5));
        for ((all, some), few) in all.iter().zip(&some).zip(&few) {
            let ids: Vec<EvidenceId> = all.iter().map(|scored| scored.evidence).collect();
            let stored = index.evidences(&ids).unwrap();
            let fitting: Vec<EvidenceId> = stored.iter().filter(|one| fits(&filter, one)).map(|one| one.id).collect();
            let mut found: Vec<EvidenceId> = some.iter().map(|scored| scored.evidence).collect();
            assert!(few.iter().map(|one| one.evidence).eq(found.iter().copied().take(5)), "{filter:?}");
            assert!(some.windows(2).all(|pair| pair[0].score >= pair[1].score), "{filter:?}");
            found.sort();
            let mut expected = fitting;
            expected.sort();
            assert_eq!(found, expected, "{filter:?}");
        }
    }
}

#[test]
fn what_was_stored_or_removed_since_counts_for_the_next_search() {
    let embedder = embedder();
    let (_folder, mut index) = domain(&embedder);
    let rows = Filter { kinds: vec![Kind::Row], ..Filter::default() };
    let found = |index: &Index| index.lexical_search_among("board", 9, &rows).unwrap().len();
    assert_eq!(found(&index), 0);
    let header = vec!["Board".to_owned()];
    let table = TableGrid { number: 1, caption: String::new(), header, rows: vec![vec!["B2".to_owned()]] };
    let with_table = Page { table: Some(table), ..page("Boards", &["A board"]) };
    ingest(&mut index, &[with_table], &embedder).unwrap();
    assert_eq!(found(&index), 1);
    ingest(&mut index, &[page("Boards", &["No board is left"])], &embedder).unwrap();
    assert_eq!(found(&index), 0);
}

#[test]
fn a_domain_has_the_language_of_most_of_its_running_text() {
    let embedder = embedder();
    let english = page("Tests", &["The tests of the lab are run by Alice", "This is for the office"]);
    let german = |n: u32| page(&format!("Seite {n}"), &["Der Akku wird im Winter nicht geladen und trocken gelagert"]);
    let (_folder, mut index) = domain(&embedder);
    assert_eq!(index.language().unwrap(), Language::English, "nothing is there");
    ingest(&mut index, &[english.clone(), german(1)], &embedder).unwrap();
    assert_eq!(index.language().unwrap(), Language::English);
    // What joins the cells of a row is English in every language.
    let header = vec!["Akku".to_owned(), "Ladung".to_owned()];
    let rows = (0..9).map(|n| vec![format!("BX-{n}"), "45".to_owned()]).collect();
    let table = Some(TableGrid { number: 1, caption: String::new(), header, rows });
    let with_table = Page { table, ..german(2) };
    ingest(&mut index, &[english, german(1), with_table, german(3)], &embedder).unwrap();
    assert_eq!(index.language().unwrap(), Language::German);
}
