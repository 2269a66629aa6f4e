//! Both languages say everything, say it differently, and fit where it stands.

use std::collections::BTreeSet;

use time::macros::datetime;

use super::{Noun, Words, actions, panes};
use crate::action::Action;
use crate::context::{ContextPart, PARTS};
use crate::keymap::Keymap;
use crate::new_domain::{Field, NotTaken};
use crate::settings::messages::LABEL;
use crate::text::width;
use ragonite_app::{Copied, CopyWay, FetchSupport, Notice, Refusal};
use ragonite_base::{DomainName, Language, Millis};
use ragonite_config::{Group, Setting};
use ragonite_document::evidence::Kind;
use ragonite_eval::ExportedCase;
use ragonite_history::{Feedback, Rating, Reason};
use ragonite_index::{IngestReport, Skipped};
use ragonite_rag::answer::{Support, SupportVerdict};
use ragonite_rag::attribution::Provenance;
use ragonite_rag::retrieval::{SubQueryRole, WeightReason};

const ENGLISH: Words = Words(Language::English);
const GERMAN: Words = Words(Language::German);

/// Texts that are the same in both languages: names, and what is made of figures and other texts only.
const SAME: [&str; 8] =
    ["alt", "offline", "name", "folded", "step_prompt", "prompt_sizes", "cut_row", "clusters_and_time"];

fn declared() -> impl Iterator<Item = &'static (&'static str, &'static str, &'static str)> {
    let tables = [
        actions::KEYS,
        panes::PANES,
        crate::attribution::messages::ATTRIBUTION,
        crate::chrome::messages::CHROME,
        crate::chrome::notices::NOTICES,
        crate::compare::messages::COMPARE,
        crate::composer::messages::COMPOSER,
        crate::context::messages::CONTEXT,
        crate::conversation::messages::CONVERSATION,
        crate::document::messages::DOCUMENT,
        crate::evidence::messages::EVIDENCE,
        crate::export::messages::EXPORT,
        crate::find::messages::FIND,
        crate::help::messages::HELP,
        crate::lists::messages::LISTS,
        crate::new_domain::messages::NEW_DOMAIN,
        crate::popup::messages::POPUP,
        crate::rating::messages::RATING,
        crate::settings::messages::SETTINGS,
        crate::steps::messages::STEPS,
    ];
    tables.into_iter().flatten()
}

fn domain() -> DomainName {
    "notes".parse().unwrap()
}

fn refusals() -> Vec<Refusal> {
    vec![
        Refusal::TurnRuns,
        Refusal::AnotherRuns,
        Refusal::WorkRuns,
        Refusal::OpeningBeforeAsking,
        Refusal::Opening,
        Refusal::NoDomain,
        Refusal::NothingToExplain,
        Refusal::OtherModel,
        Refusal::OtherAnswer,
        Refusal::NothingToCompare,
        Refusal::NothingToRate,
        Refusal::BeingAnswered,
        Refusal::NothingToExport,
        Refusal::NothingToCopy,
        Refusal::NothingAsked,
        Refusal::NothingSuggested,
        Refusal::StillSuggesting,
        Refusal::NoEvidence,
        Refusal::NoConversation,
        Refusal::PasteTooLong,
        Refusal::LineTooLong,
        Refusal::NothingToBranch,
        Refusal::NothingToCheck,
        Refusal::SettingsOfNoDomain,
        Refusal::DomainOpening,
        Refusal::OtherDomain(domain()),
        Refusal::StillReading,
        Refusal::Unsaved(1),
        Refusal::Unsaved(2),
        Refusal::NoModels(FetchSupport::BuiltIn),
        Refusal::NoModels(FetchSupport::None),
    ]
}

#[test]
fn no_german_text_is_the_english_one_but_names() {
    let same: Vec<&str> = declared().filter(|(_, english, german)| english == german).map(|(name, ..)| *name).collect();
    assert_eq!(same.iter().copied().collect::<BTreeSet<_>>(), BTreeSet::from(SAME));
    for action in Action::all() {
        assert_ne!(ENGLISH.label_of(action), GERMAN.label_of(action), "{}", action.name());
        assert_ne!(ENGLISH.hint(action), GERMAN.hint(action), "{}", action.name());
    }
    for setting in Setting::ALL.iter().copied() {
        let is_symbol = setting == Setting::Eps;
        assert_eq!(ENGLISH.label(setting) == GERMAN.label(setting), is_symbol, "{}", setting.key());
        assert_ne!(ENGLISH.what_setting(setting), GERMAN.what_setting(setting), "{}", setting.key());
        assert_ne!(ENGLISH.needed(setting), GERMAN.needed(setting), "{}", setting.key());
    }
    for refusal in refusals() {
        let (english, german) = (ENGLISH.refusal(&refusal), GERMAN.refusal(&refusal));
        assert!(english.what != german.what && english.next != german.next, "{refusal:?}");
    }
    for noun in Noun::ALL {
        assert_ne!(ENGLISH.counted(2, noun), GERMAN.counted(2, noun), "{noun:?}");
    }
}

