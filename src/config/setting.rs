//! The settings that a domain may override: names, values, reading and writing.
//!
//! Takes and gives [`TurnSettings`], one value at a time as text.
//! Invariants: all of them are read for each question, so no change needs reindexing; a refused value changes nothing;
//! the order is that of the screen.
//! Not here: storing (`overrides_file`), the configured values (`file`).

use std::iter;

use super::setting_value::Value;
use ragonite_history::TurnSettings;
use ragonite_inference::GeneratorChoice;

/// Group of settings on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Search.
    Retriever,
    /// Answer.
    Generator,
    /// Attribution.
    Attribution,
}

/// Valid values of a setting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Takes {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// Some words of the first list, comma-separated; the second list has the offered ones.
    SomeOf(&'static [&'static str], &'static [&'static str]),
    /// A whole number: least, greatest, step.
    Count(u32, u32, u32),
    /// A number: least, greatest, step.
    Number(f64, f64, f64),
    /// The word for the profile's generator, or the id of another generator.
    Generator,
}

/// Direction of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// To the next choice or a larger number.
    On,
    /// To the previous choice or a smaller number.
    Back,
}

/// A setting with different values in two turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SettingChange {
    /// The setting.
    pub setting: Setting,
    /// Value in the first turn, as text.
    pub from: String,
    /// Value in the second turn, as text.
    pub to: String,
}

/// An invalid value of a setting.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{key} cannot be `{found}`: {needed}")]
pub struct Refused {
    /// Key of the setting.
    pub key: &'static str,
    /// The refused value.
    pub found: String,
    /// Description of valid values.
    pub needed: String,
}

macro_rules! settings {
    ($($setting:ident $group:ident $key:literal $label:literal $($field:ident).+ $takes:expr, $says:literal;)*) => {
        /// A setting that a domain may override.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Setting {
            $(#[doc = $says] $setting,)*
        }

        impl Setting {
            /// All settings, by group.
            pub const ALL: &[Self] = &[$(Self::$setting),*];

            /// Key in the configuration.
            pub fn key(self) -> &'static str {
                match self { $(Self::$setting => $key,)* }
            }

            /// Name on the screen.
            pub fn label(self) -> &'static str {
                match self { $(Self::$setting => $label,)* }
            }

            /// Description in a line.
            pub fn description(self) -> &'static str {
                match self { $(Self::$setting => $says,)* }
            }

            /// Group on the screen.
            pub fn group(self) -> Group {
                match self { $(Self::$setting => Group::$group,)* }
            }

            /// Valid values.
            pub fn takes(self) -> Takes {
                match self { $(Self::$setting => $takes,)* }
            }

            /// Value as text.
            pub fn text(self, of: &TurnSettings) -> String {
                match self { $(Self::$setting => of.$($field).+.text(),)* }
            }

            fn assign(self, to: &mut TurnSettings, text: &str) -> Option<()> {
                match self { $(Self::$setting => to.$($field).+ = Value::read(text)?,)* }
                Some(())
            }
        }
    };
}

const SWITCH: Takes = Takes::OneOf(&["on", "off"]);
const AUTO: Takes = Takes::OneOf(&["auto", "off"]);
const KINDS: &[&str] = &["all", "passage", "list", "table", "row"];
const SOME_KINDS: &[&str] =
    &["all", "passage", "list", "table", "row", "table,row", "passage,list", "passage,list,table", "passage,list,row"];
const PARTS: &[&str] = &["all", "none", "title", "heading", "before", "after"];
const SOME_PARTS: &[&str] = &["all", "none", "title", "heading", "title,heading", "before,after"];
const METHODS: &[&str] = &["counterfactual", "logprob", "jsd", "preview", "similarity"];

