//! The empty conversation.
//!
//! Invariant: the instructions fit 60x20 in both languages.

use super::texts;

texts! { GUIDE
    all_keys(key: &str) = "{key} shows all keys.", "{key} zeigt alle Tasten.";
    opening(domain: &str) = "Opening {domain}…", "{domain} wird geöffnet…";
    is_open(domain: &str, documents: &str, evidences: &str, help: &str) =
        "{domain} is open: {documents}, {evidences}.\n\nAsk in the box below. The answer comes from these documents only \
         and names its sources as [Source 1]. Then look at the evidence, behind the scenes, or ask why.\n\n{help}",
        "{domain} ist offen: {documents}, {evidences}.\n\nFrage unten eingeben. Die Antwort stammt nur aus diesen \
         Dokumenten und nennt ihre Quellen als [Source 1]. Danach zeigen Belege, Ablauf und Erklärung, woher sie \
         kommt.\n\n{help}";
    looking_for_domains = "Looking for domains…", "Domänen werden gesucht…";
    reading_documents(domain: &str, help: &str) =
        "Reading the documents of {domain}…\n\nIt is opened as soon as all of them are read.\n\n{help}",
        "Die Dokumente von {domain} werden eingelesen…\n\nSind alle gelesen, öffnet sich die Domäne.\n\n{help}";
    no_domain_yet(key: &str, help: &str) =
        "There is no domain yet. A domain is a set of your documents that can be asked.\n\n\
         Press {key} to make one of a folder; or in a shell:\n   ragonite ingest --domain notes PATH\n\
         To look around first, try the bundled documents:\n   ragonite demo\n\n\
         It is opened here as soon as it has a document.\n\n{help}",
        "Noch keine Domäne. Eine Domäne ist eine Sammlung von Dokumenten, die sich befragen lässt.\n\n\
         {key} legt eine aus einem Ordner an; in einer Shell:\n   ragonite ingest --domain notes PFAD\n\
         Zum Kennenlernen die mitgelieferten Dokumente:\n   ragonite demo\n\n\
         Mit dem ersten Dokument öffnet sie sich hier.\n\n{help}";
    choose_domain(lists: &str, names: &str, help: &str) =
        "Choose a domain to ask: press {lists}, select one, press Enter.\n\nThere are: {names}\n\n{help}",
        "Zum Fragen eine Domäne öffnen: {lists}, auswählen, Enter.\n\nVorhanden: {names}\n\n{help}";
    more_folders(more: usize) =
        " (and {more} more: ragonite models list)", " (+{more}: ragonite models list)";
    fetch_built_in(profile: &str) =
        "Fetch them in another terminal:\n   ragonite models pull --profile {profile}",
        "In einem anderen Terminal laden:\n   ragonite models pull --profile {profile}";
    fetch_by_make(profile: &str) =
        "Fetch them in another terminal, in a checkout:\n   make models PROFILE={profile}",
        "In einem anderen Terminal, im Quelltextordner, laden:\n   make models PROFILE={profile}";
    models_are_missing(models: &str, first: &str, others: &str, fetch: &str) =
        "Models are missing or not whole: {models}\nLooked in {first}{others}\n\n{fetch}\n\
         Without a network: copy the folder of each model there.\n\nIt goes on here by itself.",
        "Modelle fehlen oder sind unvollständig: {models}\nGesucht in {first}{others}\n\n{fetch}\n\
         Ohne Netz: den Ordner jedes Modells dorthin kopieren.\n\nDanach geht es hier von selbst weiter.";
}
