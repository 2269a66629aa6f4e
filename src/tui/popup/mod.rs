//! Popups over the panes, and their keys.
//!
//! Takes keys, gives intents. Esc closes a popup and leaves running work alone; a comparison first cancels its turn.
//! Ctrl+C and Ctrl+Q work as everywhere; the help covers another popup and returns to it.
//! Invariant: while a popup takes text, keys that type a character are text.
//! Not here: drawing (`view`).

pub(crate) mod messages;
mod view;

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use time::OffsetDateTime;
use tui_textarea::TextArea;

use super::action::{Action, Place};
use super::compare::{self, CompareMenu, Comparison};
use super::context::{self, ContextView};
use super::document::{self, DocumentView};
use super::export::{self, ExportMenu};
use super::find::Find;
use super::help::{self, HelpView};
use super::input::{Intent, act, cancel, refused, step_of};
use super::messages::Words;
use super::new_domain::{self, NewDomain};
use super::outline::Step;
use super::pane::Pane;
use super::screen::ScreenState;
use super::settings::{self, SettingsView};
use ragonite_app::{App, ConversationChange, Event, Refusal, TurnKey};
use ragonite_base::{ConversationId, clean_line};
use ragonite_history::{Feedback, Rating, Reason};

pub(super) use view::{FOOTER, SearchRoom, draw, draw_search, draw_text, middle, room_for_search};

/// Longest paste into one line, in bytes; the usual limit of paths.
const LONGEST_PASTE: usize = 4096;

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
}

/// The command palette.
#[derive(Debug, Clone, Default)]
pub(super) struct Palette {
    pub(super) line: TextArea<'static>,
    pub(super) selected: usize,
}

impl Palette {
    /// The actions with all typed words, in the order of the help; where there are none, a fuzzy match: the letters
    /// of each word in order.
    pub(super) fn found(&self, texts: Words) -> Vec<Action> {
        let written = text_of(&self.line).to_lowercase();
        let words: Vec<&str> = written.split_whitespace().collect();
        let text = |action: &Action| format!("{} {}", action.name(), texts.label_of(*action)).to_lowercase();
        let all: Vec<(Action, String)> =
            Action::all().filter(|action| *action != Action::Palette).map(|action| (action, text(&action))).collect();
        let (whole, others): (Vec<_>, Vec<_>) =
            all.into_iter().partition(|(_, text)| words.iter().all(|word| text.contains(word)));
        let spread = || others.into_iter().filter(|(_, text)| words.iter().all(|word| has_letters(text, word)));
        let found = if whole.is_empty() { spread().collect() } else { whole };
        found.into_iter().map(|(action, _)| action).collect()
    }
}

/// Whether the letters of a word are a subsequence of the text.
fn has_letters(text: &str, word: &str) -> bool {
    let mut letters = text.chars();
    word.chars().all(|letter| letters.any(|other| other == letter))
}

/// Purpose of a prompt.
#[derive(Debug, Clone)]
pub(super) enum Asked {
    /// Search text for the pane.
    Text,
    /// Search words for the conversations of all domains.
    Words,
    /// New title of a conversation.
    Title(ConversationId),
    /// Note of a negative rating; may be empty.
    Note(TurnKey, Reason),
}

/// A prompt for a line of text.
#[derive(Debug, Clone)]
pub(super) struct Prompt {
    pub(super) asked: Asked,
    pub(super) line: TextArea<'static>,
}

impl Prompt {
    fn new(asked: Asked, text: &str) -> Self {
        let mut line = TextArea::new(vec![text.to_owned()]);
        line.move_cursor(tui_textarea::CursorMove::End);
        Self { asked, line }
    }
}

/// The reasons of a negative rating.
#[derive(Debug, Clone)]
pub(super) struct Reasons {
    turn: TurnKey,
    pub(super) selected: usize,
}

/// A confirmation of an irreversible change.
#[derive(Debug, Clone)]
pub(super) struct Confirm {
    /// Text of the question.
    pub(super) says: String,
    change: ConversationChange,
}

/// Opens the prompt for a new title.
pub(super) fn rename(screen: &mut ScreenState, id: ConversationId, title: &str) {
    screen.popup = Some(Popup::Prompt(Prompt::new(Asked::Title(id), &clean_line(title))));
}