settings! {
    Sources Retriever "sources" "sources" sources Takes::Count(1, 100, 1),
        "how many of the best hits are offered to the prompt (k)";
    Mode Retriever "retrieval.mode" "search" retrieval.mode Takes::OneOf(&["hybrid", "dense", "lexical"]),
        "by meaning (dense), by words (lexical), or both";
    Fusion Retriever "retrieval.fusion" "fusion" retrieval.fusion Takes::OneOf(&["blend", "rrf"]),
        "how the lists of the searches become one: by their scores, or by their ranks (rrf)";
    RrfK Retriever "retrieval.rrf_k" "fusion k" retrieval.rrf_k Takes::Count(1, 1000, 10),
        "k of rrf, the reciprocal rank fusion: the lower, the more the first ranks count";
    Rerank Retriever "rerank" "rerank" rerank SWITCH,
        "whether the profile's reranker, where it has one, puts the hits in order";
    Context Retriever "retrieval.context" "context" retrieval.context Takes::SomeOf(PARTS, SOME_PARTS),
        "context parts the model reads with each source";
    Kinds Retriever "retrieval.kinds" "kinds" retrieval.kinds Takes::SomeOf(KINDS, SOME_KINDS),
        "kinds of evidence that are looked for";
    Copies Retriever "retrieval.copies" "copies" retrieval.copies Takes::OneOf(&["fold", "keep"]),
        "evidences that say the same: one hit that names the others, or each a hit";
    Translate Retriever "retrieval.translate" "translate" retrieval.translate AUTO,
        "a question in another language is searched for in that of the documents";
    Model Generator "generation.model" "model" model Takes::Generator,
        "which model writes: that of the profile, or another one";
    Language Generator "prompt.language" "language" prompt.language Takes::OneOf(&["auto", "en", "de"]),
        "language of the answers: auto takes that of the question";
    Abstain Generator "abstain" "abstain" abstain Takes::OneOf(&["model", "strict"]),
        "strict also puts an answer that its sources do not support behind the out-of-scope sentence";
    Temperature Generator "generation.temperature" "temperature" temperature Takes::Number(0.0, 2.0, 0.1),
        "0 takes the likeliest token always; above 0 tokens are drawn";
    Seed Generator "generation.seed" "seed" seed Takes::Count(0, u32::MAX, 1),
        "makes drawn tokens the same again";
    AnswerWithoutMatch Generator "generation.answer_without_match" "without match" answer_without_match SWITCH,
        "whether the model answers where no document fits the question";
    AnswerTokens Generator "prompt.answer_tokens" "answer length" prompt.answer_tokens Takes::Count(16, 8192, 32),
        "most tokens of an answer; they are kept free in the prompt";
    EvidenceTokens Generator "prompt.evidence_tokens" "evidence length" prompt.evidence_tokens
        Takes::Count(50, 100_000, 250),
        "most tokens of all evidences in the prompt together";
    Method Attribution "attribution.method" "method" attribution.method Takes::OneOf(METHODS),
        "how an answer is explained unless a key says otherwise";
    Eps Attribution "attribution.eps" "eps" attribution.eps Takes::Number(0.0, 2.0, 0.005),
        "sources closer than this cosine distance are one cluster";
    MinPoints Attribution "attribution.min_points" "min points" attribution.min_points Takes::Count(1, 100, 1),
        "neighbours, itself included, that make a source the core of a cluster";
    Iterations Attribution "attribution.iterations" "iterations" attribution.iterations Takes::Count(1, 100, 1),
        "counterfactual answers per cluster; more matter only above temperature 0";
    ShareTemperature Attribution "attribution.temperature" "share temperature" attribution.temperature
        Takes::Number(0.001, 10.0, 0.01),
        "the lower, the more the largest contribution stands out";
    GroupTest Attribution "attribution.group_test" "group test" attribution.group_test AUTO,
        "auto leaves sources that hardly matter out together first";
    EstimateFirst Attribution "attribution.estimate_first" "estimate first" attribution.estimate_first SWITCH,
        "shows an estimate of every cluster before the exact values";
}

impl Setting {
    /// The setting with this key.
    pub fn of_key(key: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|setting| setting.key() == key)
    }

    /// The settings that differ, with their values in `one` and `other`.
    pub fn differing(one: &TurnSettings, other: &TurnSettings) -> impl Iterator<Item = SettingChange> {
        let change = |setting: Self| SettingChange { setting, from: setting.text(one), to: setting.text(other) };
        Self::ALL.iter().copied().map(change).filter(|change| change.from != change.to)
    }

    /// Sets the value from a text.
    ///
    /// # Errors
    /// When the value is invalid; nothing changes then.
    pub fn write(self, to: &mut TurnSettings, text: &str) -> Result<(), Refused> {
        let text = text.trim();
        let refused = || Refused { key: self.key(), found: ragonite_base::clean_line(text), needed: self.needed() };
        if !self.takes().allow(text) {
            return Err(refused());
        }
        self.assign(to, text).ok_or_else(refused)
    }

    /// Description of valid values.
    pub fn needed(self) -> String {
        match self.takes() {
            Takes::OneOf(words) => format!("use {}", listed(words)),
            Takes::SomeOf(words, _) => format!("use {}, several with commas between", listed(words)),
            Takes::Count(least, most, _) => format!("use a whole number from {least} to {most}"),
            Takes::Generator => {
                "use profile, or the id of a generator whose weights are here (`ragonite models list`)".to_owned()
            }
            Takes::Number(least, most, _) => format!("use a number from {least} to {most}, such as {}", least.max(0.5)),
        }
    }

    /// The next or previous value: choices wrap around, numbers stay within their bounds. `generators` are the ids of
    /// available generators.
    pub fn stepped(self, of: &TurnSettings, way: Way, generators: &[String]) -> String {
        let now = self.text(of);
        match self.takes() {
            Takes::OneOf(words) | Takes::SomeOf(_, words) => beside(words, &now, way).to_owned(),
            Takes::Generator => {
                let of_profile = GeneratorChoice::Profile.to_string();
                let all: Vec<&str> = iter::once(&of_profile).chain(generators).map(String::as_str).collect();
                beside(&all, &now, way).to_owned()
            }
            Takes::Count(least, most, step) => {
                let now = now.parse::<u64>().unwrap_or_default();
                let to = if way == Way::On { now + u64::from(step) } else { now.saturating_sub(u64::from(step)) };
                to.clamp(u64::from(least), u64::from(most)).to_string()
            }
            Takes::Number(least, most, step) => {
                let now = now.parse::<f64>().unwrap_or_default();
                let to = if way == Way::On { now + step } else { now - step };
                // Avoids 0.30000000000000004 from steps of a tenth.
                ((to.clamp(least, most) * 1e6).round() / 1e6).to_string()
            }
        }
    }
}

