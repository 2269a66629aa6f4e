//! The settings popup: of the open domain, of another domain, or for a variant of a turn.
//!
//! Takes keys, gives the changed settings to the app, which stores them and uses them for the next question. Settings
//! for a variant stay here until it is asked.
//! Invariants: an invalid value is refused with a line that names valid values; Esc closes the typed line first, then
//! the popup.
//! Not here: the settings (`config`), drawing (`view`).

pub(crate) mod messages;
mod view;

use crossterm::event::{KeyCode, KeyEvent};
use time::OffsetDateTime;
use tui_textarea::{CursorMove, TextArea};

use super::action::Action;
use super::chrome::Hint;
use super::compare;
use super::input::{Intent, step_of};
use super::lists::{self, Entry};
use super::long_text::{LongText, Taken};
use super::messages::Words;
use super::outline::Step;
use super::pane::Pane;
use super::popup::{Popup, finishes, type_into};
use super::screen::ScreenState;
use ragonite_app::{App, Event, Turn, TurnKey, Variation};
use ragonite_base::DomainName;
use ragonite_config::{Refused, Setting, SettingsOverride, Takes, Way};
use ragonite_history::TurnSettings;
use ragonite_inference::GeneratorChoice;

pub(super) use view::draw;

/// Settings per page.
const PAGE: usize = 8;

/// The settings popup.
#[derive(Debug, Clone, Default)]
pub(super) struct SettingsView {
    /// Index of the setting under the cursor.
    pub(super) selected: usize,
    /// The value that is typed.
    pub(super) typed: Option<TextArea<'static>>,
    /// Why the last value was refused.
    pub(super) refused: Option<Refused>,
    /// Scroll position and search.
    pub(super) text: LongText,
    /// The domain, where it is not the open one.
    of: Option<DomainName>,
    /// The turn of a variant, and its changed settings.
    again: Option<(TurnKey, SettingsOverride)>,
}

impl SettingsView {
    /// Settings for a variant of a turn.
    pub(super) fn again(turn: TurnKey) -> Self {
        Self { again: Some((turn, SettingsOverride::default())), ..Self::default() }
    }

    /// Settings of a domain that is not open.
    pub(super) fn of(domain: DomainName) -> Self {
        Self { of: Some(domain), ..Self::default() }
    }

    /// The domain that is not open.
    pub(super) fn other(&self) -> Option<&DomainName> {
        self.of.as_ref()
    }

    /// Whether they are for a variant.
    pub(super) fn is_again(&self) -> bool {
        self.again.is_some()
    }

    /// The turn of the variant.
    pub(super) fn turn<'a>(&self, app: &'a App) -> Option<&'a Turn> {
        self.again.as_ref().and_then(|(turn, _)| app.turn(*turn))
    }

    /// The settings for comparison: the configured ones, or those of the turn.
    pub(super) fn before(&self, app: &App) -> TurnSettings {
        if self.again.is_none() {
            return app.configured().clone();
        }
        let known = self.turn(app).and_then(|turn| app.settings_of(turn));
        known.unwrap_or_else(|| app.turn_settings())
    }

    /// Whether the overrides of the domain are being loaded.
    pub(super) fn is_loading(&self, app: &App) -> bool {
        self.of.as_ref().is_some_and(|domain| app.changes_of(domain).is_none())
    }

    /// The overrides.
    pub(super) fn changes(&self, app: &App) -> SettingsOverride {
        match (&self.again, &self.of) {
            (Some((_, changes)), _) => changes.clone(),
            (None, Some(domain)) => app.changes_of(domain).cloned().unwrap_or_default(),
            (None, None) => app.changes().clone(),
        }
    }

    /// The effective settings.
    pub(super) fn now(&self, app: &App) -> TurnSettings {
        self.changes(app).applied_to(&self.before(app))
    }

    /// The setting under the cursor.
    pub(super) fn setting(&self) -> Setting {
        Setting::ALL[self.selected.min(Setting::ALL.len() - 1)]
    }

    /// A click selects a setting; on the selected setting it opens its value.
    pub(super) fn click(&mut self, app: &App, at: usize) {
        if self.typed.is_none() && self.selected == at {
            let text = self.setting().text(&self.now(app));
            self.type_value(&text);
        } else if self.typed.is_none() {
            (self.selected, self.refused) = (at, None);
        }
    }

    pub(super) fn step(&mut self, step: Step) {
        if self.typed.is_none() {
            self.selected = step.from(self.selected, PAGE, Setting::ALL.len());
            self.refused = None;
        }
    }

    /// Takes the pending step to a setting whose name, key or description matches.
    pub(super) fn go_to_match(&mut self, words: Words) {
        let Some(find) = &mut self.text.find else { return };
        let says = |setting: &Setting| [words.label(*setting), setting.key(), words.what_setting(*setting)];
        let all = Setting::ALL.iter().enumerate();
        let matches: Vec<usize> =
            all.filter(|(_, setting)| says(setting).iter().any(|text| find.is_in(text))).map(|(at, _)| at).collect();
        if let Some(to) = find.step(&matches, self.selected) {
            (self.selected, self.refused) = (to, None);
        }
    }

    /// The keys for the hint line.
    pub(super) fn hints(&self, words: Words) -> Vec<Hint> {
        if self.typed.is_some() {
            return vec![(Action::Send, words.take_it()), (Action::Back, words.leave_as_it_was())];
        }
        let again = self.is_again().then_some((Action::Compare, words.ask_again_compare()));
        let keys = [
            (Action::Left, words.less_before()),
            (Action::Right, words.more_next()),
            (Action::Toggle, words.type_it()),
        ];
        let restored = if self.is_again() { words.as_it_was() } else { words.as_configured_hint() };
        let more = [(Action::Back, words.close()), (Action::Delete, restored)];
        let found = self.text.match_keys().chain([Action::Search]).map(|action| (action, words.hint(action)));
        again.into_iter().chain(keys).chain(more).chain(found).collect()
    }

    fn type_value(&mut self, text: &str) {
        let mut line = TextArea::new(vec![text.to_owned()]);
        line.move_cursor(CursorMove::End);
        self.typed = Some(line);
        self.refused = None;
    }

    fn typed_text(&self) -> Option<String> {
        self.typed.as_ref().map(|line| line.lines().join(" "))
    }
}

