//! The comparison of two turns: the menu of comparisons, and the comparison itself.
//!
//! Takes keys, gives the event that asks a turn again with a change. Any two answered turns of a conversation can be
//! compared.
//! Invariants: an event that the app would refuse closes the popup, so that the reason is visible; the comparison is
//! laid out again only while one of its turns grows.
//! Not here: asking again (`app`), drawing (`view`).

pub(crate) mod messages;
mod view;

use crossterm::event::{KeyCode, KeyEvent};
use ratatui::text::Line;
use time::OffsetDateTime;

use super::action::Action;
use super::chrome::Hint;
use super::input::{Intent, refused, step_of};
use super::long_text::{LongText, Taken};
use super::messages::Words;
use super::outline::{Scroll, Step};
use super::popup::{Handled, Popup};
use super::screen::ScreenState;
use super::settings::SettingsView;
use super::theme::Theme;
use ragonite_app::{App, Copied, Event, Refusal, Turn, TurnKey, Variation};
use ragonite_base::clean_line;
use ragonite_config::{Setting, SettingsOverride};
use ragonite_rag::retrieval::{Hit, Override, OverrideKind};

pub(super) use view::{asked_again, draw_comparison, draw_menu};

/// The menu of comparisons with a turn.
#[derive(Debug, Clone)]
pub(super) struct CompareMenu {
    pub(super) turn: TurnKey,
    /// Index of the selected hit.
    evidence: usize,
    pub(super) selected: usize,
    pub(super) scroll: Scroll,
}

/// A line of the menu.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Choice {
    /// The turn again, with an override for the source of this rank.
    Pick(usize, Override),
    /// The turn again, with an answer of the model although no document fits.
    WithoutMatch,
    /// The turn again, with settings that the user chooses next.
    OtherSettings,
    /// The turn again, with the current settings.
    SettingsNow,
    /// Another turn of the conversation.
    With(TurnKey),
}

impl CompareMenu {
    /// The keys for the hint line.
    pub(super) fn hints(words: Words) -> Vec<Hint> {
        vec![(Action::Back, words.close()), (Action::Toggle, words.choose()), (Action::Down, words.next())]
    }

    /// The choices; empty for a turn without an answer.
    pub(super) fn choices(&self, app: &App) -> Vec<Choice> {
        let Some(turn) = app.turn(self.turn).filter(|turn| turn.is_answered()) else { return Vec::new() };
        let mut choices = Vec::new();
        if turn.record.trace.stopped_without_match().is_some() {
            choices.push(Choice::WithoutMatch);
        }
        if let Some(hit) = turn.hits().get(self.evidence) {
            let first = (hit.rank > 1).then_some(OverrideKind::First);
            let picks = [OverrideKind::LeftOut, OverrideKind::PageLeftOut].into_iter().chain(first);
            choices.extend(picks.map(|how| Choice::Pick(hit.rank, pick(hit, how))));
        }
        choices.push(Choice::OtherSettings);
        let is_other = |with| Setting::differing(&with, &app.turn_settings()).next().is_some();
        if app.settings_of(turn).is_some_and(is_other) {
            choices.push(Choice::SettingsNow);
        }
        let of = turn.variant().map(|variant| variant.of);
        let mut others: Vec<&Turn> =
            app.turns().iter().filter(|other| other.key != turn.key && other.is_answered()).collect();
        // The original of a variant comes first, then the latest turns.
        others.sort_by_key(|other| (Some(other.record.number) != of, std::cmp::Reverse(other.key)));
        choices.extend(others.into_iter().map(|other| Choice::With(other.key)));
        choices
    }
}

fn pick(hit: &Hit, how: OverrideKind) -> Override {
    let (title, heading) = (clean_line(&hit.title), clean_line(&hit.heading));
    let whole = how == OverrideKind::PageLeftOut || heading.is_empty() || heading == title;
    let copies = hit.copies.iter().map(|copied| copied.evidence).collect();
    let name = if whole { title } else { format!("{title} › {heading}") };
    Override { how, evidence: hit.evidence, document: hit.document, name, copies }
}

/// Two turns beside each other.
#[derive(Debug, Clone)]
pub(super) struct Comparison {
    pub(super) left: TurnKey,
    /// None for the variant of `left`, the last turn.
    right: Option<TurnKey>,
    pub(super) text: LongText,
    /// Lines laid out for a width, once both turns are complete.
    pub(super) kept: Option<(usize, Vec<Line<'static>>)>,
}

impl Comparison {
    fn of(left: TurnKey, right: Option<TurnKey>) -> Self {
        Self { left, right, text: LongText::default(), kept: None }
    }

    /// The two turns; none where one of them has left the screen.
    pub(super) fn turns<'a>(&self, app: &'a App) -> Option<(&'a Turn, &'a Turn)> {
        let left = app.turn(self.left)?;
        let right = match self.right {
            Some(key) => app.turn(key)?,
            None => app.turns().last().filter(|last| {
                last.key != left.key && last.variant().is_some_and(|variant| variant.of == left.record.number)
            })?,
        };
        Some((left, right))
    }

    /// The keys for the hint line.
    pub(super) fn hints(&self, app: &App, words: Words) -> Vec<Hint> {
        let back = (Action::Back, if self.is_running(app) { words.stop() } else { words.close() });
        let moves = self.text.match_keys().chain([Action::PageDown, Action::PageUp, Action::Copy, Action::Search]);
        let more = moves.map(|action| (action, words.hint(action))).chain([(Action::Compare, words.close())]);
        [back].into_iter().chain(more).collect()
    }

