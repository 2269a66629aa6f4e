//! State of the screen: focus, positions, composer, popup.
//!
//! Invariant: the state is lost at exit, and `app` needs none of it.
//! Not here: keys (`input`), drawing (`draw`, `pane`).

use std::collections::BTreeMap;

use time::OffsetDateTime;
use tui_textarea::{TextArea, WrapMode};

use super::find::Find;
use super::glyphs::Signs;
use super::keymap::Keymap;
use super::layout::Arrangement;
use super::messages::Words;
use super::mouse::Targets;
use super::new_domain::NewDomain;
use super::outline::{Outline, Scroll};
use super::pane::{self, Entry, Kept, Measured, Section, Settled};
use super::popup::Popup;
use super::theme::Theme;
use ragonite_app::{App, Event, Explaining, Phase, Purpose, Refusal, Turn, TurnKey};
use ragonite_base::{ConversationId, clean_text};
use ragonite_config::{Background, Colours, Letters, TerminalTraits, ThemeName};
use ragonite_document::evidence::Kind;

/// A pane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pane {
    /// The question.
    Composer,
    /// Questions and answers.
    Conversation,
    /// The hits of the selected turn.
    Evidence,
    /// The trace of the selected turn.
    Behind,
    /// The attribution of the selected turn.
    Why,
    /// Domains and conversations.
    Lists,
}

impl Pane {
    /// All panes, in the order of Tab.
    pub(super) const ALL: [Self; 6] =
        [Self::Composer, Self::Conversation, Self::Evidence, Self::Behind, Self::Why, Self::Lists];
}

/// The chosen citation of the selected answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chosen {
    /// Index in reading order.
    pub(super) at: usize,
    way: Followed,
}

/// How far a citation was followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// It must be scrolled into view.
    New,
    /// It is in view and marked.
    Seen,
    /// Its source is shown.
    ToSource,
}

impl Chosen {
    /// The citation at an index, to be scrolled into view.
    pub(super) fn at(at: usize) -> Self {
        Self { at, way: Followed::New }
    }

    pub(super) fn is_new(self) -> bool {
        self.way == Followed::New
    }

    /// It has come into view.
    pub(super) fn seen(self) -> Self {
        Self { way: Followed::Seen, ..self }
    }

    /// Its source is shown.
    pub(super) fn followed(self) -> Self {
        Self { way: Followed::ToSource, ..self }
    }

    /// Whether there is a way back from its source.
    pub(super) fn is_followed(self) -> bool {
        self.way == Followed::ToSource
    }
}

/// State of the evidence pane: selected hit, folding, horizontal scroll of a table.
#[derive(Debug, Clone, Default)]
pub(super) struct EvidenceView {
    pub(super) selected: usize,
    pub(super) closed: bool,
    pub(super) left: usize,
    /// The table of the selected hit, measured.
    pub(super) table: Option<Measured>,
    pub(super) scroll: Scroll,
    /// Whether the selection must be scrolled into view.
    pub(super) reveal: bool,
}

/// The composer and its recall of earlier questions.
#[derive(Debug, Clone)]
pub(super) struct Composer {
    pub(super) area: TextArea<'static>,
    /// Index of the recalled question.
    pub(super) recalled: Option<usize>,
    /// The completed question that is edited.
    pub(super) editing: Option<Editing>,
}

/// Longest question that may be pasted, in bytes. Every frame wraps it again.
const MOST_BYTES: usize = 64 * 1024;

/// A completed question that is edited.
#[derive(Debug, Clone)]
pub(super) struct Editing {
    /// The turn of the question.
    turn: TurnKey,
    /// The draft that is restored afterwards.
    before: Vec<String>,
}

impl Default for Composer {
    fn default() -> Self {
        Self::with(&[])
    }
}

impl Composer {
    /// A composer with these lines and the cursor at their end.
    pub(super) fn with(lines: &[String]) -> Self {
        let mut area = TextArea::new(lines.to_vec());
        area.set_wrap_mode(WrapMode::WordOrGlyph);
        area.move_cursor(tui_textarea::CursorMove::Bottom);
        area.move_cursor(tui_textarea::CursorMove::End);
        Self { area, recalled: None, editing: None }
    }

    /// Edits a completed question and keeps the draft.
    pub(super) fn edit(&mut self, turn: TurnKey, lines: &[String]) {
        let before = self.editing.take().map_or_else(|| self.area.lines().to_vec(), |editing| editing.before);
        *self = Self { editing: Some(Editing { turn, before }), ..Self::with(lines) };
    }

