//! Popups over the panes, and their keys.
//!
//! Takes keys, gives intents. Esc closes a popup and leaves running work alone; a comparison first cancels its turn.
//! Ctrl+C and Ctrl+Q work as everywhere; the help covers another popup and returns to it.
//! Invariant: while a popup takes text, keys that type a character are text.
//! Not here: drawing (`view`), the keys of one feature (its folder).

mod confirm;
mod line;
pub(crate) mod messages;
mod palette;
mod prompt;
mod view;

use crossterm::event::KeyEvent;
use time::OffsetDateTime;

use super::action::{Action, Place};
use super::chrome::Hint;
use super::compare::{self, CompareMenu, Comparison};
use super::context::{self, ContextView};
use super::document::DocumentView;
use super::export::ExportMenu;
use super::find::Find;
use super::help::HelpView;
use super::input::{Intent, act, cancel};
use super::messages::Words;
use super::new_domain::NewDomain;
use super::outline::Step;
use super::rating::Reasons;
use super::screen::ScreenState;
use super::settings::{self, SettingsView};
use ragonite_app::{App, Event, Refusal};
use ragonite_base::clean_line;
use ragonite_history::Reason;

pub(super) use confirm::Confirm;
pub(super) use line::{edit, finishes, type_into};
pub(super) use palette::Palette;
pub(super) use prompt::{Asked, Prompt};
pub(super) use view::{FOOTER, SearchRoom, draw, draw_search, draw_text, middle, room_for_search};

/// Longest paste into one line, in bytes; the usual limit of paths.
const LONGEST_PASTE: usize = 4096;

/// A popup, with its state.
#[derive(Debug, Clone)]
pub(super) enum Popup {
    /// All keys, and the guide.
    Help(HelpView),
    /// The command palette.
    Palette(Palette),
    /// A prompt for a line of text.
    Prompt(Prompt),
    /// The reasons of a negative rating.
    Reasons(Reasons),
    /// A confirmation of an irreversible change.
    Confirm(Confirm),
    /// The settings of the open domain.
    Settings(Box<SettingsView>),
    /// The menu of comparisons.
    Compare(CompareMenu),
    /// Two turns beside each other.
    Comparison(Comparison),
    /// A piece of evidence in its context.
    Context(ContextView),
    /// The whole document of a hit.
    Document(Box<DocumentView>),
    /// The export.
    Export(ExportMenu),
    /// The form for a new domain.
    NewDomain(Box<NewDomain>),
}

impl Popup {
    /// Whether its search text is being typed.
    pub(super) fn is_searched(&self) -> bool {
        match self {
            Self::Help(view) => view.text.typed.is_some(),
            Self::Comparison(view) => view.text.typed.is_some(),
            Self::Context(view) => view.text.typed.is_some(),
            Self::Document(view) => view.typed.is_some(),
            Self::Settings(view) => view.text.typed.is_some(),
            _ => false,
        }
    }

    /// Its search with a position among matches, once it is typed.
    pub(super) fn looked_for(&self) -> Option<&Find> {
        match self {
            Self::Help(view) => view.text.looked_for(),
            Self::Comparison(view) => view.text.looked_for(),
            Self::Context(view) => view.text.looked_for(),
            Self::Settings(view) => view.text.looked_for(),
            _ => None,
        }
    }

    /// The keys for the hint line.
    pub(super) fn hints(&self, app: &App, words: Words) -> Vec<Hint> {
        if self.is_searched() {
            return vec![(Action::Send, words.look_for_it()), (Action::Back, words.leave_it())];
        }
        match self {
            Self::Help(view) => view.hints(words),
            Self::Palette(_) => vec![(Action::Send, words.do_it()), (Action::Back, words.close())],
            Self::Prompt(Prompt { asked: Asked::Note(..), .. }) => {
                vec![(Action::Send, words.done()), (Action::Back, words.without_words())]
            }
            Self::Prompt(_) => vec![(Action::Send, words.done()), (Action::Back, words.leave_it())],
            Self::NewDomain(_) => NewDomain::hints(words),
            Self::Export(_) => ExportMenu::hints(words),
            Self::Reasons(_) => vec![(Action::Toggle, words.choose()), (Action::Back, words.leave_it())],
            Self::Confirm(_) => vec![(Action::Back, words.keep_it())],
            Self::Settings(view) => view.hints(words),
            Self::Compare(_) => CompareMenu::hints(words),
            Self::Comparison(view) => view.hints(app, words),
            Self::Context(view) => view.hints(app, words),
            Self::Document(view) => view.hints(app, words),
        }
    }