    /// A key in the comparison.
    pub(super) fn on_key(
        &mut self,
        app: &App,
        key: KeyEvent,
        action: Option<Action>,
        theme: &Theme,
        words: Words,
    ) -> Handled {
        if self.text.look_for(key, action) == Taken::Yes {
            return Handled::stay([]);
        }
        match action {
            // The running turn goes on.
            Some(Action::Compare) => return Handled::close([]),
            Some(Action::Copy) => return self.copy(app, theme, words).into(),
            action => {
                if let Some(step) = action.and_then(step_of) {
                    self.text.step(step);
                }
            }
        }
        Handled::stay([])
    }

    fn copy(&self, app: &App, theme: &Theme, words: Words) -> Vec<Intent> {
        let Some((left, right)) = self.turns(app) else { return refused(Refusal::NothingToCopy) };
        if self.grows(app) {
            return refused(Refusal::WorkRuns);
        }
        let text = view::text(app, left, right, theme, words);
        vec![Intent::Copy { what: Copied::Comparison, text }]
    }

    /// Whether one of the turns is running and not being cancelled.
    pub(super) fn is_running(&self, app: &App) -> bool {
        !app.is_canceling() && self.grows(app)
    }

    /// Whether one of the turns may still change.
    pub(super) fn grows(&self, app: &App) -> bool {
        let shows = |key| self.turns(app).is_some_and(|(left, right)| [left.key, right.key].contains(&key));
        app.phase().turn().is_some_and(shows)
    }
}

/// Opens the menu for the selected turn.
pub(super) fn open(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    let Some(turn) = screen.turn(app).map(|turn| turn.key) else { return refused(Refusal::NothingAsked) };
    let (evidence, scroll) = (screen.evidence.selected, Scroll::default());
    screen.popup = Some(Popup::Compare(CompareMenu { turn, evidence, selected: 0, scroll }));
    vec![Intent::Redraw]
}

/// A key in the menu.
pub(super) fn in_menu(
    screen: &mut ScreenState,
    app: &App,
    key: KeyEvent,
    action: Option<Action>,
    now: OffsetDateTime,
) -> Vec<Intent> {
    let Some(Popup::Compare(menu)) = &mut screen.popup else { return Vec::new() };
    let choices = menu.choices(app);
    let chosen = match (key.code, action) {
        (KeyCode::Char(digit @ '1'..='9'), _) => Some(digit as usize - '1' as usize),
        (KeyCode::Enter, _) | (_, Some(Action::Toggle)) => Some(menu.selected),
        (_, Some(Action::Compare)) => {
            screen.popup = None;
            return vec![Intent::Redraw];
        }
        (_, Some(action)) => {
            if let Some(step) = step_of(action) {
                menu.selected = step.from(menu.selected, choices.len(), choices.len());
            }
            None
        }
        _ => None,
    };
    match chosen.and_then(|at| choices.get(at).cloned()) {
        Some(choice) => choose(screen, app, choice, now),
        None => vec![Intent::Redraw],
    }
}

/// Chooses a line of the menu that was clicked.
pub(super) fn click(screen: &mut ScreenState, app: &App, at: usize, now: OffsetDateTime) -> Vec<Intent> {
    let Some(Popup::Compare(menu)) = &mut screen.popup else { return Vec::new() };
    menu.selected = at;
    match menu.choices(app).get(at).cloned() {
        Some(choice) => choose(screen, app, choice, now),
        None => vec![Intent::Redraw],
    }
}

fn choose(screen: &mut ScreenState, app: &App, choice: Choice, now: OffsetDateTime) -> Vec<Intent> {
    let Some(Popup::Compare(menu)) = &screen.popup else { return Vec::new() };
    let turn = menu.turn;
    match choice {
        Choice::Pick(_, pick) => ask_again(screen, app, turn, Variation::Pick(pick), now),
        Choice::SettingsNow => ask_again(screen, app, turn, Variation::SettingsNow, now),
        Choice::WithoutMatch => ask_again(screen, app, turn, Variation::Settings(answer_without_match()), now),
        Choice::OtherSettings => {
            screen.popup = Some(Popup::Settings(Box::new(SettingsView::again(turn))));
            vec![Intent::Redraw]
        }
        Choice::With(other) => {
            screen.popup = Some(Popup::Comparison(Comparison::of(turn.min(other), Some(turn.max(other)))));
            vec![Intent::Redraw]
        }
    }
}

/// The setting that lets the model answer although no document fits.
fn answer_without_match() -> SettingsOverride {
    let mut settings = SettingsOverride::default();
    // The word is one of the setting's values.
    let _ = settings.set(Setting::AnswerWithoutMatch, "on");
    settings
}

/// Asks a turn again and opens the comparison. A refusal closes the popup, so that its reason is visible.
pub(super) fn ask_again(
    screen: &mut ScreenState,
    app: &App,
    key: TurnKey,
    other: Variation,
    at: OffsetDateTime,
) -> Vec<Intent> {
    screen.popup = None;
    let Some(turn) = app.turns().iter().position(|turn| turn.key == key) else { return vec![Intent::Redraw] };
    if app.may_ask() {
        screen.popup = Some(Popup::Comparison(Comparison::of(key, None)));
        screen.conversation.follow_last();
    }
    vec![Intent::App(Event::AgainWanted { turn, other, at }), Intent::Redraw]
}

/// The wheel over the menu.
pub(super) fn scroll_menu(menu: &mut CompareMenu, step: Step) {
    // Drawing limits the selection to the menu.
    menu.selected = step.from(menu.selected, 1, usize::MAX);
}