/// Opens the search prompt.
pub(super) fn look_for(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    if screen.focus == Pane::Composer {
        screen.set_focus(Pane::Conversation);
    }
    let (asked, before) = if screen.focus == Pane::Lists {
        if app.domain().is_none() && app.domains().is_none_or(<[_]>::is_empty) {
            return refused(Refusal::NoDomain);
        }
        (Asked::Words, None)
    } else {
        (Asked::Text, screen.find.as_ref().map(|find| find.text.clone()))
    };
    screen.popup = Some(Popup::Prompt(Prompt::new(asked, &before.unwrap_or_default())));
    vec![Intent::Redraw]
}

/// Asks for the reason of a negative rating.
pub(super) fn ask_reason(screen: &mut ScreenState, turn: TurnKey) {
    screen.popup = Some(Popup::Reasons(Reasons { turn, selected: 0 }));
}

/// Asks for confirmation before a conversation is purged.
pub(super) fn confirm_purge(screen: &mut ScreenState, id: ConversationId, title: &str) {
    let says = screen.words.remove_conversation(&clean_line(title));
    screen.popup = Some(Popup::Confirm(Confirm { says, change: ConversationChange::Purge(id) }));
}

/// A key while a popup is open.
pub(super) fn on_key(
    screen: &mut ScreenState,
    app: &App,
    key: KeyEvent,
    action: Option<Action>,
    now: OffsetDateTime,
) -> Vec<Intent> {
    match action {
        Some(Action::Help) if !matches!(screen.popup, Some(Popup::Help(_))) => {
            screen.under_help = screen.popup.replace(Popup::Help(HelpView::default()));
        }
        Some(Action::Cancel) => return cancel(screen, app),
        Some(Action::Quit) => return vec![Intent::App(Event::QuitRequested)],
        _ if matches!(screen.popup, Some(Popup::Help(_))) => return help::on_key(screen, key, action),
        _ if matches!(screen.popup, Some(Popup::Settings(_))) => {
            return settings::on_key(screen, app, key, action, now);
        }
        _ if matches!(screen.popup, Some(Popup::Context(_))) => return context::on_key(screen, app, key, action),
        _ if matches!(screen.popup, Some(Popup::Document(_))) => return document::on_key(screen, app, key, action),
        // Esc closes the search line.
        _ if screen.popup.as_ref().is_some_and(Popup::is_searched) => return into(screen, app, key, action, now),
        Some(Action::Back) if is_being_answered(screen.popup.as_ref(), app) => {
            return vec![Intent::App(Event::CancelRequested)];
        }
        Some(Action::Back) => return leave(screen, app, now),
        other => return into(screen, app, key, other, now),
    }
    vec![Intent::Redraw]
}

/// Closes the popup. A chosen reason is kept without a note.
fn leave(screen: &mut ScreenState, app: &App, now: OffsetDateTime) -> Vec<Intent> {
    let rated = match screen.popup.take() {
        Some(Popup::Prompt(Prompt { asked: asked @ Asked::Note(..), .. })) => answer(&Prompt::new(asked, ""), app, now),
        _ => None,
    };
    rated.into_iter().map(Intent::App).chain([Intent::Redraw]).collect()
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
        Some(Popup::Reasons(reasons)) => {
            if let Some(reason) = Reason::ALL.get(row).copied() {
                screen.popup = Some(Popup::Prompt(Prompt::new(Asked::Note(reasons.turn, reason), "")));
            }
        }
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
    match popup {
        Popup::Palette(palette) => {
            if let Some(chosen) = in_palette(palette, key, action, screen.words) {
                screen.popup = None;
                return act(screen, app, chosen, now);
            }
        }
        Popup::Prompt(prompt) => {
            if finishes(key, action) {
                let wish = answer(prompt, app, now);
                if matches!(prompt.asked, Asked::Text) {
                    screen.find = Find::new(&text_of(&prompt.line));
                }
                screen.popup = None;
                return wish.into_iter().map(Intent::App).chain([Intent::Redraw]).collect();
            }
            type_into(&mut prompt.line, key, action);
        }
        Popup::Reasons(reasons) => {
            if let Some(reason) = in_reasons(reasons, key, action) {
                let turn = reasons.turn;
                screen.popup = Some(Popup::Prompt(Prompt::new(Asked::Note(turn, reason), "")));
            }
        }
        Popup::Confirm(confirm) => {
            let change = confirm.change.clone();
            let is_chord = key.modifiers.intersects(KeyModifiers::CONTROL | KeyModifiers::ALT);
            match key.code {
                _ if is_chord => {}
                KeyCode::Char(letter) if ['y', screen.words.yes()].contains(&letter.to_ascii_lowercase()) => {
                    screen.popup = None;
                    return vec![Intent::App(Event::ConversationChangeWanted(change))];
                }
                KeyCode::Char('n' | 'N') => screen.popup = None,
                _ => {}
            }
        }
        Popup::NewDomain(_) => {
            let wish = new_domain::on_key(screen, app, key, action);
            return wish.into_iter().map(Intent::App).chain([Intent::Redraw]).collect();
        }
        Popup::Export(_) => return export::on_key(screen, app, action),
        Popup::Compare(_) => return compare::in_menu(screen, app, key, action, now),
        Popup::Comparison(_) => return compare::in_comparison(screen, app, key, action),
        Popup::Help(_) | Popup::Settings(_) | Popup::Context(_) | Popup::Document(_) => {}
    }
    vec![Intent::Redraw]
}