    /// Whether it takes Esc itself: to close a line of text, or to go back within it.
    fn takes_back(&self) -> bool {
        matches!(self, Self::Help(_) | Self::Settings(_) | Self::Context(_) | Self::Document(_)) || self.is_searched()
    }
}

/// What a popup made of a key or a click.
pub(super) struct Handled {
    intents: Vec<Intent>,
    next: Next,
}

/// What becomes of a popup.
enum Next {
    Stay,
    Close,
    Open(Box<Popup>),
}

impl Handled {
    /// The popup stays.
    pub(super) fn stay(events: impl IntoIterator<Item = Event>) -> Self {
        Self { intents: with_redraw(events), next: Next::Stay }
    }

    /// The popup closes.
    pub(super) fn close(events: impl IntoIterator<Item = Event>) -> Self {
        Self { intents: with_redraw(events), next: Next::Close }
    }

    /// The popup closes, with these intents only.
    pub(super) fn close_with(intents: Vec<Intent>) -> Self {
        Self { intents, next: Next::Close }
    }

    /// Another popup takes its place.
    pub(super) fn open(popup: Popup, events: impl IntoIterator<Item = Event>) -> Self {
        Self { intents: with_redraw(events), next: Next::Open(Box::new(popup)) }
    }

    /// Changes the popup of the screen. Under the help, the popup before it returns.
    fn apply(self, screen: &mut ScreenState) -> Vec<Intent> {
        match self.next {
            Next::Stay => {}
            Next::Close => screen.popup = screen.under_help.take(),
            Next::Open(popup) => screen.popup = Some(*popup),
        }
        self.intents
    }
}

/// The popup stays, with these intents only.
impl From<Vec<Intent>> for Handled {
    fn from(intents: Vec<Intent>) -> Self {
        Self { intents, next: Next::Stay }
    }
}

fn with_redraw(events: impl IntoIterator<Item = Event>) -> Vec<Intent> {
    events.into_iter().map(Intent::App).chain([Intent::Redraw]).collect()
}

/// A key while a popup is open.
pub(super) fn on_key(
    screen: &mut ScreenState,
    app: &App,
    key: KeyEvent,
    action: Option<Action>,
    now: OffsetDateTime,
) -> Vec<Intent> {
    let takes_back = screen.popup.as_ref().is_some_and(Popup::takes_back);
    match action {
        Some(Action::Help) if !matches!(screen.popup, Some(Popup::Help(_))) => {
            screen.under_help = screen.popup.replace(Popup::Help(HelpView::default()));
            vec![Intent::Redraw]
        }
        Some(Action::Cancel) => cancel(screen, app),
        Some(Action::Quit) => vec![Intent::App(Event::QuitRequested)],
        Some(Action::Back) if !takes_back => {
            if is_being_answered(screen.popup.as_ref(), app) {
                return vec![Intent::App(Event::CancelRequested)];
            }
            leave(screen, app, now)
        }
        action => into(screen, app, key, action, now),
    }
}

/// Closes the popup. A chosen reason is kept without a note.
fn leave(screen: &mut ScreenState, app: &App, now: OffsetDateTime) -> Vec<Intent> {
    let rated = match screen.popup.take() {
        Some(Popup::Prompt(Prompt { asked: asked @ Asked::Note(..), .. })) => Prompt::new(asked, "").answer(app, now),
        _ => None,
    };
    with_redraw(rated)
}

/// Whether the popup shows a running turn.
fn is_being_answered(popup: Option<&Popup>, app: &App) -> bool {
    matches!(popup, Some(Popup::Comparison(view)) if view.is_running(app))
}

/// Pastes a text as one line; an error where the popup takes no text or the text is too long.
pub(super) fn paste(popup: &mut Popup, text: &str) -> Result<(), Refusal> {
    let line = match popup {
        Popup::NewDomain(form) => {
            fits_a_line(text)?;
            form.paste(text);
            None
        }
        Popup::Palette(palette) => {
            palette.selected = 0;
            Some(&mut palette.line)
        }
        Popup::Prompt(prompt) => Some(&mut prompt.line),
        Popup::Settings(view) => view.text.typed.as_mut().or(view.typed.as_mut()),
        Popup::Document(view) => view.typed.as_mut(),
        Popup::Help(view) => view.text.typed.as_mut(),
        Popup::Comparison(view) => view.text.typed.as_mut(),
        Popup::Context(view) => view.text.typed.as_mut(),
        Popup::Reasons(_) | Popup::Confirm(_) | Popup::Compare(_) | Popup::Export(_) => None,
    };
    if let Some(line) = line {
        fits_a_line(text)?;
        line.insert_str(clean_line(text));
    }
    Ok(())
}