/// What stands in the braces of a text.
fn braces(text: &str) -> BTreeSet<&str> {
    text.split('{').skip(1).filter_map(|rest| rest.split('}').next()).collect()
}

#[test]
fn both_languages_say_the_same_of_what_they_are_given() {
    for (name, english, german) in declared() {
        assert_eq!(braces(english), braces(german), "{name}");
        let ends = |text: &str| (text.starts_with(' '), text.ends_with(' '), text.ends_with('…'), text.contains('\n'));
        assert_eq!(ends(english), ends(german), "{name}");
        let sign = |text: &str| text.chars().find(|c| "!∅■✗↔▌*".contains(*c));
        assert_eq!(sign(english), sign(german), "{name}: a sign tells what a colour does");
    }
}

/// Cells of the help for what an action does, on a terminal of 80.
fn help_column(words: Words) -> usize {
    let keymap = Keymap::default().with_words(words);
    let widest = Action::all().map(|action| width(&keymap.keys(action))).max().unwrap();
    // A frame, a space before the keys, two behind them, one before the frame.
    80 - 2 - 3 - widest - 1
}

#[test]
fn no_german_description_of_a_key_is_longer_than_the_column_of_the_help() {
    let room = help_column(GERMAN);
    for action in Action::all() {
        let says = GERMAN.label_of(action);
        assert!(width(says) <= room, "{} of {room}: {says}", width(says));
    }
    assert!(width(GERMAN.characters_are_text()) < 58);
}

#[test]
fn no_german_text_is_wider_than_its_column() {
    let fits = |text: &str, most: usize| assert!(width(text) <= most, "{} of {most}: {text}", width(text));
    for setting in Setting::ALL.iter().copied() {
        fits(GERMAN.label(setting), LABEL);
        fits(GERMAN.what_setting(setting), 55);
    }
    for group in [Group::Retriever, Group::Generator, Group::Attribution] {
        fits(GERMAN.group_column(group), 11);
    }
    for role in [SubQueryRole::Raw, SubQueryRole::Rewrite, SubQueryRole::Translation, SubQueryRole::History] {
        fits(GERMAN.role(role), 12);
    }
    let reasons = [
        WeightReason::Only,
        WeightReason::Sure,
        WeightReason::Unsure,
        WeightReason::SameTopic,
        WeightReason::OtherTopic,
    ];
    for reason in reasons {
        fits(GERMAN.weight_reason(reason), 18);
    }
    for kind in Kind::ALL {
        fits(GERMAN.kind(kind), 7);
    }
    for (.., part) in PARTS {
        // ` 1 [x] ` before it, and a space behind it.
        fits(GERMAN.part(part), 16 - 7 - 1);
    }
    fits(GERMAN.the_evidence(), 15);
    for field in [Field::Folder, Field::Name] {
        fits(GERMAN.field(field), 8);
    }
    let costs = [
        GERMAN.cost_rewrite(),
        GERMAN.cost_translate(),
        GERMAN.cost_retrieve(),
        GERMAN.cost_first_token(),
        GERMAN.cost_answer(),
        GERMAN.cost_explain(),
        GERMAN.cost_total(),
        GERMAN.cost_profile(),
        GERMAN.cost_embedder(),
        GERMAN.cost_generator(),
    ];
    for cost in costs {
        fits(cost, 11);
    }
    // The figures below are right-aligned under the same cells.
    assert_eq!(width(GERMAN.ranks_title()), width(ENGLISH.ranks_title()));
    assert_eq!(width(GERMAN.ranks_title_reranked()), width(ENGLISH.ranks_title_reranked()));
    // Titles and placeholders on a terminal of 60 cells.
    for title in [GERMAN.in_your_words(), GERMAN.look_for_words(), GERMAN.ask_on(), &GERMAN.write_on("Esc")] {
        fits(title, 56);
    }
    fits(GERMAN.needs_new_ingest(), 55);
    fits(GERMAN.for_this_question(), 55);
    // How a source moved, with a space behind it.
    let places = [
        GERMAN.place_same(),
        &GERMAN.place_now(20),
        GERMAN.place_left_out(),
        GERMAN.place_gone(),
        GERMAN.place_first(),
        GERMAN.place_new(),
        &GERMAN.moved_down(20),
    ];
    for place in places {
        fits(place, 10);
    }
    let tabs: usize = crate::Pane::ALL.iter().skip(1).map(|pane| width(GERMAN.tab(*pane)) + 3).sum();
    assert!(tabs <= 60, "{tabs} cells of tabs");
}

