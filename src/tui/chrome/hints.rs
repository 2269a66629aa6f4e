//! The hint line: the keys for the focus or the popup; a notice while there is one.
//!
//! Invariant: the help key is shown in every width.
//! Not here: the keys of one popup (its folder).

use ratatui::text::{Line, Span};

use crate::action::{Action, Place};
use crate::find::Find;
use crate::lists::{self, Entry};
use crate::messages::Words;
use crate::pane::Pane;
use crate::popup::Popup;
use crate::screen::ScreenState;
use crate::text::{fit, fit_middle, width};
use ragonite_app::{App, Turn};
use ragonite_base::clean_line;

/// A key by its action, and what it does here.
pub(crate) type Hint = (Action, &'static str);

/// The hints for the focus: keys and actions.
pub(crate) fn hint_line(app: &App, screen: &ScreenState, room: usize) -> Line<'static> {
    let theme = &screen.theme;
    let place = match &screen.popup {
        Some(popup) => crate::popup::place(popup),
        None if screen.focus == Pane::Composer => Place::Composer,
        None => Place::Panes,
    };
    if screen.leaving {
        let key = screen.keymap.key(Action::Cancel, place).unwrap_or_default();
        return Line::styled(screen.words.leaves(&key), theme.warn);
    }
    if let Some(notice) = app.notice() {
        let (sign, style) = if notice.is_failure() { ('!', theme.warn) } else { ('✓', theme.accent) };
        return Line::styled(fit_middle(&format!(" {sign} {}", clean_line(&screen.words.notice(notice))), room), style);
    }
    let mut spans = vec![Span::raw(" ")];
    let find = if let Some(popup) = &screen.popup {
        popup.looked_for()
    } else {
        let is_used = !matches!(screen.focus, Pane::Composer | Pane::Lists);
        screen.find.as_ref().filter(|find| is_used && find.says_something())
    };
    if let Some(find) = find {
        let (at, of) = find.at;
        let text = fit(&find.text, room / 3);
        spans.push(Span::styled(screen.words.found_of(&text, at, of), theme.strong));
    }
    let mut used: usize = spans.iter().map(Span::width).sum();
    let keyed = hints(app, screen).into_iter();
    let keyed: Vec<_> =
        keyed.filter_map(|(action, hint)| Some((action, screen.keymap.key(action, place)?, hint))).collect();
    let length = |(_, key, hint): &(Action, String, &str)| width(key) + 1 + width(hint) + 2;
    // The help key is shown in every width.
    let help = keyed.iter().find(|(action, ..)| *action == Action::Help);
    let mut reserved = help.map_or(0, length);
    for hint in &keyed {
        if hint.0 == Action::Help {
            reserved = 0;
        }
        let fits = used + length(hint) + reserved <= room;
        let Some((_, key, text)) = (if fits { Some(hint) } else { help.filter(|_| reserved > 0) }) else { break };
        used += length(hint);
        spans.push(Span::styled(key.clone(), theme.accent));
        spans.push(Span::styled(format!(" {text}  "), theme.dim));
        if !fits {
            break;
        }
    }
    Line::from(spans)
}

/// The keys that mean the same in every pane.
const EVERYWHERE: [Action; 7] = [
    Action::WriteQuestion,
    Action::NextPane,
    Action::Help,
    Action::Palette,
    Action::Search,
    Action::NewConversation,
    Action::Quit,
];