impl Takes {
    /// Whether a text is a valid value.
    fn allow(self, text: &str) -> bool {
        match self {
            Self::OneOf(words) => words.contains(&text),
            Self::SomeOf(words, _) => text.split(',').all(|word| words.contains(&word.trim())),
            Self::Generator => text.parse::<GeneratorChoice>().is_ok(),
            Self::Count(least, most, _) => text.parse().is_ok_and(|count: u32| (least..=most).contains(&count)),
            Self::Number(least, most, _) => text.parse().is_ok_and(|number: f64| (least..=most).contains(&number)),
        }
    }
}

/// The next or previous choice; the first if `now` is no choice.
fn beside<'a>(all: &[&'a str], now: &str, way: Way) -> &'a str {
    let to = match (all.iter().position(|one| *one == now), way) {
        (None, _) => 0,
        (Some(at), Way::On) => (at + 1) % all.len(),
        (Some(at), Way::Back) => (at + all.len() - 1) % all.len(),
    };
    all.get(to).copied().unwrap_or_default()
}

/// `a, b or c`.
fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [one] => (*one).to_owned(),
        [most @ .., last] => format!("{} or {last}", most.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Config;

    #[test]
    fn each_setting_has_a_name_of_its_own_and_is_read_as_it_is_written() {
        for setting in Setting::ALL.iter().copied() {
            assert_eq!(Setting::of_key(setting.key()), Some(setting));
            let mut settings = TurnSettings::default();
            setting.write(&mut settings, &setting.text(&TurnSettings::default())).unwrap();
            assert_eq!(settings, TurnSettings::default(), "{setting:?}");
        }
    }

    #[test]
    fn each_name_is_that_of_the_configuration() {
        let mut known = toml::Table::try_from(Config::default()).unwrap();
        known.insert("sources".into(), toml::Value::Integer(5));
        for setting in Setting::ALL {
            let path: Vec<&str> = setting.key().split('.').collect();
            let found = match path[..] {
                [key] => known.get(key),
                [table, key] => known[table].get(key),
                _ => None,
            };
            assert!(found.is_some(), "{} is no key of the configuration", setting.key());
        }
    }

    #[test]
    fn each_choice_that_is_offered_can_be_chosen() {
        for setting in Setting::ALL.iter().copied() {
            if let Takes::OneOf(words) | Takes::SomeOf(_, words) = setting.takes() {
                for word in words {
                    let mut settings = TurnSettings::default();
                    setting.write(&mut settings, word).unwrap();
                    assert_eq!(setting.text(&settings), *word, "{setting:?}");
                }
            }
        }
    }

    #[test]
    fn what_a_setting_cannot_be_is_refused_with_what_would_do() {
        let bad = [
            (Setting::Sources, "0", "use a whole number from 1 to 100"),
            (Setting::Sources, "many", "use a whole number from 1 to 100"),
            (Setting::Temperature, "0,5", "use a number from 0 to 2, such as 0.5"),
            (Setting::Temperature, "NaN", "use a number from 0 to 2, such as 0.5"),
            (Setting::Mode, "sparse", "use hybrid, dense or lexical"),
            (Setting::Kinds, "row,chunk", "use all, passage, list, table or row, several with commas between"),
            (
                Setting::Model,
                "../x",
                "use profile, or the id of a generator whose weights are here (`ragonite models list`)",
            ),
            (Setting::Seed, "-1", "use a whole number from 0 to 4294967295"),
        ];
        for (setting, text, needed) in bad {
            let mut settings = TurnSettings::default();
            let refused = setting.write(&mut settings, text).unwrap_err();
            assert_eq!((refused.found.as_str(), refused.needed.as_str()), (text, needed));
            assert_eq!(settings, TurnSettings::default());
        }
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(200))]
        #[test]
        fn stepping_never_leaves_what_is_allowed(
            at in 0..Setting::ALL.len(),
            ways in proptest::collection::vec(any::<bool>(), 1..40),
        ) {
            let setting = Setting::ALL[at];
            let mut settings = TurnSettings::default();
            let generators = ["small".to_owned(), "large".to_owned()];
            for on in ways {
                let text = setting.stepped(&settings, if on { Way::On } else { Way::Back }, &generators);
                prop_assert!(setting.write(&mut settings, &text).is_ok(), "{} {text}", setting.key());
                prop_assert!(text.len() < 20, "{text}");
            }
        }

        #[test]
        fn any_text_is_taken_or_refused(at in 0..Setting::ALL.len(), text in any::<String>()) {
            let mut settings = TurnSettings::default();
            if Setting::ALL[at].write(&mut settings, &text).is_err() {
                prop_assert_eq!(settings, TurnSettings::default());
            }
        }
    }
}
