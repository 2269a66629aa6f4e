//! The form for a new domain: folder and name.
//!
//! Takes keys, gives the event that ingests the folder, or the reason against it. The form keeps its text for another
//! try.
//! Not here: drawing (`view`), checking the folder (`workers`, because it may take long).

pub(crate) mod messages;
mod view;

use crossterm::event::{KeyCode, KeyEvent};
use tui_textarea::{CursorMove, TextArea};

use super::action::Action;
use super::chrome::Hint;
use super::messages::Words;
use super::popup::{Handled, Popup, finishes, type_into};
use super::screen::ScreenState;
use ragonite_app::{App, Event};
use ragonite_base::{DomainName, DomainNameError, clean_line};

pub(super) use view::draw;

/// Longest proposed name, in characters.
const PROPOSED: usize = 32;

/// The form.
#[derive(Debug, Clone, Default)]
pub(super) struct NewDomain {
    pub(super) folder: TextArea<'static>,
    pub(super) name: TextArea<'static>,
    pub(super) at: Field,
    /// Whether the name is a proposal, which the first typed letter replaces.
    is_proposed: bool,
    /// Why the form was refused.
    pub(super) refused: Option<NotTaken>,
}

/// Why the form is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NotTaken {
    /// No path is typed.
    NoPath,
    /// The name is invalid.
    Name(DomainNameError),
    /// A domain of this name exists.
    Exists(DomainName),
    /// Another ingest is running.
    ReadingOthers,
}

/// The field with the cursor.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Field {
    /// The folder.
    #[default]
    Folder,
    /// The name.
    Name,
}

impl NewDomain {
    fn line(&mut self) -> &mut TextArea<'static> {
        match self.at {
            Field::Folder => &mut self.folder,
            Field::Name => &mut self.name,
        }
    }

    /// The keys for the hint line.
    pub(super) fn hints(words: Words) -> Vec<Hint> {
        vec![
            (Action::Send, words.next_make_it()),
            (Action::NextPane, words.other_line()),
            (Action::Back, words.close()),
        ]
    }

    /// Pastes a text as one line.
    pub(super) fn paste(&mut self, text: &str) {
        let text = clean_line(text);
        self.replace_proposed();
        self.line().insert_str(text);
        self.refused = None;
    }

    /// Clears a proposed name when typing begins.
    fn replace_proposed(&mut self) {
        if self.at == Field::Name && std::mem::take(&mut self.is_proposed) {
            self.name = TextArea::default();
        }
    }

    fn turn(&mut self) {
        self.at = match self.at {
            Field::Folder => Field::Name,
            Field::Name => Field::Folder,
        };
        if self.at == Field::Name && text_of(&self.name).is_empty() {
            self.name = TextArea::new(vec![proposed(&text_of(&self.folder))]);
            self.name.move_cursor(CursorMove::End);
            self.is_proposed = true;
        }
    }

    /// A key while the form is open; an event closes it.
    pub(super) fn on_key(&mut self, app: &App, key: KeyEvent, action: Option<Action>) -> Handled {
        let turns = matches!(key.code, KeyCode::Tab | KeyCode::BackTab | KeyCode::Up | KeyCode::Down)
            || matches!(action, Some(Action::NextPane | Action::PreviousPane));
        match (finishes(key, action), self.at) {
            _ if turns => self.turn(),
            (true, Field::Folder) => self.turn(),
            (true, Field::Name) => match self.taken(app) {
                Ok(wish) => return Handled::close([wish]),
                Err((at, why)) => (self.at, self.refused) = (at, Some(why)),
            },
            _ => {
                if matches!(key.code, KeyCode::Char(_)) && key.modifiers.is_empty() {
                    self.replace_proposed();
                }
                // An edited name is no proposal.
                self.is_proposed &= self.at == Field::Folder;
                if type_into(self.line(), key, action) {
                    self.refused = None;
                }
            }
        }
        Handled::stay([])
    }

    /// The event, or the refused field and the reason.
    fn taken(&self, app: &App) -> Result<Event, (Field, NotTaken)> {
        let (path, name) = (text_of(&self.folder), text_of(&self.name));
        if path.is_empty() {
            return Err((Field::Folder, NotTaken::NoPath));
        }
        let domain = DomainName::try_from(name).map_err(|error| (Field::Name, NotTaken::Name(error)))?;
        if app.domains().is_some_and(|known| known.iter().any(|known| known.name == domain)) {
            return Err((Field::Name, NotTaken::Exists(domain)));
        }
        if app.ingesting().is_some() {
            return Err((self.at, NotTaken::ReadingOthers));
        }
        Ok(Event::IngestWanted { domain, path })
    }
}

/// Opens the form with its last text.
pub(super) fn open(screen: &mut ScreenState) {
    let form = NewDomain { at: Field::Folder, refused: None, ..screen.new_domain.clone() };
    screen.popup = Some(Popup::NewDomain(Box::new(form)));
}

fn text_of(line: &TextArea<'_>) -> String {
    clean_line(&line.lines().join(" ")).trim().to_owned()
}

/// A name made of the last folder of a path.
fn proposed(path: &str) -> String {
    let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
    let mut name = String::new();
    for letter in last.to_lowercase().chars() {
        let fits = letter.is_ascii_lowercase() || letter.is_ascii_digit();
        match letter {
            letter if fits && name.len() < PROPOSED => name.push(letter),
            '-' | '_' | ' ' | '.' if !name.is_empty() && !name.ends_with('-') => name.push('-'),
            _ => {}
        }
    }
    name.trim_end_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_proposed_after_the_folder_and_can_be_taken() {
        let names = [
            ("/srv/Team Wiki 2025/", "team-wiki-2025"),
            ("~/notes.d", "notes-d"),
            ("docs", "docs"),
            ("/", ""),
            ("/x/\u{624b}\u{9806}", ""),
        ];
        for (path, name) in names {
            assert_eq!(proposed(path), name, "{path}");
            assert!(name.is_empty() || name.parse::<DomainName>().is_ok());
        }
    }
}
