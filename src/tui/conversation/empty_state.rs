//! The empty conversation: what is missing for a first answer, and how to get it.
//!
//! Invariant: the instructions fit 60x20, with folder paths of usual length.

use ratatui::text::Line;

use super::view::MARK;
use crate::action::{Action, Place};
use crate::messages::{Noun, Words};
use crate::screen::ScreenState;
use crate::text::{Indent, paragraphs};
use ragonite_app::{App, FetchSupport, MissingModels};
use ragonite_base::clean_line;

/// The lines, after an empty line.
pub(super) fn lines(app: &App, screen: &ScreenState, width: usize) -> Vec<Line<'static>> {
    let mut lines = vec![Line::default()];
    for line in text(app, screen).lines() {
        let lead = line.len() - line.trim_start().len();
        if line.is_empty() {
            lines.push(Line::default());
        } else {
            lines.extend(paragraphs(line.trim_start(), screen.theme.text, width, &Indent::of(MARK + lead)));
        }
    }
    lines
}

fn text(app: &App, screen: &ScreenState) -> String {
    let key = |action| screen.keymap.key(action, Place::Composer).unwrap_or_default();
    let words = screen.words;
    let help = words.all_keys(&key(Action::Help));
    if let Some(missing) = app.missing_models() {
        return format!("{} {help}", without_models(missing, words));
    }
    match (app.domain(), app.opening_domain(), app.domains()) {
        (_, Some(opening), _) => words.opening(opening.as_str()),
        (Some(domain), ..) => words.is_open(
            domain.name.as_str(),
            &words.counted(domain.documents, Noun::Document),
            &words.counted(domain.evidences, Noun::Evidence),
            &help,
        ),
        (None, None, None) => words.looking_for_domains().to_owned(),
        (None, None, Some([])) => match app.ingesting() {
            Some(running) => words.reading_documents(running.domain.as_str(), &help),
            None => words.no_domain_yet(&key(Action::NewDomain), &help),
        },
        (None, None, Some(domains)) => {
            let names: Vec<String> = domains.iter().map(|domain| domain.name.to_string()).collect();
            words.choose_domain(&key(Action::ShowLists), &names.join(", "), &help)
        }
    }
}

fn without_models(missing: &MissingModels, words: Words) -> String {
    let clean = |texts: &[String]| texts.iter().map(|text| clean_line(text)).collect::<Vec<_>>().join(", ");
    let profile = clean_line(&missing.profile);
    let first = missing.folders.first().map(|folder| clean_line(folder)).unwrap_or_default();
    let others = match missing.folders.len().saturating_sub(1) {
        0 => String::new(),
        more => words.more_folders(more),
    };
    let fetch = match missing.fetching {
        FetchSupport::BuiltIn => words.fetch_built_in(&profile),
        FetchSupport::None => words.fetch_by_make(&profile),
    };
    words.models_are_missing(&clean(&missing.models), &first, &others, &fetch)
}
