//! `config.toml`: its keys with their defaults, and errors for unknown keys and values.
//!
//! Not here: overrides of domains (`overrides`).

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use indexmap::IndexMap;
use serde::{Deserialize, Serialize};

use super::paths::variable;
use super::{ConfigError, Paths, ScreenSettings};
use ragonite_document::evidence::EvidenceSettings;
use ragonite_history::TurnSettings;
use ragonite_index::IndexSettings;
use ragonite_inference::{
    Decoding, DeviceChoice, FlashAttention, GeneratorChoice, GeneratorSettings, KvCacheType, Profile, Sampling,
};
use ragonite_rag::answer::{Abstain, Suggestions};
use ragonite_rag::attribution::{AttributionSettings, ExplainAhead};
use ragonite_rag::pipeline::AnswerWithoutMatch;
use ragonite_rag::prompt::PromptSettings;
use ragonite_rag::retrieval::{Reranking, RetrievalSettings};

/// The documented example; every key in it has its default.
pub const EXAMPLE: &str = include_str!("../../config.toml.example");

/// Variable that names the device; it overrides the file.
const DEVICE_VARIABLE: &str = "RAGONITE_DEVICE";

/// Top-level keys without a default.
const WITHOUT_DEFAULT: [&str; 4] = ["profile", "data_dir", "models_dir", "sources"];

/// Least Jaro-Winkler similarity of a suggested key to an unknown one.
const SUGGESTION_LEVEL: f64 = 0.8;

/// The configuration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Profile; by the machine if left out.
    pub profile: Option<String>,
    /// Folder for domains and history.
    pub data_dir: Option<PathBuf>,
    /// Folder with weights, which is searched first.
    pub models_dir: Option<PathBuf>,
    /// Evidences in the prompt; by default as in the profile.
    pub sources: Option<usize>,
    /// Whether hits are reranked, if the profile has a reranker.
    pub rerank: Reranking,
    /// When an answer becomes an abstention.
    pub abstain: Abstain,
    /// The device for computing.
    pub device: DeviceChoice,
    /// Splitting of documents.
    pub evidence: EvidenceSettings,
    /// Storing of evidence.
    pub index: IndexSettings,
    /// Settings of the search.
    pub retrieval: RetrievalSettings,
    /// Settings of prompts.
    pub prompt: PromptSettings,
    /// Settings of generation.
    pub generation: Generation,
    /// Settings of attribution.
    pub attribution: AttributionSettings,
    /// Settings of the screen.
    pub screen: ScreenSettings,
    /// Keys by action; `none` removes a key.
    pub keys: IndexMap<String, Vec<String>>,
}

/// Settings of generation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Generation {
    /// The generator.
    pub model: GeneratorChoice,
    /// 0 means greedy decoding; above 0 tokens are sampled.
    pub temperature: f32,
    /// Seed of sampling.
    pub seed: u32,
    /// CPU threads; 0 means one per physical core.
    pub threads: usize,
    /// Tokens of the context; 0 means as in the profile.
    pub context_tokens: usize,
    /// Type of the KV cache.
    pub kv_cache: KvCacheType,
    /// Whether flash attention is used.
    pub flash_attention: FlashAttention,
    /// Deterministic or fast decoding.
    pub writing: Decoding,
    /// Idle minutes until the model is unloaded; 0 means never.
    pub unload_after_minutes: u64,
    /// Whether the model answers where no document fits the question.
    pub answer_without_match: AnswerWithoutMatch,
    /// Whether questions are suggested after an answer.
    pub suggestions: Suggestions,
    /// Whether answers are explained before the user asks.
    pub explain_ahead: ExplainAhead,
}

impl Default for Generation {
    fn default() -> Self {
        Self {
            model: GeneratorChoice::default(),
            temperature: 0.0,
            seed: 1,
            threads: 0,
            context_tokens: 0,
            kv_cache: KvCacheType::default(),
            flash_attention: FlashAttention::default(),
            writing: Decoding::default(),
            unload_after_minutes: 30,
            answer_without_match: AnswerWithoutMatch::default(),
            suggestions: Suggestions::default(),
            explain_ahead: ExplainAhead::default(),
        }
    }
}

impl Generation {
    /// The sampling of answers.
    pub fn sampling(&self) -> Sampling {
        Sampling::at(self.temperature, self.seed)
    }

    /// Idle time until the model is unloaded.
    pub fn unload_after(&self) -> Option<Duration> {
        (self.unload_after_minutes > 0).then(|| Duration::from_secs(self.unload_after_minutes.saturating_mul(60)))
    }