fn hints(app: &App, screen: &ScreenState) -> Vec<Hint> {
    let words = screen.words;
    let short = |action: Action| (action, words.hint(action));
    if let Some(popup) = &screen.popup {
        let help = (!matches!(popup, Popup::Help(_))).then_some(short(Action::Help));
        return popup.hints(app, words).into_iter().chain(help).collect();
    }
    let mut hints = running_hints(app, screen);
    if app.domain().is_none() && screen.focus != Pane::Lists {
        hints.push(short(Action::ShowLists));
    }
    if app.domain().is_none() && app.missing_models().is_none() && app.ingesting().is_none() {
        hints.push(short(Action::NewDomain));
    }
    let answered = screen.turn(app).is_some_and(Turn::is_answered);
    let explain = (answered && !app.is_busy()).then_some(short(Action::Explain));
    let edit = screen.turn(app).map(|_| short(Action::Edit));
    // Keys without effect are not offered.
    let moves = [(Action::Down, words.next()), (Action::Up, words.previous())];
    let moves = moves.into_iter().filter(|_| has_rows(app, screen));
    let open = has_rows(app, screen).then_some(short(Action::Toggle));
    hints.extend(citation_hints(screen));
    match screen.focus {
        Pane::Composer if screen.composer.edits() => {
            hints.extend([(Action::Send, words.ask_again()), (Action::Back, words.leave_it())]);
        }
        Pane::Composer => {
            hints.extend([Action::Send, Action::Newline].map(short));
            hints.extend(explain);
        }
        Pane::Conversation => {
            hints.extend(explain);
            hints.extend(edit);
            let of_answer = [Action::Copy, Action::Compare, Action::RateUp, Action::RateDown].map(short);
            hints.extend(of_answer.into_iter().filter(|_| answered));
            let cites = screen.turn(app).and_then(Turn::answer).filter(|answer| !answer.citations.is_empty());
            hints.extend(cites.filter(|_| screen.conversation.citation.is_none()).map(|_| short(Action::NextCitation)));
            let several = app.turns().len() > 1;
            hints.extend([Action::PreviousTurn, Action::NextTurn].map(short).into_iter().filter(|_| several));
            hints.extend(edit.map(|_| short(Action::PageUp)));
        }
        Pane::Evidence => {
            hints.extend(moves);
            hints.extend(open);
            let hit = screen.turn(app).and_then(|turn| turn.hits().get(screen.evidence.selected));
            let table = hit.and_then(|hit| app.table(hit.evidence)).flatten();
            hints.extend(open.into_iter().flat_map(|_| [Action::Context, Action::OpenDocument].map(short)));
            hints.extend(table.map(|_| (Action::Right, words.scroll_table())));
            hints.extend(open.map(|_| short(Action::PageDown)));
        }
        Pane::Behind => {
            hints.extend(moves);
            hints.extend(open);
            hints.extend(edit);
        }
        Pane::Lists => {
            hints.extend(app.ingesting().map(|_| short(Action::StopIngest)));
            hints.extend(app.found().map(|_| (Action::Back, words.all_conversations())));
            hints.extend(moves);
            hints.extend(entry_hints(lists::entry(app, screen.lists.selected).as_ref(), words));
        }
        Pane::Why => {
            hints.extend(moves);
            hints.extend(open);
            hints.extend(explain);
            hints.extend(
                explain.into_iter().flat_map(|_| [short(Action::ExplainByPreview), short(Action::ExplainBySimilarity)]),
            );
        }
    }
    hints.extend(EVERYWHERE.map(short));
    hints
}

/// The keys for running work, search and unsaved answers.
fn running_hints(app: &App, screen: &ScreenState) -> Vec<Hint> {
    let words = screen.words;
    let short = |action: Action| (action, words.hint(action));
    let mut hints = Vec::new();
    let is_filtered = screen.focus == Pane::Lists && app.found().is_some();
    if app.unsaved() > 0 {
        hints.push(short(Action::SaveAgain));
    }
    if app.opening_domain().is_some() && app.problem().is_none() && !is_filtered {
        hints.push((Action::Back, words.stop()));
    } else if app.is_busy_aside() {
        hints.push((Action::Cancel, words.stop()));
    } else if app.is_busy() && app.problem().is_none() && !is_filtered {
        hints.push((Action::Back, words.stop()));
    } else if screen.find.as_ref().is_some_and(Find::says_something) && screen.focus != Pane::Composer {
        hints.extend([short(Action::NextMatch), short(Action::PreviousMatch), (Action::Back, words.end())]);
    } else if screen.shows_ahead(app) {
        hints.push((Action::Back, words.stop()));
    }
    hints
}

/// The keys for a chosen citation, and back from its source.
fn citation_hints(screen: &ScreenState) -> Vec<Hint> {
    let words = screen.words;
    match (screen.focus, screen.conversation.citation) {
        (Pane::Conversation, Some(_)) => {
            let others = [Action::NextCitation, Action::PreviousCitation].map(|action| (action, words.hint(action)));
            let source = [(Action::Toggle, words.to_its_source())];
            source.into_iter().chain(others).chain([(Action::Back, words.end())]).collect()
        }
        (Pane::Evidence, Some(chosen)) if chosen.is_followed() => vec![(Action::Back, words.to_its_citation())],
        _ => Vec::new(),
    }
}

/// The keys for the entry under the cursor of the lists.
fn entry_hints(entry: Option<&Entry>, words: Words) -> Vec<Hint> {
    let short = |action: Action| (action, words.hint(action));
    match entry {
        Some(Entry::Conversation(_)) => [Action::Toggle, Action::Rename, Action::Pin, Action::Delete].map(short).into(),
        Some(Entry::Trashed(_)) => {
            vec![(Action::Toggle, words.restore()), (Action::Delete, words.remove_for_good())]
        }
        Some(Entry::Unlisted(_)) => vec![short(Action::Toggle)],
        Some(Entry::Domain(_)) => [Action::Toggle, Action::NewDomain, Action::RefreshDomain].map(short).into(),
        None => Vec::new(),
    }
}

/// Whether the pane with the focus has rows to move among and open.
fn has_rows(app: &App, screen: &ScreenState) -> bool {
    let turn = screen.turn(app);
    match screen.focus {
        Pane::Composer | Pane::Conversation => false,
        Pane::Evidence => turn.is_some_and(|turn| !turn.hits().is_empty()),
        Pane::Behind => turn.is_some(),
        Pane::Why => turn.is_some_and(|turn| turn.explaining.is_some() || turn.record.trace.attribution.is_some()),
        Pane::Lists => lists::entries(app) > 0,
    }
}