    /// The turn whose completed question is edited here.
    pub(super) fn edited(&self) -> Option<TurnKey> {
        self.editing.as_ref().map(|editing| editing.turn)
    }

    /// Whether a completed question is edited here.
    pub(super) fn edits(&self) -> bool {
        self.editing.is_some()
    }

    /// Clears the text after sending or giving up; restores the draft.
    pub(super) fn clear(&mut self) {
        *self = Self::with(&self.editing.take().map(|editing| editing.before).unwrap_or_default());
    }

    /// Inserts text at the cursor. A recalled question becomes a new one.
    pub(super) fn insert(&mut self, text: &str) {
        self.area.insert_str(text);
        self.recalled = None;
    }

    /// Pastes a text, unless the question becomes too long.
    pub(super) fn paste(&mut self, text: &str) -> Result<(), Refusal> {
        let text = clean_text(&text.replace("\r\n", "\n").replace('\r', "\n"));
        if self.area.lines().iter().map(String::len).sum::<usize>() + text.len() > MOST_BYTES {
            return Err(Refusal::PasteTooLong);
        }
        self.insert(&text);
        Ok(())
    }

    pub(super) fn text(&self) -> String {
        self.area.lines().join("\n")
    }

    pub(super) fn is_empty(&self) -> bool {
        self.area.lines().iter().all(String::is_empty)
    }
}

/// State of the screen.
#[derive(Debug, Clone)]
pub struct ScreenState {
    pub(super) theme: Theme,
    /// Traits of the terminal, for switching themes.
    terminal: TerminalTraits,
    pub(super) signs: Signs,
    pub(super) words: Words,
    pub(super) keymap: Keymap,
    pub(super) focus: Pane,
    /// Content of the side pane.
    pub(super) side: Pane,
    pub(super) popup: Option<Popup>,
    /// The popup under the help.
    pub(super) under_help: Option<Popup>,
    /// Last text of the form for a new domain.
    pub(super) new_domain: NewDomain,
    /// The selected turn; none for the last turn.
    pub(super) chosen: Option<usize>,
    pub(super) conversation: Scroll,
    /// Whether the selected turn must be scrolled into view.
    pub(super) reveal_turn: bool,
    pub(super) evidence: EvidenceView,
    pub(super) citation: Option<Chosen>,
    pub(super) behind: Outline<Section>,
    pub(super) why: Outline<usize>,
    /// Cached lines of trace and attribution.
    pub(super) behind_kept: Kept<Section>,
    pub(super) why_kept: Kept<usize>,
    /// The selected sentence of the answer; none for the whole answer.
    pub(super) sentence: Option<usize>,
    pub(super) lists: usize,
    pub(super) lists_scroll: Scroll,
    /// Last cursor of the lists and its entry.
    listed: Option<(usize, Entry)>,
    /// The conversation that the cursor of the lists last followed.
    open_listed: Option<ConversationId>,
    pub(super) composer: Composer,
    /// Questions of this run in all conversations, the latest last.
    pub(super) asked: Vec<String>,
    /// Number of columns of the last frame.
    pub(super) columns: u16,
    /// Arrangement of the panes.
    pub(super) arrangement: Arrangement,
    /// Mouse targets of the last frame.
    pub(super) targets: Targets,
    /// The search in the panes.
    pub(super) find: Option<Find>,
    /// Target in a found conversation that is being opened.
    pub(super) arrival: Option<Arrival>,
    /// Whether Ctrl+C was pressed; a second one quits.
    pub(super) leaving: bool,
    /// Running phase and its start.
    pub(super) stage: (Phase, OffsetDateTime),
    /// Cached lines of finished turns.
    pub(super) settled: BTreeMap<TurnKey, Settled>,
    /// First and selected turn at the last sync.
    shown: (Option<TurnKey>, Option<TurnKey>),
}

/// Target in a conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Arrival {
    pub(super) conversation: ConversationId,
    /// Number of the turn, from 1; none where only the title matches.
    pub(super) turn: Option<u32>,
    /// The word that is marked.
    pub(super) word: String,
}

