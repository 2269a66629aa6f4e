//! A piece of evidence in its context, over the panes. Parts of the context can be switched off to see how the ranks
//! change.
//!
//! Invariant: Esc first cancels the running computation, then closes the popup.
//! Not here: the ranks (`retrieval`), drawing (`view`), the whole document (`document`).

pub(crate) mod messages;
mod view;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::action::Action;
use super::chrome::Hint;
use super::document;
use super::input::{Intent, refused, step_of};
use super::long_text::{LongText, Taken};
use super::messages::Words;
use super::outline::{Scroll, Step};
use super::popup::Popup;
use super::screen::ScreenState;
use ragonite_app::{App, ContextTrial, Event, Fetched, Refusal, TurnKey};
use ragonite_base::EvidenceId;
use ragonite_document::evidence::ContextParts;
use ragonite_rag::retrieval::Hit;

pub(super) use view::draw;

/// A part of a context.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ContextPart {
    Title,
    Heading,
    Before,
    After,
}

/// The parts of a context in the order of the text, each with the key that switches it.
pub(super) const PARTS: [(char, ContextParts, ContextPart); 4] = [
    ('1', ContextParts::TITLE, ContextPart::Title),
    ('2', ContextParts::HEADING, ContextPart::Heading),
    ('3', ContextParts::BEFORE, ContextPart::Before),
    ('4', ContextParts::AFTER, ContextPart::After),
];

/// The popup.
#[derive(Debug, Clone)]
pub(super) struct ContextView {
    pub(super) turn: TurnKey,
    pub(super) evidence: EvidenceId,
    /// The parts that are on.
    pub(super) parts: ContextParts,
    pub(super) text: LongText,
}

impl ContextView {
    /// The hit; none where it has left the screen.
    pub(super) fn hit<'a>(&self, app: &'a App) -> Option<&'a Hit> {
        app.turn(self.turn)?.hits().iter().find(|hit| hit.evidence == self.evidence)
    }

    /// The ranks with the parts that are on, as far as known.
    pub(super) fn trial<'a>(&self, app: &'a App) -> Option<&'a ContextTrial> {
        app.trial().filter(|trial| trial.turn == self.turn && trial.parts == self.parts)
    }

    /// Whether the ranks are being computed.
    pub(super) fn is_trying(&self, app: &App) -> bool {
        self.trial(app).is_some_and(|trial| trial.ranks == Fetched::Coming)
    }

    /// The keys for the hint line.
    pub(super) fn hints(&self, app: &App, words: Words) -> Vec<Hint> {
        let short = |action: Action| (action, words.hint(action));
        let back = if self.is_trying(app) { words.stop() } else { words.close() };
        let others = [(Action::Left, words.source_before()), (Action::Right, words.next_source())];
        let more = [short(Action::OpenDocument)].into_iter().chain(others);
        let found = self.text.match_keys().chain([Action::PageDown, Action::Search]).map(short);
        [(Action::Back, back)].into_iter().chain(more).chain(found).collect()
    }

    fn leave_only(&mut self, app: &App, parts: ContextParts) -> Vec<Intent> {
        self.parts = parts;
        let turn = app.turns().iter().position(|turn| turn.key == self.turn);
        let wanted = turn.map(|turn| Intent::App(Event::ContextWanted { turn, parts }));
        wanted.into_iter().chain([Intent::Redraw]).collect()
    }
}

/// Opens the selected evidence in its context.
pub(super) fn open(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    let hit = screen.turn(app).and_then(|turn| Some((turn.key, turn.hits().get(screen.evidence.selected)?.evidence)));
    let Some((turn, evidence)) = hit else { return refused(Refusal::NoEvidence) };
    let view = ContextView { turn, evidence, parts: ContextParts::ALL, text: LongText::default() };
    screen.popup = Some(Popup::Context(view));
    vec![Intent::Redraw]
}

/// A key while the popup is open.
pub(super) fn on_key(screen: &mut ScreenState, app: &App, key: KeyEvent, action: Option<Action>) -> Vec<Intent> {
    let Some(Popup::Context(view)) = &mut screen.popup else { return Vec::new() };
    if view.text.look_for(key, action) == Taken::Yes {
        return vec![Intent::Redraw];
    }
    let switched = PARTS.iter().find(|(sign, ..)| key.code == KeyCode::Char(*sign));
    if let Some((_, part, _)) = switched.filter(|_| key.modifiers == KeyModifiers::NONE) {
        let parts = view.parts.switched(*part);
        return view.leave_only(app, parts);
    }
    match action {
        Some(Action::Back) if view.is_trying(app) => return view.leave_only(app, ContextParts::ALL),
        Some(Action::Back | Action::Context) => screen.popup = None,
        Some(Action::OpenDocument) => return document::open(screen, app),
        Some(Action::Left) => choose(screen, app, Step::Up),
        Some(Action::Right) => choose(screen, app, Step::Down),
        action => {
            if let Some(step) = action.and_then(step_of) {
                view.text.step(step);
            }
        }
    }
    vec![Intent::Redraw]
}

/// Goes to the previous or next hit and selects it.
fn choose(screen: &mut ScreenState, app: &App, step: Step) {
    let selected = screen.turn(app).map(|turn| turn.key);
    let Some(Popup::Context(view)) = &mut screen.popup else { return };
    let Some(turn) = app.turn(view.turn) else { return };
    let Some(at) = turn.hits().iter().position(|hit| hit.evidence == view.evidence) else { return };
    let to = step.from(at, 1, turn.hits().len());
    view.evidence = turn.hits()[to].evidence;
    view.text.scroll = Scroll::default();
    if let Some(find) = &mut view.text.find {
        find.line = None;
    }
    if selected == Some(turn.key) {
        screen.evidence.select(to);
    }
}
