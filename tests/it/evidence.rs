//! The list of evidence in narrow panes.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyModifiers};
use ragonite::app::{Event, TurnKey};
use ragonite::base::{EvidenceId, Language};
use ragonite::document::evidence::TableGrid;
use ragonite::rag::answer::RewriteHow;
use ragonite::rag::prompt::{Cut, CutHow};
use ragonite::rag::retrieval::Hit;
use ragonite::tui::Pane;

use crate::screen::{ANSWER, Stage, answer, hits, retrieved, rewrite};
use crate::states::two_turns;

const QUESTION: &str = "Who replaces the modem?";
const HEADING: &str = "Antennas and modems of all the stations in the north and what was decided about them in the end";

/// An answer whose first hit is far down in a long document.
fn far_down(change: impl Fn(&mut Vec<Hit>), cut: Vec<Cut>) -> Stage {
    let mut found = hits();
    found[0].heading = HEADING.into();
    found[0].location = format!("page 12-13, {HEADING}, text 4 (in Projects › Stations › North)");
    change(&mut found);
    let turn = TurnKey(1);
    let mut stage = Stage::asked(QUESTION);
    let retrieved = ragonite::rag::retrieval::Retrieved { hits: found, ..retrieved(QUESTION) };
    stage.play([
        Event::QuestionCompleted { turn, rewrite: Box::new(rewrite(QUESTION, RewriteHow::First)) },
        Event::HitsRetrieved { turn, retrieved: Box::new(retrieved) },
    ]);
    let mut answer = answer(ANSWER, vec![]);
    answer.prompt.cut = cut;
    stage.finish(turn, answer);
    stage.at(Pane::Evidence)
}

fn cut(rank: usize, how: CutHow) -> Cut {
    Cut { rank, evidence: EvidenceId(100 + i64::try_from(rank).unwrap()), tokens: 64, how }
}

/// The lines of the focused pane, without its neighbours.
fn pane(stage: &mut Stage, size: (u16, u16)) -> Vec<String> {
    let seen = stage.frame(size).backend().to_string();
    seen.lines().filter_map(|line| Some(line.split('┃').nth(1)?.trim_end().to_owned())).collect()
}

#[test]
fn the_place_in_the_document_stays_and_the_heading_gives_way_from_its_middle() {
    for language in [Language::English, Language::German] {
        for size in [(60, 20), (80, 24), (120, 40), (200, 60)] {
            let mut stage = far_down(|_| (), Vec::new()).in_language(language);
            stage.screen.set_focus(Pane::Evidence);
            let lines = pane(&mut stage, size);
            let said = format!("{language:?} {size:?}\n{}", lines.join("\n"));
            assert!(lines[0].contains(" › Antennas") && lines[0].ends_with("the end"), "{said}");
            let place = lines.iter().take(3).find(|line| line.contains("page 12-13, "));
            assert!(place.is_some_and(|line| line.contains("text 4")), "{said}");
        }
    }
}

#[test]
fn with_room_the_place_is_told_as_it_is() {
    let short = |hits: &mut Vec<Hit>| {
        hits[0].heading = "Modems".into();
        hits[0].location = "page 3, Modems, text 4 (in Projects)".into();
    };
    let mut stage = far_down(short, Vec::new()).key('z');
    let lines = pane(&mut stage, (160, 45));
    assert!(lines[1].ends_with(" · page 3, Modems, text 4 (in Projects)"), "{lines:?}");
}

#[test]
fn what_became_of_a_hit_in_the_prompt_is_told_before_that_it_is_cited() {
    let cuts = || vec![cut(1, CutHow::Shortened), cut(5, CutHow::Dropped)];
    let mut stage = far_down(|_| (), cuts()).key('z');
    let seen = pane(&mut stage, (160, 60)).join("\n");
    assert!(seen.contains("    ! shortened · cited · "), "{seen}");
    assert!(seen.contains("    ! not in the prompt: no room · "), "{seen}");
    let mut german = far_down(|_| (), cuts()).in_language(Language::German);
    german.screen.set_focus(Pane::Evidence);
    let seen = pane(&mut german.key('z'), (160, 60)).join("\n");
    assert!(seen.contains("    ! gekürzt · zitiert · "), "{seen}");
    assert!(seen.contains("    ! nicht im Prompt: kein Platz · "), "{seen}");
}

/// A table that is itself the hit, longer and wider than any window.
fn long_table() -> Stage {
    let mut stage = Stage::answered().at(Pane::Evidence);
    for _ in 0..3 {
        stage = stage.key('j');
    }
    stage.frame((80, 24));
    let wide = "and more that nobody reads to its end";
    let row = |number| vec![format!("id-{number:02}"), format!("task {number:02} {wide}"), wide.into(), "a".repeat(30)];
    let rows = (1..=90).map(row);
    let table = TableGrid {
        number: 1,
        caption: "Tasks".into(),
        header: ["Number", "Task", "Remarks", "Last"].map(String::from).into(),
        rows: rows.collect(),
    };
    stage.play([Event::TableLoaded {
        domain: crate::screen::domain().name,
        evidence: EvidenceId(104),
        table: Some(Arc::new(table)),
    }]);
    stage
}

