//! The list of evidence: what is said of a hit where room is short.

use ragonite::answer::RewriteHow;
use ragonite::app::{Event, TurnKey};
use ragonite::base::{EvidenceId, Language};
use ragonite::prompt::{Cut, CutHow};
use ragonite::retrieval::Hit;
use ragonite::tui::Pane;

use crate::screen::{ANSWER, Stage, answer, hits, retrieved, rewrite};

const QUESTION: &str = "Who replaces the modem?";
const HEADING: &str = "Antennas and modems of all the stations in the north and what was decided about them in the end";

/// An answer whose first hit stands far down in a long document.
fn far_down(change: impl Fn(&mut Vec<Hit>), cut: Vec<Cut>) -> Stage {
    let mut found = hits();
    found[0].heading = HEADING.into();
    found[0].location = format!("page 12-13, {HEADING}, text 4 (in Projects › Stations › North)");
    change(&mut found);
    let turn = TurnKey(1);
    let mut stage = Stage::asked(QUESTION);
    let retrieved = ragonite::retrieval::Retrieved { hits: found, ..retrieved(QUESTION) };
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

/// The lines of the pane that has the focus, without what is beside it.
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