impl ScreenState {
    /// A screen with the focus on the composer.
    pub fn new(theme: Theme, keymap: Keymap) -> Self {
        Self {
            theme,
            signs: Signs::default(),
            words: Words::default(),
            keymap,
            focus: Pane::Composer,
            side: Pane::Evidence,
            popup: None,
            under_help: None,
            terminal: TerminalTraits {
                colours: Colours::Rgb,
                background: Background::Unknown,
                letters: Letters::Unicode,
            },
            new_domain: NewDomain::default(),
            chosen: None,
            conversation: Scroll::following(),
            reveal_turn: false,
            evidence: EvidenceView::default(),
            citation: None,
            behind: Outline::with_open(Section::OPEN_AT_FIRST),
            why: Outline::with_open([]),
            behind_kept: Kept::default(),
            why_kept: Kept::default(),
            sentence: None,
            lists: 0,
            lists_scroll: Scroll::default(),
            listed: None,
            open_listed: None,
            composer: Composer::default(),
            asked: Vec::new(),
            columns: 1,
            arrangement: Arrangement::default(),
            targets: Targets::default(),
            find: None,
            arrival: None,
            leaving: false,
            stage: (Phase::Idle, OffsetDateTime::UNIX_EPOCH),
            settled: BTreeMap::new(),
            shown: (None, None),
        }
    }

    /// Sets the glyphs.
    #[must_use]
    pub fn with_signs(self, signs: Signs) -> Self {
        Self { signs, ..self }
    }

    /// Sets the terminal, for switching themes.
    #[must_use]
    pub fn with_terminal(self, terminal: TerminalTraits) -> Self {
        Self { terminal, ..self }
    }

    /// Switches to the next theme that looks different and returns its name; none where there is none.
    pub(super) fn next_theme(&mut self) -> Option<ThemeName> {
        let themes = ThemeName::ALL.map(|name| (name, Theme::chosen(name, self.terminal)));
        let at = themes.iter().position(|(_, theme)| *theme == self.theme);
        let mut others = themes.iter().cycle().skip(at.map_or(0, |at| at + 1)).take(themes.len());
        let (name, next) = others.find(|(_, theme)| *theme != self.theme)?;
        self.theme = *next;
        // The caches have the colours of the previous theme.
        (self.behind_kept, self.why_kept) = (Kept::default(), Kept::default());
        self.settled.clear();
        Some(*name)
    }

    /// The theme.
    pub fn theme(&self) -> Theme {
        self.theme
    }

    /// Sets the language.
    #[must_use]
    pub fn with_words(self, words: Words) -> Self {
        // The caches have the previous language.
        let (behind_kept, why_kept, settled) = (Kept::default(), Kept::default(), BTreeMap::new());
        Self { words, keymap: self.keymap.with_words(words), settled, behind_kept, why_kept, ..self }
    }

    /// The texts of the language.
    pub fn words(&self) -> Words {
        self.words
    }

    /// The focused pane.
    pub fn focus(&self) -> Pane {
        self.focus
    }

    /// Moves the focus.
    pub fn set_focus(&mut self, pane: Pane) {
        if let Some(find) = self.find.as_mut().filter(|_| self.focus != pane) {
            // A pending step belongs to the pane that is left.
            find.leave();
        }
        self.focus = pane;
        let own_column = pane == Pane::Lists && self.columns > 2;
        if matches!(pane, Pane::Evidence | Pane::Behind | Pane::Why | Pane::Lists) && !own_column {
            self.side = pane;
        }
    }

    /// The event that requests missing data: the table of the selected hit. The loop calls this after every change;
    /// the app requests a table only once.
    pub fn wants(&self, app: &App) -> Option<Event> {
        let hit = self.turn(app)?.hits().get(self.evidence.selected)?;
        let has_table = matches!(hit.kind, Kind::Row | Kind::Table);
        (has_table && !self.evidence.closed && app.table(hit.evidence).is_none())
            .then_some(Event::TableWanted(hit.evidence))
    }

    /// Index of the selected turn.
    pub(super) fn turn_index(&self, app: &App) -> Option<usize> {
        let last = app.turns().len().checked_sub(1)?;
        Some(self.chosen.map_or(last, |chosen| chosen.min(last)))
    }

