//! Texts of the lists: domains, conversations and the trash.

use crate::messages::{Words, texts};
use ragonite_app::Phase;

texts! { LISTS
    domains_and_conversations = "Domains and conversations", "Domänen und Gespräche";
    no_domain_listed(running: &str) = "{running}\n\nNo domain yet.", "{running}\n\nNoch keine Domäne.";
    make_a_domain(key: &str) =
        "No domain yet.\n\n{key} makes one of a folder; or in another terminal:\nragonite ingest --domain notes PATH",
        "Noch keine Domäne.\n\n{key} legt eine aus einem Ordner an; oder in einem anderen Terminal:\n\
         ragonite ingest --domain notes PFAD";
    conversations = "Conversations", "Gespräche";
    none_yet = "  none yet", "  noch keine";
    being_answered = "answering…", "antwortet…";
    being_explained = "explaining…", "erklärt…";
    not_stored_yet = "! not stored", "! nicht gespeichert";
    pinned = "pinned", "angeheftet";
    trash = "Trash", "Papierkorb";
    opening_short = "opening…", "öffnet…";
    conversations_with(text: &str) = "Conversations with “{text}”", "Gespräche mit „{text}“";
    none_has_all_words = "  none has all of these words", "  keines enthält alle diese Wörter";
    only_the_latest(count: usize) =
        "  the latest {count}; more words narrow it down", "  die letzten {count}; mehr Wörter grenzen ein";
    in_more_turns(count: usize) = "… and {count} more turns", "… und {count} weitere Fragen";
    in_the_trash = "in the trash", "im Papierkorb";
    other_embedder = "! other embedder", "! anderer Embedder";
    damaged = "! damaged", "! beschädigt";
    cannot_be_opened = "! cannot be opened", "! nicht zu öffnen";
    needs_ingest = "! needs ingest", "! neu einlesen";
    being_read = "being read…", "wird eingelesen…";
    never_read = "never read to the end", "nie zu Ende eingelesen";
    last_read(day: &str) = "last read {day}", "eingelesen am {day}";

    title_of_conversation = "Title of the conversation", "Titel des Gesprächs";
    remove_conversation(title: &str) =
        "Remove “{title}” for good? It cannot be brought back.",
        "„{title}“ endgültig löschen? Das lässt sich nicht rückgängig machen.";
    all_conversations = "all conversations", "alle Gespräche";
    restore = "restore", "zurückholen";
    remove_for_good = "remove for good", "endgültig löschen";
}

impl Words {
    /// The phase of a conversation.
    pub(crate) fn runs(self, phase: Phase) -> &'static str {
        match phase {
            Phase::Explaining(_) => self.being_explained(),
            Phase::Idle | Phase::Rewriting(_) | Phase::Retrieving(_) | Phase::Answering(_) => self.being_answered(),
        }
    }
}