/// Opens the settings of the domain under the cursor; outside the lists, of the open domain.
pub(super) fn open(screen: &mut ScreenState, app: &App) -> Vec<Intent> {
    let selected = match lists::entry(app, screen.lists.selected) {
        Some(Entry::Domain(name)) if screen.focus == Pane::Lists => Some(name),
        _ => None,
    };
    let other = selected.filter(|name| app.domain().is_none_or(|open| open.name != *name));
    screen.popup = Some(Popup::Settings(Box::new(other.clone().map(SettingsView::of).unwrap_or_default())));
    let wanted = other.map(Event::OtherSettingsWanted).into_iter().chain([Event::ModelsWanted]);
    wanted.map(Intent::App).chain([Intent::Redraw]).collect()
}

/// A key while the settings are open.
pub(super) fn on_key(
    screen: &mut ScreenState,
    app: &App,
    key: KeyEvent,
    action: Option<Action>,
    now: OffsetDateTime,
) -> Vec<Intent> {
    let Some(Popup::Settings(view)) = &mut screen.popup else { return Vec::new() };
    if view.typed.is_some() {
        return typing(view, app, key, action);
    }
    if view.text.look_for(key, action) == Taken::Yes {
        return vec![Intent::Redraw];
    }
    let setting = view.setting();
    if view.is_loading(app) && !matches!(action, Some(Action::Back | Action::Settings)) {
        return vec![Intent::Redraw];
    }
    match (action, key.code) {
        (Some(Action::Back | Action::Settings), _) => screen.popup = None,
        (_, KeyCode::Char(digit @ '0'..='9')) if takes_digits(setting) => view.type_value(&digit.to_string()),
        (Some(Action::Left), _) => return step(view, app, Way::Back),
        (Some(Action::Right), _) => return step(view, app, Way::On),
        (Some(Action::Compare), _) if view.is_again() => {
            let Some((turn, changes)) = view.again.clone() else { return Vec::new() };
            return compare::ask_again(screen, app, turn, Variation::Settings(changes), now);
        }
        (Some(Action::Toggle), _) => view.type_value(&setting.text(&view.now(app))),
        (Some(Action::Delete), _) | (_, KeyCode::Backspace) => {
            view.refused = None;
            let restored = changed(view, app, |changes| {
                changes.restore(setting);
                Ok(())
            });
            return restored.unwrap_or_default();
        }
        (Some(action), _) => {
            if let Some(step) = step_of(action) {
                view.step(step);
            }
        }
        (None, _) => {}
    }
    vec![Intent::Redraw]
}

fn takes_digits(setting: Setting) -> bool {
    matches!(setting.takes(), Takes::Count(..) | Takes::Number(..))
}

/// A key while a value is typed.
fn typing(view: &mut SettingsView, app: &App, key: KeyEvent, action: Option<Action>) -> Vec<Intent> {
    match (action, key.code) {
        (Some(Action::Back), _) => {
            view.typed = None;
            view.refused = None;
        }
        _ if finishes(key, action) => {
            let text = view.typed_text().unwrap_or_default();
            return choose(view, app, &text);
        }
        _ => {
            if let Some(line) = &mut view.typed {
                type_into(line, key, action);
            }
        }
    }
    vec![Intent::Redraw]
}

fn step(view: &mut SettingsView, app: &App, way: Way) -> Vec<Intent> {
    let text = view.setting().stepped(&view.now(app), way, app.generators());
    choose(view, app, &text)
}

/// Sets the setting under the cursor, or refuses the value.
fn choose(view: &mut SettingsView, app: &App, text: &str) -> Vec<Intent> {
    let (setting, before) = (view.setting(), view.before(app));
    let is_known = |id: &str| app.generators().iter().any(|here| here == id);
    if let (Setting::Model, Ok(GeneratorChoice::Named(id))) = (setting, text.trim().parse())
        && !is_known(&id)
    {
        view.refused = Some(Refused { key: setting.key(), found: id, needed: setting.needed() });
        return vec![Intent::Redraw];
    }
    match changed(view, app, |changes| changes.choose(setting, text, &before)) {
        Ok(intents) => {
            (view.typed, view.refused) = (None, None);
            intents
        }
        Err(refused) => {
            view.refused = Some(refused);
            vec![Intent::Redraw]
        }
    }
}

fn changed(
    view: &mut SettingsView,
    app: &App,
    change: impl FnOnce(&mut SettingsOverride) -> Result<(), Refused>,
) -> Result<Vec<Intent>, Refused> {
    if let Some((_, changes)) = &mut view.again {
        return change(changes).map(|()| vec![Intent::Redraw]);
    }
    let mut changes = view.changes(app);
    change(&mut changes)?;
    if let Some(domain) = view.of.clone() {
        return Ok(vec![Intent::App(Event::OtherSettingsChanged { domain, changes }), Intent::Redraw]);
    }
    Ok(vec![Intent::App(Event::SettingsChanged(changes)), Intent::Redraw])
}
