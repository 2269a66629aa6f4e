//! Evidence in its context, and the whole document: frames and keys.

use crossterm::event::{Event as Input, KeyCode, KeyEvent, KeyModifiers};
use ragonite::app::{Event, JobId, Problem};
use ragonite::base::{DocumentId, EvidenceId};
use ragonite::document::evidence::ContextParts;
use ragonite::rag::retrieval::{AblatedHit, AblatedRank};
use ragonite::tui::{Intent, Pane, on_input};

use crate::screen::{NOW, Stage, assert_frames};

/// The job of the first ablation on a stage with one turn.
const JOB: JobId = JobId(2);

/// The second source falls behind the third and the fourth; the fifth is gone.
pub(crate) fn tried() -> Vec<AblatedHit> {
    let ranks = [
        (101, (1, 0.8123), (1, 0.8044)),
        (102, (2, 0.77), (4, 0.5)),
        (103, (3, 0.61), (2, 0.6)),
        (104, (4, 0.55), (3, 0.55)),
    ];
    let placed = |(rank, cosine)| AblatedRank { rank, cosine };
    let tried = ranks.into_iter().map(|(evidence, now, then)| AblatedHit {
        evidence: EvidenceId(evidence),
        indexed: ContextParts::ALL.without(ContextParts::AFTER),
        now: placed(now),
        then: placed(then),
    });
    tried.collect()
}

/// Context ablation of the second source without the text before it, before the ranks arrive.
pub(crate) fn trying(stage: Stage) -> Stage {
    stage.at(Pane::Evidence).key('j').key('a').key('3')
}

/// The same with its ranks.
pub(crate) fn without_before(stage: Stage) -> Stage {
    let mut stage = trying(stage);
    stage.play([Event::ContextTried { job: JOB, tried: tried() }]);
    stage
}

fn problem() -> Problem {
    Problem { what: "loading the embedder: no such file".into(), next: "Fetch it with `ragonite models pull`".into() }
}

/// The ranks could not be computed.
pub(crate) fn not_tried(stage: Stage) -> Stage {
    let mut stage = trying(stage);
    stage.play([Event::JobFailed { job: JOB, problem: problem() }]);
    stage
}

/// The document is not in the domain any more.
pub(crate) fn document_gone(stage: Stage) -> Stage {
    let mut stage = stage.at(Pane::Evidence).key('o');
    stage.play([Event::DocumentLoaded { document: DocumentId(1), parts: Ok([].into()) }]);
    stage
}

fn press(stage: &mut Stage, code: KeyCode) -> Vec<Intent> {
    stage.input(&Input::Key(KeyEvent::new(code, KeyModifiers::NONE)))
}

fn text(stage: &mut Stage) -> String {
    stage.frame((120, 40)).backend().to_string()
}

/// Looks for a text in the document that is open.
fn look_for(mut stage: Stage, text: &str) -> Stage {
    stage.frame((120, 40));
    stage = stage.key('/');
    for letter in text.chars() {
        stage = stage.key(letter);
    }
    press(&mut stage, KeyCode::Enter);
    stage
}

#[test]
fn the_parts_of_a_context_stand_apart() {
    assert_frames("context", || Stage::answered().at(Pane::Evidence).key('j').key('a'));
}

#[test]
fn without_a_part_the_ranks_stand_beside_the_present_ones() {
    assert_frames("context_trying", || trying(Stage::answered()));
    assert_frames("context_tried", || without_before(Stage::answered()));
}

#[test]
fn the_ranks_without_a_part_stay_in_view_where_the_evidence_is_longer_than_the_screen() {
    let mut stage = without_before(Stage::answered());
    let seen = |stage: &mut Stage| stage.frame((80, 20)).backend().to_string();
    let shows = |seen: &str| seen.contains("now → without before") && seen.contains("more below");
    let top = seen(&mut stage);
    assert!(shows(&top) && top.contains("1 [x] Title"), "{top}");
    press(&mut stage, KeyCode::End);
    let end = seen(&mut stage);
    assert!(end.contains("now → without before") && !end.contains("1 [x] Title"), "{end}");
}

#[test]
fn a_part_is_switched_off_and_on_by_its_key() {
    let mut stage = Stage::answered().at(Pane::Evidence).key('a');
    let wanted = |parts| Intent::App(Event::ContextWanted { turn: 0, parts });
    let without = ContextParts::ALL.without(ContextParts::BEFORE);
    assert_eq!(press(&mut stage, KeyCode::Char('3'))[0], wanted(without));
    assert_eq!(press(&mut stage, KeyCode::Char('1'))[0], wanted(without.without(ContextParts::TITLE)));
    assert!(text(&mut stage).contains("again without title, before…"));
    // Results of an earlier choice of parts are ignored.
    stage.play([Event::ContextTried { job: JOB, tried: tried() }]);
    assert!(text(&mut stage).contains("again without title, before…"));
    press(&mut stage, KeyCode::Char('1'));
    assert_eq!(press(&mut stage, KeyCode::Char('3'))[0], wanted(ContextParts::ALL));
    assert!(stage.app.trial().is_none() && text(&mut stage).contains("3 [x] Before"));
}

