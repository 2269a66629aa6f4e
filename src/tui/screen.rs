//! State of the screen: focus, positions, popup, and the state of each feature.
//!
//! Invariant: the state is lost at exit, and `app` needs none of it.
//! Not here: keys (`input`), drawing (`draw`), the state of one feature (its folder).

use std::collections::BTreeMap;

use time::OffsetDateTime;

use super::composer::Composer;
use super::conversation::Settled;
use super::conversation::citation::Chosen;
use super::evidence::EvidenceView;
use super::find::Find;
use super::glyphs::Signs;
use super::keymap::Keymap;
use super::layout::Arrangement;
use super::lists::{self, Arrival, Entry};
use super::messages::Words;
use super::mouse::Targets;
use super::new_domain::NewDomain;
use super::outline::{Outline, Scroll};
use super::outline_cache::Kept;
use super::pane::Pane;
use super::popup::Popup;
use super::steps::Section;
use super::theme::Theme;
use ragonite_app::{App, Event, Explaining, Phase, Purpose, Turn, TurnKey};
use ragonite_base::ConversationId;
use ragonite_config::{Background, Colours, Letters, TerminalTraits, ThemeName};
use ragonite_document::evidence::Kind;

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
            let is_it = |at: &usize| lists::entry(app, *at) == Some(Entry::Conversation(id));
            let Some(at) = (0..lists::entries(app)).find(is_it) else { return };
            // Another entry may have had this index before.
            (self.lists, self.listed) = (at, None);
        }
        self.open_listed = open;
    }

    /// Keeps the cursor of the lists on its entry when entries come and go, unless the user moved it.
    fn follow_entry(&mut self, app: &App) {
        let entries = lists::entries(app);
        if let Some((at, on)) = &self.listed
            && *at == self.lists
            && lists::entry(app, *at).as_ref() != Some(on)
        {
            let is_it = |entry: &Entry| match (entry, on) {
                // The cursor follows a restored conversation.
                (Entry::Conversation(id), Entry::Trashed(before)) => id == before,
                _ => entry == on,
            };
            let now = (0..entries).find(|at| lists::entry(app, *at).as_ref().is_some_and(is_it));
            self.lists = now.unwrap_or(self.lists);
        }
        self.lists = self.lists.min(entries.saturating_sub(1));
        // The cursor does not follow a deleted conversation, because the same key would purge it.
        let was_listed =
            self.listed.as_ref().is_some_and(|(at, on)| *at == self.lists && matches!(on, Entry::Conversation(_)));
        if was_listed
            && matches!(lists::entry(app, self.lists), Some(Entry::Trashed(_)))
            && let Some(before) = self.lists.checked_sub(1)
            && !matches!(lists::entry(app, before), Some(Entry::Trashed(_)))
        {
            self.lists = before;
        }
        self.listed = lists::entry(app, self.lists).map(|on| (self.lists, on));
    }
}
