//! The help popup: the list of keys, followed by the pages of the guide.
//!
//! Tab and Right go to the next page, Shift+Tab and Left to the previous page. A search goes on in the following
//! pages where the current page has no match.
//! Not here: search in one page (`long_text`), the pages (`ragonite-guide`), drawing (`view`).

pub(crate) mod messages;
mod view;

use crossterm::event::KeyEvent;
use ragonite_guide::{Page, pages};

use super::action::Action;
use super::chrome::Hint;
use super::input::step_of;
use super::long_text::{LongText, Taken};
use super::messages::Words;
use super::popup::Handled;

pub(super) use view::draw;

/// The help popup.
#[derive(Debug, Clone, Default)]
pub(super) struct HelpView {
    /// The page of the guide, by its index; none for the list of keys.
    page: Option<usize>,
    /// Scroll position and search.
    pub(super) text: LongText,
}

impl HelpView {
    /// The page of the guide that is shown; none for the list of keys.
    pub(super) fn page(&self) -> Option<Page> {
        self.page.and_then(|at| pages().get(at).copied())
    }

    /// The number of the page that is shown, from 1. The list of keys is page 1.
    pub(super) fn page_number(&self) -> usize {
        self.page.map_or(1, |at| at + 2)
    }

    /// Pages of the guide, and the list of keys.
    pub(super) fn page_count() -> usize {
        pages().len() + 1
    }

    fn go_to(&mut self, page: Option<usize>) {
        self.page = page;
        self.text.scroll = super::outline::Scroll::default();
        if let Some(find) = &mut self.text.find {
            find.line = None;
        }
    }

    fn next(&mut self) {
        let next = self.page.map_or(0, |at| at + 1);
        self.go_to((next < pages().len()).then_some(next));
    }

    fn previous(&mut self) {
        let last = pages().len().checked_sub(1);
        self.go_to(self.page.map_or(last, |at| at.checked_sub(1)));
    }

    /// Goes to the next page with a match where the current page has none.
    fn follow_search(&mut self) {
        let Some(find) = self.text.looked_for() else { return };
        let wanted = find.text.to_lowercase();
        let has = |page: &Page| page.readable().to_lowercase().contains(&wanted);
        if self.page().is_none_or(|page| has(&page)) {
            return;
        }
        let (from, all) = (self.page.map_or(0, |at| at + 1), pages());
        let found = (from..all.len()).chain(0..from).find(|at| all.get(*at).is_some_and(has));
        if found.is_some() {
            self.go_to(found);
        }
    }

    /// The keys for the hint line.
    pub(super) fn hints(&self, words: Words) -> Vec<Hint> {
        let all = self.text.match_keys().chain([Action::Search, Action::PageDown, Action::PageUp]);
        let pages = [(Action::Back, words.close()), (Action::NextPane, words.next_page())];
        pages.into_iter().chain(all.map(|action| (action, words.hint(action)))).collect()
    }

    /// A key while the help is open.
    pub(super) fn on_key(&mut self, key: KeyEvent, action: Option<Action>) -> Handled {
        if action == Some(Action::Help) {
            return Handled::close([]);
        }
        if self.text.look_for(key, action) == Taken::Yes {
            self.follow_search();
            return Handled::stay([]);
        }
        match action {
            Some(Action::Back) => return Handled::close([]),
            Some(Action::NextPane | Action::Right) => self.next(),
            Some(Action::PreviousPane | Action::Left) => self.previous(),
            action => {
                if let Some(step) = action.and_then(step_of) {
                    self.text.step(step);
                }
            }
        }
        Handled::stay([])
    }
}