/// Returns the chosen action.
fn in_palette(palette: &mut Palette, key: KeyEvent, action: Option<Action>, words: Words) -> Option<Action> {
    let found = palette.found(words);
    if finishes(key, action) {
        return found.get(palette.selected).copied();
    }
    let step = match (key.code, action) {
        (KeyCode::Up, _) => Some((Step::Up, 1)),
        (KeyCode::Down, _) => Some((Step::Down, 1)),
        (KeyCode::PageUp, _) | (_, Some(Action::PageUp)) => Some((Step::PageUp, 8)),
        (KeyCode::PageDown, _) | (_, Some(Action::PageDown)) => Some((Step::PageDown, 8)),
        _ => None,
    };
    match step {
        Some((step, page)) => palette.selected = step.from(palette.selected, page, found.len()),
        None if type_into(&mut palette.line, key, action) => palette.selected = 0,
        None => {}
    }
    None
}

/// Whether a key finishes a line of text: the send key or Enter.
pub(super) fn finishes(key: KeyEvent, action: Option<Action>) -> bool {
    action == Some(Action::Send) || key.code == KeyCode::Enter
}

/// Types into a single line; returns whether the text changed.
pub(super) fn type_into(line: &mut TextArea<'_>, key: KeyEvent, action: Option<Action>) -> bool {
    // The text field would delete the text before the cursor on Ctrl+J.
    action != Some(Action::Newline) && edit(line, key)
}

/// Edits with a key; returns whether the text changed. Ctrl+U deletes the text before the cursor, as in shells.
pub(super) fn edit(area: &mut TextArea<'_>, key: KeyEvent) -> bool {
    if key.code == KeyCode::Char('u') && key.modifiers == KeyModifiers::CONTROL {
        return area.delete_line_by_head();
    }
    area.input(key)
}

/// Returns the reason chosen by number or with Enter.
fn in_reasons(reasons: &mut Reasons, key: KeyEvent, action: Option<Action>) -> Option<Reason> {
    if let KeyCode::Char(digit @ '1'..='5') = key.code {
        return Reason::ALL.get(digit as usize - '1' as usize).copied();
    }
    if key.code == KeyCode::Enter {
        return Reason::ALL.get(reasons.selected).copied();
    }
    if let Some(step) = action.and_then(step_of) {
        reasons.selected = step.from(reasons.selected, Reason::ALL.len(), Reason::ALL.len());
    }
    None
}

/// The event of a finished prompt.
fn answer(prompt: &Prompt, app: &App, now: OffsetDateTime) -> Option<Event> {
    let text = text_of(&prompt.line);
    match prompt.asked {
        // An empty title changes nothing.
        Asked::Title(id) if !clean_line(&text).is_empty() => {
            Some(Event::ConversationChangeWanted(ConversationChange::Rename(id, text)))
        }
        Asked::Title(_) | Asked::Text => None,
        Asked::Words => Some(Event::ConversationsWanted(text)),
        Asked::Note(turn, reason) => {
            let note = clean_line(&text);
            let feedback = Feedback { rating: Rating::Down, reason: Some(reason), note, rated_at: now };
            // Another conversation may be open now.
            let turn = app.turns().iter().position(|known| known.key == turn);
            let rated = turn.map(|turn| Event::TurnRated { turn, feedback: Some(feedback) });
            Some(rated.unwrap_or(Event::Refused(Refusal::NothingToRate)))
        }
    }
}

fn text_of(line: &TextArea<'_>) -> String {
    line.lines().join(" ")
}
