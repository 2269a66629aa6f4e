//! The whole document of a hit, over the panes: scroll position and search.
//!
//! Invariants: only the visible part of a document is laid out; moves are recorded here and applied when the width is
//! known; Esc first cancels the loading of a document.
//! Not here: layout (`view`), loading (`workers`).

pub(crate) mod messages;
mod view;

use crossterm::event::KeyEvent;
use tui_textarea::TextArea;

use super::action::Action;
use super::chrome::Hint;
use super::context::ContextView;
use super::find::{Find, Way};
use super::input::{Intent, refused, step_of};
use super::messages::Words;
use super::outline::Step;
use super::popup::{Handled, Popup, finishes, type_into};
use super::screen::ScreenState;
use ragonite_app::{App, Event, Fetched, Refusal};
use ragonite_base::{DocumentId, EvidenceId, clean_line};

pub(super) use view::draw;

/// A line of a document: the part, and the line in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) part: usize,
    pub(super) line: usize,
}

/// Where to go when the document is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Goal {
    /// The hit.
    Hit,
    /// To the top.
    First,
    /// To the end.
    Last,
    /// A match of the search.
    Match(Way),
}

/// Result of the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Found {
    /// Not searched yet.
    Unknown,
    /// The last match.
    At(Place),
    /// No match.
    Nowhere,
}

/// The popup with a document.
#[derive(Debug, Clone)]
pub(super) struct DocumentView {
    pub(super) document: DocumentId,
    /// The hit it was opened for.
    pub(super) hit: EvidenceId,
    pub(super) title: String,
    /// The popup it was opened from.
    back: Option<ContextView>,
    /// The first visible line.
    pub(super) top: Place,
    pub(super) goal: Option<Goal>,
    /// Lines to move; positive is down.
    pub(super) moves: isize,
    /// Visible lines of the last frame.
    pub(super) height: usize,
    /// The search text while it is typed.
    pub(super) typed: Option<TextArea<'static>>,
    pub(super) find: Option<Find>,
    pub(super) found: Found,
}

impl DocumentView {
    pub(super) fn step(&mut self, step: Step) {
        let page = isize::try_from(self.height.max(1)).unwrap_or(isize::MAX);
        let lines = match step {
            Step::Up => -1,
            Step::Down => 1,
            Step::PageUp => -page,
            Step::PageDown => page,
            Step::HalfUp => -(page + 1) / 2,
            Step::HalfDown => (page + 1) / 2,
            Step::First | Step::Last => {
                self.goal = Some(if step == Step::First { Goal::First } else { Goal::Last });
                self.moves = 0;
                return;
            }
        };
        // Nobody scrolls further between two frames.
        self.moves = self.moves.saturating_add(lines).clamp(-20 * page, 20 * page);
    }

    fn look_for(&mut self, way: Way) {
        if self.find.is_some() {
            self.goal = Some(Goal::Match(way));
        } else {
            self.typed = Some(TextArea::default());
        }
    }

    /// A key while the search text is typed.
    fn type_key(&mut self, key: KeyEvent, action: Option<Action>) {
        match action {
            Some(Action::Back) => self.typed = None,
            _ if finishes(key, action) => {
                let text = self.typed.take().map(|line| line.lines().join(" ")).unwrap_or_default();
                (self.find, self.found) = (Find::new(&text), Found::Unknown);
                self.goal = self.find.as_ref().map(|_| Goal::Match(Way::Here));
            }
            _ => {
                if let Some(line) = &mut self.typed {
                    type_into(line, key, action);
                }
            }
        }
    }

    /// The keys for the hint line.
    pub(super) fn hints(&self, app: &App, words: Words) -> Vec<Hint> {
        let back = match (is_coming(app), self.find.is_some()) {
            (true, _) => words.stop(),
            (false, true) => words.end(),
            (false, false) => words.close(),
        };
        let more = [Action::PageDown, Action::PageUp, Action::Search, Action::NextMatch, Action::PreviousMatch];
        [(Action::Back, back)].into_iter().chain(more.map(|action| (action, words.hint(action)))).collect()
    }

    /// A key while the popup is open.
    pub(super) fn on_key(&mut self, app: &App, key: KeyEvent, action: Option<Action>) -> Handled {
        if self.typed.is_some() {
            self.type_key(key, action);
            return Handled::stay([]);
        }
        match action {
            Some(Action::Back) if is_coming(app) => return self.leave([Event::DocumentCancelRequested]),
            Some(Action::Back) if self.find.is_some() => self.find = None,
            Some(Action::Back | Action::OpenDocument) => return self.leave([]),
            Some(Action::Search) => self.typed = Some(TextArea::default()),
            Some(Action::NextMatch) => self.look_for(Way::On),
            Some(Action::PreviousMatch) => self.look_for(Way::Back),
            action => {
                if let Some(step) = action.and_then(step_of) {
                    self.step(step);
                }
            }
        }
        Handled::stay([])
    }

    /// Goes back to the popup it was opened from.
    fn leave(&mut self, events: impl IntoIterator<Item = Event>) -> Handled {
        match self.back.take() {
            Some(back) => Handled::open(Popup::Context(back), events),
            None => Handled::close(events),
        }
    }
}

/// Whether the document is being loaded.
fn is_coming(app: &App) -> bool {
    app.document().is_some_and(|open| open.parts == Fetched::Coming)
}

/// Opens the document of the evidence in the context popup, or of the selected hit.
pub(super) fn open(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    let back = match &screen.popup {
        Some(Popup::Context(view)) => Some(view.clone()),
        _ => None,
    };
    let hit = match &back {
        Some(view) => view.hit(app),
        None => screen.turn(app).and_then(|turn| turn.hits().get(screen.evidence.selected)),
    };
    let Some(hit) = hit else { return refused(Refusal::NoEvidence) };
    let (document, evidence) = (hit.document, hit.evidence);
    screen.popup = Some(Popup::Document(Box::new(DocumentView {
        document,
        hit: evidence,
        title: clean_line(&hit.title),
        back,
        top: Place::default(),
        goal: Some(Goal::Hit),
        moves: 0,
        height: 1,
        typed: None,
        find: None,
        found: Found::Unknown,
    })));
    vec![Intent::App(Event::DocumentWanted { document, hit: evidence }), Intent::Redraw]
}
