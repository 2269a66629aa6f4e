//! The export popup: format, extent (turn or conversation) and target.
//!
//! Takes keys, gives the event or the copy. The default is the turn as Markdown to a file.
//! Not here: writing (`history`), copying (`workers`), drawing (`view`).

pub(crate) mod messages;
mod view;

use super::action::Action;
use super::chrome::Hint;
use super::input::{Intent, refused, step_of};
use super::lists;
use super::messages::Words;
use super::outline::Step;
use super::pane::Pane;
use super::popup::{Handled, Popup};
use super::screen::ScreenState;
use ragonite_app::{App, Copied, Event, Refusal, TurnKey};
use ragonite_history::{self, Format};

pub(super) use view::draw;

/// What is exported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Turn,
    Conversation,
}

impl What {
    pub(super) const ALL: [Self; 2] = [Self::Turn, Self::Conversation];
}

/// Target of the export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum To {
    File,
    Clipboard,
}

impl To {
    pub(super) const ALL: [Self; 2] = [Self::File, Self::Clipboard];
}

/// The formats in the order they are offered.
pub(super) const FORMATS: [Format; 3] = [Format::Markdown, Format::Html, Format::Json];

/// A line of the popup.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Row {
    Format,
    What,
    To,
}

impl Row {
    pub(super) const ALL: [Self; 3] = [Self::Format, Self::What, Self::To];
}

/// The choices of the popup.
#[derive(Debug, Clone)]
pub(super) struct ExportMenu {
    turn: TurnKey,
    pub(super) row: Row,
    pub(super) format: Format,
    pub(super) what: What,
    pub(super) to: To,
}

/// Opens the export popup; in the lists, writes the conversation under the cursor to a file.
pub(super) fn open(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    if screen.focus == Pane::Lists {
        let format = Format::Markdown;
        let wanted =
            lists::conversation(screen, app).map(|conversation| Event::StoredExportWanted { conversation, format });
        return wanted.map_or_else(|| refused(Refusal::NoConversation), |wanted| vec![Intent::App(wanted)]);
    }
    open_menu(screen, app)
}

/// Opens the choice for the selected turn.
fn open_menu(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    let Some(turn) = screen.turn(app).map(|turn| turn.key) else { return refused(Refusal::NothingToExport) };
    let menu = ExportMenu { turn, row: Row::Format, format: Format::Markdown, what: What::Turn, to: To::File };
    screen.popup = Some(Popup::Export(menu));
    vec![Intent::Redraw]
}

impl ExportMenu {
    /// A key while it is open.
    pub(super) fn on_key(&mut self, app: &App, action: Option<Action>) -> Handled {
        match action {
            Some(Action::Toggle) => {
                let wish = wish(self, app).map(|wish| vec![wish, Intent::Redraw]);
                return Handled::close_with(wish.unwrap_or_else(|| refused(Refusal::NothingToExport)));
            }
            Some(Action::Left) => self.turn_to(Step::Up),
            Some(Action::Right) => self.turn_to(Step::Down),
            Some(Action::Export) => return Handled::close([]),
            other => {
                if let Some(step) = other.and_then(step_of) {
                    self.row = moved(&Row::ALL, self.row, step);
                }
            }
        }
        Handled::stay([])
    }

    /// The keys for the hint line.
    pub(super) fn hints(words: Words) -> Vec<Hint> {
        let moves = [(Action::Down, words.next()), (Action::Right, words.more_next())];
        [(Action::Toggle, words.do_it())].into_iter().chain(moves).chain([(Action::Back, words.close())]).collect()
    }

    /// Takes the next or the previous choice of the row.
    fn turn_to(&mut self, step: Step) {
        match self.row {
            Row::Format => self.format = moved(&FORMATS, self.format, step),
            Row::What => self.what = moved(&What::ALL, self.what, step),
            Row::To => self.to = moved(&To::ALL, self.to, step),
        }
    }
}

fn moved<T: Copy + PartialEq>(all: &[T], now: T, step: Step) -> T {
    let at = all.iter().position(|one| *one == now).unwrap_or(0);
    all.get(step.from(at, all.len(), all.len())).copied().unwrap_or(now)
}

/// The intent; none where no finished turn is left to export.
fn wish(menu: &ExportMenu, app: &App) -> Option<Intent> {
    let turn = app.turns().iter().position(|turn| turn.key == menu.turn)?;
    let turn = (menu.what == What::Turn).then_some(turn);
    if menu.to == To::File {
        return Some(Intent::App(Event::ExportWanted { turn, format: menu.format }));
    }
    let (conversation, turns) = app.finished(turn)?;
    let text = ragonite_history::export(&conversation, &turns, menu.format).ok()?;
    let what = if turn.is_some() { Copied::Turn } else { Copied::Conversation };
    Some(Intent::Copy { what, text })
}