    /// Settings for loading a generator on `device`; `profile_tokens` is the profile's context size.
    pub fn generator(&self, profile_tokens: usize, device: DeviceChoice) -> GeneratorSettings {
        GeneratorSettings {
            context_tokens: if self.context_tokens == 0 { profile_tokens } else { self.context_tokens },
            threads: self.threads,
            // A build without a GPU computes the same with `cpu` as with `auto`.
            gpu_layers: (device == DeviceChoice::Cpu && DeviceChoice::of_this_build().is_some()).then_some(0),
            kv_cache: self.kv_cache,
            flash_attention: self.flash_attention,
            writing: self.writing,
        }
    }
}

impl Config {
    /// Reads `file`, or the platform's configuration file if there is one, or takes the defaults.
    ///
    /// # Errors
    /// When a named file cannot be read, or a file is invalid.
    pub fn load(file: Option<&Path>) -> Result<Self, ConfigError> {
        let Some(path) = file.map(Path::to_owned).or_else(Paths::config_file) else { return Ok(Self::default()) };
        match fs::read_to_string(&path) {
            Ok(text) => Self::parse(&text, &path),
            Err(error) if file.is_none() && error.kind() == io::ErrorKind::NotFound => Ok(Self::default()),
            Err(source) => Err(ConfigError::Read { path, source }),
        }
    }

    /// Reads the text of a configuration file.
    ///
    /// # Errors
    /// When the text is no TOML, has an unknown key, or a value no setting can have.
    pub fn parse(text: &str, path: &Path) -> Result<Self, ConfigError> {
        let config: Self = toml::from_str(text).map_err(|source| ConfigError::Parse {
            path: path.to_owned(),
            hint: hint(&source.to_string()).unwrap_or_default(),
            source: Box::new(source),
        })?;
        config.check()?;
        Ok(config)
    }

    /// The device of this run: from $RAGONITE_DEVICE, or else the file.
    ///
    /// # Errors
    /// When the variable has an invalid value.
    pub fn device_of_this_run(&self) -> Result<DeviceChoice, ConfigError> {
        let Some(typed) = variable(DEVICE_VARIABLE) else { return Ok(self.device) };
        let found = typed.to_string_lossy().into_owned();
        DeviceChoice::named(&found).ok_or(ConfigError::Value {
            key: DEVICE_VARIABLE,
            found,
            needed: "auto, cpu, cuda, metal or vulkan",
        })
    }

    /// The settings of a turn in a domain without overrides.
    pub fn turn_settings(&self, profile: &Profile) -> TurnSettings {
        TurnSettings {
            sources: self.sources.unwrap_or(profile.top_k),
            retrieval: self.retrieval.clone(),
            rerank: self.rerank,
            abstain: self.abstain,
            model: self.generation.model.clone(),
            prompt: self.prompt.clone(),
            temperature: self.generation.temperature,
            seed: self.generation.seed,
            answer_without_match: self.generation.answer_without_match,
            attribution: self.attribution.clone(),
        }
    }

    fn check(&self) -> Result<(), ConfigError> {
        self.attribution.check()?;
        let temperature = self.generation.temperature;
        if !(0.0..=2.0).contains(&temperature) {
            let found = temperature.to_string();
            return Err(ConfigError::Value { key: "generation.temperature", found, needed: "from 0 to 2" });
        }
        if self.generation.kv_cache == KvCacheType::Q8 && self.generation.flash_attention == FlashAttention::Off {
            let needed = "auto or on where generation.kv_cache is q8_0";
            return Err(ConfigError::Value { key: "generation.flash_attention", found: "off".to_owned(), needed });
        }
        let share = self.prompt.share_cap;
        if !(0.05..=1.0).contains(&share) {
            return Err(ConfigError::Value {
                key: "prompt.share_cap",
                found: share.to_string(),
                needed: "from 0.05 to 1",
            });
        }
        let counts = [
            ("sources", self.sources.unwrap_or(1), 1..=100, "from 1 to 100"),
            ("retrieval.per_leg", self.retrieval.per_retriever, 1..=1000, "from 1 to 1000"),
            ("retrieval.top_k", self.retrieval.top_k, 1..=1000, "from 1 to 1000"),
            ("generation.threads", self.generation.threads, 0..=512, "from 0 to 512"),
            ("generation.context_tokens", self.generation.context_tokens, 0..=1_000_000, "from 0 to 1000000"),
            ("attribution.iterations", self.attribution.iterations, 1..=100, "from 1 to 100"),
        ];
        for (key, found, allowed, needed) in counts {
            if !allowed.contains(&found) {
                return Err(ConfigError::Value { key, found: found.to_string(), needed });
            }
        }
        Ok(())
    }
}

