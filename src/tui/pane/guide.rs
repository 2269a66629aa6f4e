//! What stands in the conversation while nothing has been asked: what is missing for a first answer, and how to get it.
//!
//! Invariant: what has to be done fits 60x20, where the folders have paths of usual length.

use ratatui::text::Line;

use super::conversation::MARK;
use crate::app::{App, Fetching, MissingModels};
use crate::base::clean_line;
use crate::tui::action::{Action, Place};
use crate::tui::screen::ScreenState;
use crate::tui::text::{Indent, counted, paragraphs};

/// The lines, an empty one first.
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
    let help = format!("{} shows all keys.", key(Action::Help));
    if let Some(missing) = app.missing_models() {
        return format!("{} {help}", without_models(missing));
    }
    match (app.domain(), app.opening_domain(), app.domains()) {
        (_, Some(opening), _) => format!("Opening {opening}…"),
        (Some(domain), ..) => format!(
            "{} is open: {}, {}.\n\nAsk in the box below. The answer comes from these documents only and names its \
             sources as [Source 1]. Then look at the evidence, behind the scenes, or ask why.\n\n{help}",
            domain.name,
            counted(domain.documents, "document"),
            counted(domain.evidences, "evidence"),
        ),
        (None, None, None) => "Looking for domains…".to_owned(),
        (None, None, Some([])) => match app.ingesting() {
            Some(running) => format!(
                "Reading the documents of {}…\n\nIt is opened as soon as all of them are read.\n\n{help}",
                running.domain
            ),
            None => format!(
                "There is no domain yet. A domain is a set of your documents that can be asked.\n\n\
                 Press {} to make one of a folder; or in a shell:\n   ragonite ingest --domain notes PATH\n\
                 To look around first, try the bundled documents:\n   ragonite demo\n\n\
                 It is opened here as soon as it has a document.\n\n{help}",
                key(Action::NewDomain)
            ),
        },
        (None, None, Some(domains)) => {
            let names: Vec<String> = domains.iter().map(|domain| domain.name.to_string()).collect();
            let lists = key(Action::ShowLists);
            format!(
                "Choose a domain to ask: press {lists}, select one, press Enter.\n\nThere are: {}\n\n{help}",
                names.join(", ")
            )
        }
    }
}

fn without_models(missing: &MissingModels) -> String {
    let clean = |texts: &[String]| texts.iter().map(|text| clean_line(text)).collect::<Vec<_>>().join(", ");
    let profile = clean_line(&missing.profile);
    let first = missing.folders.first().map(|folder| clean_line(folder)).unwrap_or_default();
    let others = match missing.folders.len().saturating_sub(1) {
        0 => String::new(),
        more => format!(" (and {more} more: ragonite models list)"),
    };
    let fetch = match missing.fetching {
        Fetching::BuiltIn => format!("Fetch them in another terminal:\n   ragonite models pull --profile {profile}"),
        Fetching::None => format!("Fetch them in another terminal, in a checkout:\n   make models PROFILE={profile}"),
    };
    format!(
        "Models are missing or not whole: {}\nLooked in {first}{others}\n\n{fetch}\n\
         Without a network: copy the folder of each model there.\n\nIt goes on here by itself.",
        clean(&missing.models)
    )
}