fn rows(lines: &[String]) -> Vec<usize> {
    let number = |line: &String| line.split("id-").nth(1)?.get(..2)?.parse().ok();
    lines.iter().filter_map(number).collect()
}

#[test]
fn the_header_of_a_table_stays_while_its_rows_scroll_and_no_row_is_left_out() {
    for size in [(60, 20), (80, 24), (120, 40)] {
        let mut stage = long_table();
        let (mut seen, mut pages) = (rows(&pane(&mut stage, size)), 0);
        assert!(!seen.contains(&90), "{seen:?}");
        while !seen.contains(&90) && pages < 30 {
            stage.press(KeyCode::PageDown, KeyModifiers::NONE);
            let lines = pane(&mut stage, size);
            let now = rows(&lines);
            let header = lines.iter().position(|line| line.contains("Number │ Task")).unwrap();
            let said = format!("{size:?}\n{}", lines.join("\n"));
            assert!(lines[header + 1].contains("─────") && (header == 0 || now[0] == 1), "{said}");
            assert!(now[0] <= seen.last().unwrap_or(&0) + 1, "rows are left out: {seen:?}\n{said}");
            seen.extend(now);
            pages += 1;
        }
        assert!(pages > 1 && seen.contains(&90), "{size:?} {seen:?}");
        for _ in 0..pages {
            stage.press(KeyCode::PageUp, KeyModifiers::NONE);
        }
        let lines = pane(&mut stage, size);
        // At the smallest size the table begins below the visible part.
        let headers = lines.iter().filter(|line| line.contains("Number │ Task")).count();
        assert!(headers <= 1 && lines[0].contains("1 row"), "{}", lines.join("\n"));
    }
}

#[test]
fn the_first_column_stays_while_a_table_scrolls_sideways_and_the_row_of_the_hit_stays_marked() {
    let mut stage = long_table();
    let farthest = (0..40).fold(Vec::new(), |_, _| {
        stage.press(KeyCode::Right, KeyModifiers::NONE);
        pane(&mut stage, (80, 24))
    });
    let said = farthest.join("\n");
    assert!(said.contains("Number │ ") && said.contains("id-01  │ ") && !said.contains("task 01"), "{said}");
    assert!(farthest.iter().any(|line| line.contains("id-01") && line.ends_with("aaaa")), "{said}");

    let mut stage = Stage::answered().at(Pane::Evidence);
    for _ in 0..2 {
        stage.frame((80, 24));
        stage.press(KeyCode::Right, KeyModifiers::NONE);
    }
    let lines = pane(&mut stage, (80, 24));
    assert!(lines.iter().any(|line| line.contains("▶ Alice  │ ")), "{}", lines.join("\n"));
    assert!(lines.iter().any(|line| line.contains("↔ cells 26–87 of 94")), "{}", lines.join("\n"));
}

#[test]
fn a_first_column_of_more_than_half_of_the_room_scrolls_with_the_others() {
    let mut stage = Stage::answered().at(Pane::Evidence);
    stage.frame((60, 20));
    let long = "a name as long as thirty-two cells";
    let rows = vec![vec![long.to_owned(), "b".repeat(30), "c".repeat(30)]; 5];
    let header = ["Name", "First", "Second"].map(String::from).into();
    let table = TableGrid { number: 1, caption: String::new(), header, rows };
    stage.play([Event::TableLoaded {
        domain: crate::screen::domain().name,
        evidence: EvidenceId(101),
        table: Some(Arc::new(table)),
    }]);
    for _ in 0..20 {
        pane(&mut stage, (60, 20));
        stage.press(KeyCode::Right, KeyModifiers::NONE);
    }
    let lines = pane(&mut stage, (60, 20));
    let row = lines.iter().find(|line| line.contains("▶ ")).unwrap();
    assert!(!row.contains("a name") && row.ends_with("cccc"), "{}", lines.join("\n"));
}

#[test]
fn the_sources_of_an_earlier_turn_say_of_which() {
    let mut stage = two_turns().at(Pane::Evidence);
    assert!(stage.frame((120, 40)).backend().to_string().contains("┏ Evidence ━"));
    stage = stage.key('[');
    let named = stage.frame((120, 40)).backend().to_string();
    assert!(named.contains("┏ Sources of turn 1 ━") && named.contains("F4 Behind"), "{named}");
    let mut german = two_turns().in_language(Language::German).at(Pane::Evidence).key('[');
    let named = german.frame((120, 40)).backend().to_string();
    assert!(named.contains("┏ Quellen zu Frage 1 ━") && named.contains(" F4 Ablauf"), "{named}");
    assert!(!named.contains("F6 Domänen"), "what has no room is left out whole: {named}");
}
