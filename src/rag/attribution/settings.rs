//! Settings of attribution; the table `[attribution]` of the configuration.

use serde::{Deserialize, Serialize};

use super::Method;

/// Whether unlikely clusters are left out together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupTest {
    /// All but the likeliest three and the cited ones are left out together. If the answer stays the same, each is
    /// settled; otherwise they share one value. This bounds the time, at the price of single values.
    Auto,
    /// Every cluster is left out by itself.
    #[default]
    Off,
}

/// Whether every cluster is estimated before exact values are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EstimateFirst {
    /// Exact values only.
    #[default]
    Off,
    /// Estimates first: they are fast, but tell little about small differences.
    On,
}

/// Whether an answer is explained before the user asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExplainAhead {
    /// Only on request.
    #[default]
    Off,
    /// On the screen while the program is idle, unless the machine runs on battery.
    On,
}

/// The settings; defaults are the values of the paper.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AttributionSettings {
    /// The default method.
    pub method: Method,
    /// Catalog id of the embedder for clustering sources and comparing answers; empty for the embedder of the search.
    pub embedder: String,
    /// Largest cosine distance of neighbours in DBSCAN.
    pub eps: f64,
    /// Fewest neighbours of a core point in DBSCAN, itself included.
    pub min_points: usize,
    /// Counterfactual answers per cluster. More than one makes sense only with sampling; greedy answers are all equal.
    pub iterations: usize,
    /// Softmax temperature; lower values make the largest contribution stand out.
    pub temperature: f64,
    /// Whether unlikely clusters are left out together.
    pub group_test: GroupTest,
    /// Whether every cluster is estimated first.
    pub estimate_first: EstimateFirst,
}

impl Default for AttributionSettings {
    fn default() -> Self {
        Self {
            method: Method::default(),
            embedder: String::new(),
            eps: 0.005,
            min_points: 2,
            iterations: 1,
            temperature: 0.05,
            group_test: GroupTest::default(),
            estimate_first: EstimateFirst::Off,
        }
    }
}

/// A setting out of range.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SettingError {
    /// Cosine distances go from 0 to 2.
    #[error("attribution.eps is {0}, it must be from 0 to 2; 0.005 is the default")]
    Eps(f64),
    /// An evidence is its own neighbour.
    #[error("attribution.min_points is 0, it must be at least 1; 2 is the default")]
    MinPoints,
    /// Without a counterfactual answer there is nothing to compare.
    #[error("attribution.iterations is 0, it must be at least 1; 1 is the default")]
    Iterations,
    /// The softmax divides by it.
    #[error("attribution.temperature is {0}, it must be above 0; 0.05 is the default")]
    Temperature(f64),
}

impl AttributionSettings {
    /// The separate embedder of attribution; none if it is that of the search.
    #[must_use]
    pub fn embedder(&self) -> Option<&str> {
        Some(self.embedder.trim()).filter(|id| !id.is_empty())
    }

    /// Checks the ranges of all settings.
    ///
    /// # Errors
    /// The first setting out of range.
    pub fn check(&self) -> Result<(), SettingError> {
        if !(0.0..=2.0).contains(&self.eps) {
            return Err(SettingError::Eps(self.eps));
        }
        if self.min_points == 0 {
            return Err(SettingError::MinPoints);
        }
        if self.iterations == 0 {
            return Err(SettingError::Iterations);
        }
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            return Err(SettingError::Temperature(self.temperature));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_table_is_the_paper_and_a_misspelt_key_is_refused() {
        let settings: AttributionSettings = toml::from_str("").unwrap();
        let paper =
            AttributionSettings { eps: 0.005, min_points: 2, iterations: 1, temperature: 0.05, ..settings.clone() };
        let found = (settings.method, settings.embedder(), settings.group_test);
        assert_eq!((found, settings.clone()), ((Method::Counterfactual, None, GroupTest::Off), paper));
        assert_eq!(toml::from_str::<AttributionSettings>("group_test = \"auto\"").unwrap().group_test, GroupTest::Auto);
        assert_eq!(settings.estimate_first, EstimateFirst::Off);
        let estimated: AttributionSettings = toml::from_str("estimate_first = \"on\"").unwrap();
        assert_eq!(estimated.estimate_first, EstimateFirst::On);
        let other: AttributionSettings = toml::from_str("method = \"jsd\"\nembedder = \" bge-m3 \"").unwrap();
        assert_eq!((other.method, other.embedder()), (Method::Jsd, Some("bge-m3")));
        assert!(toml::from_str::<AttributionSettings>("epsilon = 1.0").is_err());
        assert!(toml::from_str::<AttributionSettings>("method = \"guess\"").is_err());
    }

    #[test]
    fn settings_that_cannot_be_computed_with_are_named() {
        let good = AttributionSettings::default();
        assert_eq!(good.check(), Ok(()));
        assert!(matches!(AttributionSettings { eps: f64::NAN, ..good.clone() }.check(), Err(SettingError::Eps(_))));
        assert_eq!(AttributionSettings { min_points: 0, ..good.clone() }.check(), Err(SettingError::MinPoints));
        assert_eq!(AttributionSettings { iterations: 0, ..good.clone() }.check(), Err(SettingError::Iterations));
        assert_eq!(
            AttributionSettings { temperature: 0.0, ..good.clone() }.check(),
            Err(SettingError::Temperature(0.0))
        );
    }
}