#[test]
fn esc_stops_the_ranks_before_it_closes() {
    let mut stage = trying(Stage::answered());
    press(&mut stage, KeyCode::Esc);
    let seen = text(&mut stage);
    assert!(
        stage.app.trial().is_none() && seen.contains("┏ Source 2 in its context ") && seen.contains("3 [x]"),
        "{seen}"
    );
    press(&mut stage, KeyCode::Esc);
    assert!(!text(&mut stage).contains("in its context"));
}

#[test]
fn left_and_right_go_through_the_sources() {
    let mut stage = without_before(Stage::answered());
    press(&mut stage, KeyCode::Right);
    let seen = text(&mut stage);
    assert!(seen.contains("┏ Source 3 in its context ") && seen.contains(" › 3 Field meeting"), "{seen}");
    press(&mut stage, KeyCode::Left);
    press(&mut stage, KeyCode::Left);
    press(&mut stage, KeyCode::Left);
    assert!(text(&mut stage).contains("┏ Source 1 in its context "));
    press(&mut stage, KeyCode::Esc);
    assert!(text(&mut stage).contains("› 1 row"), "the selection has gone along");
}

#[test]
fn the_document_opens_where_the_evidence_stands() {
    assert_frames("document", || Stage::answered().at(Pane::Evidence).key('o'));
    let mut stage = Stage::answered().at(Pane::Evidence).key('a').key('o');
    assert!(text(&mut stage).contains("▌ found here · row"));
    press(&mut stage, KeyCode::Home);
    let top = text(&mut stage);
    assert!(top.contains("part 1 of 17") && top.contains("Agenda, text 1") && !top.contains("found here"), "{top}");
    press(&mut stage, KeyCode::End);
    assert!(text(&mut stage).contains("Next meeting in two weeks."));
    press(&mut stage, KeyCode::Esc);
    assert!(text(&mut stage).contains("┏ Source 1 in its context "), "back to where it was opened from");
}

#[test]
fn esc_stops_a_document_that_is_on_its_way() {
    let mut stage = Stage::answered().at(Pane::Evidence);
    let open = Input::Key(KeyEvent::new(KeyCode::Char('o'), KeyModifiers::NONE));
    // Nobody reads it.
    for intent in on_input(&mut stage.screen, &stage.app, &open, NOW) {
        if let Intent::App(event) = intent {
            stage.app.handle(event);
        }
    }
    let seen = text(&mut stage);
    assert!(seen.contains("Opening the document…") && seen.contains("Esc stop"), "{seen}");
    let stopped = press(&mut stage, KeyCode::Esc);
    assert_eq!(stopped, [Intent::App(Event::DocumentCancelRequested), Intent::Redraw]);
    assert!(stage.app.document().is_none() && !text(&mut stage).contains("Opening the document"));
}

#[test]
fn a_text_is_looked_for_in_the_document() {
    let opened = || Stage::answered().at(Pane::Evidence).key('o');
    assert_frames("document_search", || look_for(opened(), "kestrel"));
    let mut stage = look_for(opened(), "depot");
    let seen = text(&mut stage);
    assert!(seen.contains("part 1 of 17") || seen.contains("手順書 of the depot"), "{seen}");
    let mut stage = stage.key('n');
    assert!(text(&mut stage).contains("The field team met in the depot"));
    let mut stage = look_for(stage, "nowhere");
    assert!(text(&mut stage).contains("! “nowhere” is not in it"));
    press(&mut stage, KeyCode::Esc);
    assert!(text(&mut stage).contains("part "));
}

#[test]
fn a_text_is_looked_for_in_a_context_and_no_letter_of_it_is_a_key() {
    let mut stage = look_for(Stage::answered().at(Pane::Evidence).key('j').key('a'), "depot");
    assert!(text(&mut stage).contains("“depot” 1 of"), "{}", text(&mut stage));
    stage = stage.key('/');
    assert_eq!(press(&mut stage, KeyCode::Char('3')), [Intent::Redraw], "no part is switched off");
    assert_eq!(press(&mut stage, KeyCode::Esc), [Intent::Redraw]);
    assert!(text(&mut stage).contains("“depot” 1 of"), "Esc left what was typed, and the context stays");
}