    /// The selected turn.
    pub(super) fn turn<'a>(&self, app: &'a App) -> Option<&'a Turn> {
        app.turns().get(self.turn_index(app)?)
    }

    /// Whether the focus is on a prefetched explanation that runs.
    pub(super) fn shows_ahead(&self, app: &App) -> bool {
        let shown = self.turn(app).map(|turn| turn.key);
        self.focus == Pane::Why && shown.is_some() && shown == app.prefetching()
    }

    /// Whether suggestions are being generated for the selected answer.
    pub(super) fn shows_suggesting(&self, app: &App) -> bool {
        let shown = self.turn(app).map(|turn| turn.key);
        shown.is_some() && shown == app.suggesting()
    }

    /// Goes to the match in a found conversation once it is open, and marks the word.
    fn arrive(&mut self, app: &App) {
        let is_open = |arrival: &mut Arrival| app.conversation().is_some_and(|open| open.id == arrival.conversation);
        let Some(arrival) = self.arrival.take_if(is_open) else { return };
        let turns = app.turns();
        if let Some(at) = turns.iter().position(|turn| Some(turn.record.number) == arrival.turn) {
            self.chosen = (at + 1 < turns.len()).then_some(at);
            self.conversation.follow = at + 1 == turns.len();
            self.reveal_turn = true;
        }
        self.find = Find::new(&arrival.word);
        if let Some(find) = self.find.as_mut().filter(|_| self.focus != Pane::Conversation) {
            find.leave();
        }
    }

    /// Adjusts the positions to the state of the app.
    pub(super) fn sync(&mut self, app: &App, now: OffsetDateTime) {
        if self.stage.0 != app.phase() {
            self.stage = (app.phase(), now);
        }
        let first = app.turns().first().map(|turn| turn.key);
        if first != self.shown.0 {
            self.chosen = None;
            self.conversation = Scroll::following();
            self.settled.clear();
        }
        self.arrive(app);
        let selected = self.turn(app).map(|turn| turn.key);
        if selected != self.shown.1 {
            self.evidence = EvidenceView::default();
            self.citation = None;
            self.behind.rewind_to(Section::Rewrite);
            self.why.rewind_to(0);
            self.sentence = None;
        }
        let is_wanted = |explaining: &Explaining| explaining.purpose == Purpose::Sentences;
        let sentences = self.turn(app).map_or(0, |turn| match &turn.explaining {
            Some(explaining) if is_wanted(explaining) => turn.sentences().len().max(1),
            _ => turn.sentences().len(),
        });
        self.sentence = self.sentence.filter(|at| *at < sentences);
        self.shown = (first, selected);
        let hits = self.turn(app).map_or(0, |turn| turn.hits().len());
        self.evidence.selected = self.evidence.selected.min(hits.saturating_sub(1));
        self.follow_open(app);
        self.follow_entry(app);
    }

    /// Moves the cursor of the lists to a conversation opened elsewhere, once it is listed.
    fn follow_open(&mut self, app: &App) {
        let open = app.conversation().map(|open| open.id);
        if open == self.open_listed {
            return;
        }
        // While the lists have the focus, the cursor stays.
        if let Some(id) = open.filter(|_| self.focus != Pane::Lists) {
            let is_it = |at: &usize| pane::entry(app, *at) == Some(Entry::Conversation(id));
            let Some(at) = (0..pane::entries(app)).find(is_it) else { return };
            // Another entry may have had this index before.
            (self.lists, self.listed) = (at, None);
        }
        self.open_listed = open;
    }

    /// Keeps the cursor of the lists on its entry when entries come and go, unless the user moved it.
    fn follow_entry(&mut self, app: &App) {
        let entries = pane::entries(app);
        if let Some((at, on)) = &self.listed
            && *at == self.lists
            && pane::entry(app, *at).as_ref() != Some(on)
        {
            let is_it = |entry: &Entry| match (entry, on) {
                // The cursor follows a restored conversation.
                (Entry::Conversation(id), Entry::Trashed(before)) => id == before,
                _ => entry == on,
            };
            let now = (0..entries).find(|at| pane::entry(app, *at).as_ref().is_some_and(is_it));
            self.lists = now.unwrap_or(self.lists);
        }
        self.lists = self.lists.min(entries.saturating_sub(1));
        // The cursor does not follow a deleted conversation, because the same key would purge it.
        let was_listed =
            self.listed.as_ref().is_some_and(|(at, on)| *at == self.lists && matches!(on, Entry::Conversation(_)));
        if was_listed
            && matches!(pane::entry(app, self.lists), Some(Entry::Trashed(_)))
            && let Some(before) = self.lists.checked_sub(1)
            && !matches!(pane::entry(app, before), Some(Entry::Trashed(_)))
        {
            self.lists = before;
        }
        self.listed = pane::entry(app, self.lists).map(|on| (self.lists, on));
    }
}