#[test]
fn figures_have_the_signs_of_the_language() {
    assert_eq!((ENGLISH.thousands(1_234_567), GERMAN.thousands(1_234_567)), ("1,234,567".into(), "1.234.567".into()));
    assert_eq!((ENGLISH.decimal(0.5, 3), GERMAN.decimal(0.5, 3)), ("0.500".into(), "0,500".into()));
    assert_eq!(GERMAN.number("-2.50"), "-2,50");
    assert_eq!((GERMAN.duration(Millis(850.0)), GERMAN.duration(Millis(1234.0))), ("850 ms".into(), "1,2 s".into()));
    let day = datetime!(2025-01-31 10:00 UTC);
    assert_eq!((ENGLISH.day(day), GERMAN.day(day)), ("01-31".into(), "31.01.".into()));
    let date = |words: Words| words.date("2025-01-31T10:00:00Z");
    assert_eq!((date(ENGLISH), date(GERMAN)), (Some("2025-01-31".into()), Some("31.01.2025".into())));
    assert_eq!(GERMAN.date(""), None);
}

#[test]
fn one_is_told_from_several() {
    assert_eq!(
        (ENGLISH.counted(1, Noun::Source), ENGLISH.counted(0, Noun::Source)),
        ("1 source".into(), "0 sources".into())
    );
    assert_eq!(
        (GERMAN.counted(1, Noun::Sentence), GERMAN.counted(1200, Noun::Token)),
        ("1 Satz".into(), "1.200 Token".into())
    );
    assert_eq!((GERMAN.sources(&[3]), GERMAN.sources(&[1, 3])), ("Quelle 3".into(), "Quellen 1, 3".into()));
    assert_eq!(GERMAN.matters(&[2]), "Ergebnis: Quelle 2 ist ausschlaggebend.");
    assert_eq!(GERMAN.matters(&[1, 3]), "Ergebnis: Quellen 1, 3 sind ausschlaggebend.");
    let supported = Support {
        verdict: SupportVerdict::Partly,
        missing: vec!["Felix Adler".into()],
        miscited: Vec::new(),
        said_by_uncited: vec![1, 3],
        uncited_date: None,
        invalid_citations: vec![8, 9],
        older_versions: vec![2],
        cites_none: false,
        words_unchecked: false,
        same_without_sources: true,
    };
    assert_eq!(
        ENGLISH.support(&supported),
        "! partly supported: in no source: Felix Adler; said by Sources 1, 3, which it does not cite; Sources 8, 9 were not \
         given to it; Source 2 is an older version; the model answers the same without any source"
    );
    assert_eq!(
        GERMAN.support(&supported),
        "! teilweise gestützt: in keiner Quelle: Felix Adler; das sagen Quellen 1, 3, die sie nicht nennt; Quellen 8, 9 \
         lagen ihr nicht vor; Quelle 2 ist eine ältere Fassung; ohne jede Quelle antwortet das Modell ebenso"
    );
}

