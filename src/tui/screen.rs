//! State of the screen: focus, positions, popup, and the state of each feature.
//!
//! Invariant: the state is lost at exit, and `app` needs none of it.
//! Not here: keys (`input`), drawing (`draw`), the state of one feature (its folder).

use time::OffsetDateTime;

use super::attribution::AttributionView;
use super::composer::Composer;
use super::conversation::ConversationView;
use super::evidence::EvidenceView;
use super::find::Find;
use super::glyphs::Signs;
use super::keymap::Keymap;
use super::layout::Arrangement;
use super::lists::{Arrival, ListsView};
use super::messages::Words;
use super::mouse::Targets;
use super::new_domain::NewDomain;
use super::outline_cache::Kept;
use super::pane::Pane;
use super::popup::Popup;
use super::steps::{Section, StepsView};
use super::theme::Theme;
use ragonite_app::{App, Event, Phase, Turn, TurnKey};
use ragonite_config::{Background, Colours, Letters, TerminalTraits, ThemeName};

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
    pub(super) conversation: ConversationView,
    pub(super) evidence: EvidenceView,
    pub(super) steps: StepsView,
    pub(super) attribution: AttributionView,
    pub(super) lists: ListsView,
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
            conversation: ConversationView::default(),
            evidence: EvidenceView::default(),
            steps: StepsView::default(),
            attribution: AttributionView::default(),
            lists: ListsView::default(),
            composer: Composer::default(),
            asked: Vec::new(),
            columns: 1,
            arrangement: Arrangement::default(),
            targets: Targets::default(),
            find: None,
            arrival: None,
            leaving: false,
            stage: (Phase::Idle, OffsetDateTime::UNIX_EPOCH),
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
        self.forget_drawn();
        Some(*name)
    }

    /// The theme.
    pub fn theme(&self) -> Theme {
        self.theme
    }

    /// Sets the language.
    #[must_use]
    pub fn with_words(mut self, words: Words) -> Self {
        self.forget_drawn();
        Self { words, keymap: self.keymap.with_words(words), ..self }
    }

    /// Drops the cached lines, which have the previous theme and language.
    fn forget_drawn(&mut self) {
        self.conversation.settled.clear();
        (self.steps.kept, self.attribution.kept) = (Kept::default(), Kept::default());
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
        self.evidence.wants(app, self.turn(app)?)
    }

    /// Index of the selected turn.
    pub(super) fn turn_index(&self, app: &App) -> Option<usize> {
        let last = app.turns().len().checked_sub(1)?;
        Some(self.conversation.chosen.map_or(last, |chosen| chosen.min(last)))
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
            self.conversation.select(at, turns.len());
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
            self.conversation.restart();
        }
        self.arrive(app);
        let selected = self.turn(app).map(|turn| turn.key);
        if selected != self.shown.1 {
            self.evidence = EvidenceView::default();
            self.conversation.citation = None;
            self.steps.outline.rewind_to(Section::Rewrite);
            self.attribution.rewind();
        }
        self.shown = (first, selected);
        let turn = self.turn(app);
        self.attribution.sync(turn);
        self.evidence.sync(turn);
        self.lists.sync(app, self.focus);
    }
}
