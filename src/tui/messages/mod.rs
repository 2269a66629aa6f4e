//! Texts of the screen in English and German: the languages, and the texts that belong to no feature.
//!
//! Takes typed messages; gives texts. Every text stands in both languages side by side or in an exhaustive `match`, so
//! that a missing translation does not compile.
//! Invariants: no text is looked up by a text; decimals have the separator of the language; settings, configuration
//! keys and their numbers are the same in both languages.
//! Not here: texts of one feature (`messages` in its folder); errors of other crates, which are English; text of
//! documents and models; choice of the language (`config`).

mod actions;
mod numbers;
mod panes;
#[cfg(test)]
mod tests;

use time::OffsetDateTime;

use ragonite_base::Language;

/// The texts of the screen in one language.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Words(Language);

/// Declares texts, English first: a `&'static str`, or a `String` where the text has placeholders.
macro_rules! texts {
    ($table:ident $($name:ident $(($($given:ident: $kind:ty),+))? = $english:literal, $german:literal;)+) => {
        impl $crate::messages::Words {
            $($crate::messages::texts! { @one $name $(($($given: $kind),+))? = $english, $german })+
        }

        /// The declared texts for tests: name, English, German.
        #[cfg(test)]
        pub(crate) const $table: &[(&str, &str, &str)] = &[$((stringify!($name), $english, $german)),+];
    };
    (@one $name:ident = $english:literal, $german:literal) => {
        pub(crate) fn $name(self) -> &'static str {
            match self.language() {
                ragonite_base::Language::English => $english,
                ragonite_base::Language::German => $german,
            }
        }
    };
    (@one $name:ident ($($given:ident: $kind:ty),+) = $english:literal, $german:literal) => {
        pub(crate) fn $name(self, $($given: $kind),+) -> String {
            match self.language() {
                ragonite_base::Language::English => format!($english),
                ragonite_base::Language::German => format!($german),
            }
        }
    };
}

pub(crate) use texts;

/// Something that is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noun {
    Cluster,
    Document,
    Evidence,
    File,
    Hit,
    Row,
    Sentence,
    Source,
    Thread,
    Token,
}

impl Noun {
    #[cfg(test)]
    const ALL: [Self; 10] = [
        Self::Cluster,
        Self::Document,
        Self::Evidence,
        Self::File,
        Self::Hit,
        Self::Row,
        Self::Sentence,
        Self::Source,
        Self::Thread,
        Self::Token,
    ];

    /// Singular and plural.
    fn forms(self, language: Language) -> (&'static str, &'static str) {
        match (self, language) {
            (Self::Cluster, Language::English) => ("cluster", "clusters"),
            (Self::Cluster, Language::German) => ("Cluster", "Cluster"),
            (Self::Document, Language::English) => ("document", "documents"),
            (Self::Document, Language::German) => ("Dokument", "Dokumente"),
            (Self::Evidence, Language::English) => ("evidence", "evidences"),
            (Self::Evidence, Language::German) => ("Beleg", "Belege"),
            (Self::File, Language::English) => ("file", "files"),
            (Self::File, Language::German) => ("Datei", "Dateien"),
            (Self::Hit, Language::English) => ("hit", "hits"),
            (Self::Hit, Language::German) => ("Treffer", "Treffer"),
            (Self::Row, Language::English) => ("row", "rows"),
            (Self::Row, Language::German) => ("Zeile", "Zeilen"),
            (Self::Sentence, Language::English) => ("sentence", "sentences"),
            (Self::Sentence, Language::German) => ("Satz", "Sätze"),
            (Self::Source, Language::English) => ("source", "sources"),
            (Self::Source, Language::German) => ("Quelle", "Quellen"),
            (Self::Thread, Language::English) => ("thread", "threads"),
            (Self::Thread, Language::German) => ("Thread", "Threads"),
            (Self::Token, Language::English) => ("token", "tokens"),
            (Self::Token, Language::German) => ("Token", "Token"),
        }
    }
}

impl Words {
    /// The texts of a language.
    pub fn of(language: Language) -> Self {
        Self(language)
    }

    pub(crate) fn language(self) -> Language {
        self.0
    }

    /// `Source 1`, `Sources 1, 3`.
    pub(super) fn sources(self, ranks: &[usize]) -> String {
        let numbers: Vec<String> = ranks.iter().map(usize::to_string).collect();
        let name = match (self.0, ranks.len()) {
            (Language::English, 1) => "Source",
            (Language::English, _) => "Sources",
            (Language::German, 1) => "Quelle",
            (Language::German, _) => "Quellen",
        };
        format!("{name} {}", numbers.join(", "))
    }

    /// A day of this year: `01-31`, in German `31.01.`
    pub(super) fn day(self, at: OffsetDateTime) -> String {
        let (month, day) = (u8::from(at.month()), at.day());
        match self.0 {
            Language::English => format!("{month:02}-{day:02}"),
            Language::German => format!("{day:02}.{month:02}."),
        }
    }

    /// The day of a time in RFC 3339: `2025-01-31`, in German `31.01.2025`; none where it is no such time.
    pub(super) fn date(self, time: &str) -> Option<String> {
        let date = time.get(..10)?;
        match (self.0, date.split('-').collect::<Vec<_>>().as_slice()) {
            (Language::German, [year, month, day]) => Some(format!("{day}.{month}.{year}")),
            _ => Some(date.to_owned()),
        }
    }
}