#[test]
fn what_was_done_is_said_in_both_languages() {
    let report = IngestReport { domain: "notes".parse().unwrap(), documents: 3, added: 2, ..IngestReport::default() };
    let skipped = ["/docs/a.bin", "/docs/b/scan.pdf", "/docs/c.exe"]
        .map(|path| Skipped { path: path.into(), reason: "it is in no known format".into() });
    let with_skipped = IngestReport { skipped: skipped.to_vec(), ..report.clone() };
    let check = ExportedCase {
        file: "questions.toml".into(),
        id: "modem".into(),
        page: "wiki/a.html".into(),
        also_cited: vec!["wiki/b.html".into()],
        questions: 4,
    };
    let rated = Feedback {
        rating: Rating::Down,
        reason: Some(Reason::OutOfDate),
        note: "from 2023".into(),
        rated_at: datetime!(2025-01-31 10:00 UTC),
    };
    let said = [
        (Notice::Read(Box::new(report)), "notes: 3 documents, 2 new", "notes: 3 Dokumente, 2 neu"),
        (
            Notice::Read(Box::new(with_skipped)),
            "notes: 3 documents, 2 new, 3 not read (a.bin, scan.pdf, …)",
            "notes: 3 Dokumente, 2 neu, 3 nicht lesbar (a.bin, scan.pdf, …)",
        ),
        (Notice::Rated(Some(rated)), "rated down, out of date: from 2023", "bewertet: schlecht, veraltet: from 2023"),
        (Notice::Rated(None), "rating taken back", "Bewertung zurückgenommen"),
        (
            Notice::StoppedReading(domain()),
            "stopped; what was stored of notes stays",
            "beendet; was von notes gespeichert ist, bleibt",
        ),
        (Notice::MovedToTrash, "moved to the trash", "in den Papierkorb verschoben"),
        (Notice::Restored, "taken out of the trash", "aus dem Papierkorb geholt"),
        (Notice::Purged, "removed for good", "endgültig entfernt"),
        (Notice::AllStored, "everything is stored", "alles ist gespeichert"),
        (Notice::Wrote("a.md".into()), "wrote a.md", "a.md geschrieben"),
        (
            Notice::Copied(Copied::Answer, CopyWay::Terminal),
            "gave the answer to the terminal to copy (OSC 52)",
            "Antwort dem Terminal zum Kopieren gegeben (OSC 52)",
        ),
        (
            Notice::Copied(Copied::Step, CopyWay::Tool("pbcopy")),
            "copied the step with pbcopy",
            "Schritt kopiert mit pbcopy",
        ),
        (
            Notice::Copied(Copied::Turn, CopyWay::Tool("wl-copy")),
            "copied the turn with wl-copy",
            "Frage mit Antwort kopiert mit wl-copy",
        ),
        (
            Notice::WroteCheck(Box::new(check)),
            "wrote to questions.toml: question 4, `modem`; it expects wiki/a.html (also cited: wiki/b.html)",
            "in questions.toml geschrieben: Prüffrage 4, `modem`; erwartet wiki/a.html (auch zitiert: wiki/b.html)",
        ),
    ];
    for (notice, english, german) in said {
        assert_eq!((ENGLISH.notice(&notice).as_str(), GERMAN.notice(&notice).as_str()), (english, german));
    }
}

#[test]
fn what_is_refused_says_in_german_what_would_do_with_the_words_of_the_configuration() {
    let mut settings = ragonite_history::TurnSettings::default();
    let refused = Setting::Temperature.write(&mut settings, "0,5").unwrap_err();
    let said = "generation.temperature kann nicht `0,5` sein: Zahl von 0 bis 2, mit Punkt, etwa 0.5";
    assert_eq!(GERMAN.refused(&refused), said);
    assert_eq!(ENGLISH.refused(&refused), refused.to_string());
    let refused = Setting::Kinds.write(&mut settings, "chunk").unwrap_err();
    assert!(
        GERMAN.refused(&refused).contains("all, passage, list, table oder row, auch mehrere mit Komma"),
        "{}",
        GERMAN.refused(&refused)
    );
    let error = DomainName::try_from("A b".to_owned()).unwrap_err();
    assert!(GERMAN.not_taken(&NotTaken::Name(error)).starts_with("Kein Domänenname"));
}

#[test]
fn keys_are_called_as_on_the_keyboard_and_written_as_in_the_configuration() {
    let german = |keys: &str| keys.parse::<crate::Chord>().unwrap().shown(GERMAN);
    let named = [
        ("Ctrl+N", "Strg+N"),
        ("Shift+Tab", "Umsch+Tab"),
        ("Alt+Left", "Alt+Links"),
        ("PgDn", "Bild↓"),
        ("Delete", "Entf"),
        ("F1", "F1"),
        ("?", "?"),
    ];
    for (written, shown) in named {
        assert_eq!(german(written), shown);
        assert_eq!(written.parse::<crate::Chord>().unwrap().to_string(), written);
    }
}

#[test]
fn the_parts_of_a_context_have_names_of_their_own() {
    let parts = [ContextPart::Title, ContextPart::Heading, ContextPart::Before, ContextPart::After];
    for words in [ENGLISH, GERMAN] {
        assert_eq!(parts.map(|part| words.part(part)).iter().collect::<BTreeSet<_>>().len(), parts.len());
    }
    assert_eq!(GERMAN.how(Provenance::Regenerated), "neu erzeugt");
}

#[test]
fn what_computes_is_said_in_the_language_of_the_screen() {
    let german = Words::of(Language::German);
    assert_eq!(german.device("CPU, 2 threads, AVX-512"), "CPU, 2 Threads, AVX-512");
    assert_eq!(
        german.device("20 of 29 layers on NVIDIA H100, CPU, 1 thread"),
        "20 von 29 Schichten auf NVIDIA H100, CPU, 1 Thread"
    );
    assert_eq!(
        Words::default().device("20 of 29 layers on NVIDIA H100, CPU, 1 thread"),
        "20 of 29 layers on NVIDIA H100, CPU, 1 thread"
    );
}