/// A hint for an unknown key or choice: the table it belongs to, or else the nearest known word. From serde's message
/// "unknown field `a`, expected one of `b`, `c`".
fn hint(message: &str) -> Option<String> {
    let start = message.find("unknown field").or_else(|| message.find("unknown variant"))?;
    let message = &message[start..];
    let mut names = message.split('`').skip(1).step_by(2);
    let unknown = names.next()?;
    if message.starts_with("unknown field")
        && let Some(place) = place_of(unknown)
    {
        return Some(format!(", `{unknown}` belongs {place}"));
    }
    names
        .map(|known| (strsim::jaro_winkler(unknown, known), known))
        .filter(|(similarity, _)| *similarity >= SUGGESTION_LEVEL)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| format!(", did you mean `{known}`?"))
}

/// The table of a key that is known elsewhere.
fn place_of(key: &str) -> Option<String> {
    let defaults = toml::Table::try_from(Config::default()).ok()?;
    let is_at_the_top = WITHOUT_DEFAULT.contains(&key) || defaults.get(key).is_some_and(|value| !value.is_table());
    if is_at_the_top {
        return Some("at the top of the file, before the first [section]".to_owned());
    }
    let has_it = |(_, value): &(&String, &toml::Value)| value.as_table().is_some_and(|table| table.contains_key(key));
    let sections: Vec<String> = defaults.iter().filter(has_it).map(|(section, _)| format!("[{section}]")).collect();
    (!sections.is_empty()).then(|| format!("under {}", sections.join(" or ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ScreenLanguage;

    #[test]
    fn the_example_equals_the_defaults() {
        assert_eq!(Config::parse(EXAMPLE, Path::new("config.toml.example")).unwrap(), Config::default());
    }

    #[test]
    fn the_example_names_every_key() {
        let defaults = toml::Table::try_from(Config::default()).unwrap();
        for (section, value) in &defaults {
            let keys = value.as_table().map(|table| table.keys().collect::<Vec<_>>()).unwrap_or_default();
            for key in keys {
                assert!(EXAMPLE.contains(&format!("\n{key} =")), "the example lacks `{section}.{key}`");
            }
        }
        for optional in ["profile", "data_dir", "models_dir", "sources"] {
            assert!(EXAMPLE.contains(&format!("# {optional} = ")), "the example lacks `{optional}`");
        }
    }

    #[test]
    fn the_language_of_the_screen_is_read_and_the_locale_decides_where_none_is_set() {
        let of = |text: &str| Config::parse(text, Path::new("c.toml")).unwrap().screen.language;
        assert_eq!(of(""), ScreenLanguage::Auto);
        assert_eq!(of("[screen]\nlanguage = \"auto\"\n"), ScreenLanguage::Auto);
        assert_eq!(of("[screen]\nlanguage = \"en\"\n"), ScreenLanguage::En);
        assert_eq!(of("[screen]\nlanguage = \"de\"\n"), ScreenLanguage::De);
    }

    #[test]
    fn an_unknown_key_names_the_nearest_known_one() {
        let error = Config::parse("[retrieval]\nrff_k = 60\n", Path::new("c.toml")).unwrap_err();
        assert!(error.to_string().contains("did you mean `rrf_k`?"), "{error}");
        assert!(Config::parse("[generation]\ntemperature = 9.0\n", Path::new("c.toml")).is_err());
        let error = Config::parse("[screen]\ntheme = \"drak\"\n", Path::new("c.toml")).unwrap_err();
        assert!(error.to_string().contains("did you mean `dark`?"), "{error}");
        let misplaced = |text| Config::parse(text, Path::new("config.toml")).unwrap_err().to_string();
        let text = misplaced("[retrieval]\nsources = 3\n");
        assert!(text.contains("`sources` belongs at the top of the file"), "{text}");
        let text = misplaced("temperature = 1.0\n");
        assert!(text.contains("`temperature` belongs under [attribution] or [generation]"), "{text}");
        let error = Config::parse("[screen]\ntheme = \"solarized\"\n", Path::new("c.toml")).unwrap_err();
        let why = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(why.contains("`high-contrast`") && why.contains("line 2"), "{why}");
        let error = Config::parse("[screen]\nlanguage = \"fr\"\n", Path::new("c.toml")).unwrap_err();
        let why = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
        assert!(error.to_string().contains("`c.toml` is wrong"), "{error}");
        assert!(["`fr`", "`auto`", "`en`", "`de`", "line 2"].iter().all(|said| why.contains(said)), "{why}");
        let both = "[generation]\nkv_cache = \"q8_0\"\nflash_attention = \"off\"\n";
        let error = Config::parse(both, Path::new("c.toml")).unwrap_err();
        assert!(error.to_string().contains("generation.flash_attention"), "{error}");
    }
}