fn fits_a_line(text: &str) -> Result<(), Refusal> {
    if text.len() > LONGEST_PASTE { Err(Refusal::LineTooLong) } else { Ok(()) }
}

/// The place in which keys are looked up while the popup is open.
pub(super) fn place(popup: &Popup) -> Place {
    match popup {
        Popup::Palette(_) | Popup::Prompt(_) | Popup::NewDomain(_) => Place::Composer,
        Popup::Settings(view) if view.typed.is_some() => Place::Composer,
        _ if popup.is_searched() => Place::Composer,
        Popup::Help(_)
        | Popup::Reasons(_)
        | Popup::Confirm(_)
        | Popup::Settings(_)
        | Popup::Compare(_)
        | Popup::Comparison(_)
        | Popup::Context(_)
        | Popup::Export(_)
        | Popup::Document(_) => Place::Panes,
    }
}

/// The wheel while a popup is open.
pub(super) fn scroll(popup: &mut Popup, step: Step, words: Words) {
    match popup {
        Popup::Help(view) => view.text.step(step),
        Popup::Context(view) => view.text.step(step),
        Popup::Compare(menu) => compare::scroll_menu(menu, step),
        Popup::Comparison(view) => view.text.step(step),
        Popup::Document(view) => view.step(step),
        Popup::Settings(view) => view.step(step),
        Popup::Palette(palette) => palette.selected = step.from(palette.selected, 1, palette.found(words).len()),
        Popup::Reasons(reasons) => reasons.selected = step.from(reasons.selected, 1, Reason::ALL.len()),
        _ => {}
    }
}

/// A click on a row of the popup; same as Enter.
pub(super) fn click(screen: &mut ScreenState, app: &App, row: usize, now: OffsetDateTime) -> Vec<Intent> {
    match &mut screen.popup {
        Some(Popup::Palette(palette)) => {
            if let Some(chosen) = palette.found(screen.words).get(row).copied() {
                screen.popup = None;
                return act(screen, app, chosen, now);
            }
        }
        Some(Popup::Reasons(reasons)) => return reasons.choose(row).apply(screen),
        Some(Popup::Settings(view)) => view.click(app, row),
        Some(Popup::Compare(_)) => return compare::click(screen, app, row, now),
        _ => {}
    }
    vec![Intent::Redraw]
}

fn into(
    screen: &mut ScreenState,
    app: &App,
    key: KeyEvent,
    action: Option<Action>,
    now: OffsetDateTime,
) -> Vec<Intent> {
    let Some(popup) = &mut screen.popup else { return Vec::new() };
    let handled = match popup {
        Popup::Palette(palette) => {
            if let Some(chosen) = palette.on_key(key, action, screen.words) {
                screen.popup = None;
                return act(screen, app, chosen, now);
            }
            Handled::stay([])
        }
        Popup::Prompt(prompt) if finishes(key, action) => {
            if matches!(prompt.asked, Asked::Text) {
                screen.find = Find::new(&prompt.text());
            }
            Handled::close(prompt.answer(app, now))
        }
        Popup::Prompt(prompt) => {
            type_into(&mut prompt.line, key, action);
            Handled::stay([])
        }
        Popup::Reasons(reasons) => reasons.on_key(key, action),
        Popup::Confirm(confirm) => confirm.on_key(key, screen.words),
        Popup::Help(view) => view.on_key(key, action),
        Popup::Document(view) => view.on_key(app, key, action),
        Popup::Export(menu) => menu.on_key(app, action),
        Popup::Comparison(view) => view.on_key(app, key, action, &screen.theme, screen.words),
        Popup::NewDomain(form) => {
            let handled = form.on_key(app, key, action);
            if matches!(handled.next, Next::Close) {
                screen.new_domain = (**form).clone();
            }
            handled
        }
        Popup::Settings(_) => return settings::on_key(screen, app, key, action, now),
        Popup::Context(_) => return context::on_key(screen, app, key, action),
        Popup::Compare(_) => return compare::in_menu(screen, app, key, action, now),
    };
    handled.apply(screen)
}
