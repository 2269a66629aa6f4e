//! How attribution is done; the table `[attribution]` of the configuration.

use serde::{Deserialize, Serialize};

use super::Method;

/// Whether clusters that probably do not matter are removed together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum GroupTest {
    /// All but the likeliest three and the cited ones. Where the answer stays the same, each of them is settled; where it
    /// does not, they have one value together. That bounds the time at the price of single values.
    Auto,
    /// Every cluster is removed by itself.
    #[default]
    Off,
}

/// Whether every cluster is estimated before the exact values are computed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EstimateFirst {
    /// Exact values only, each as soon as it is there.
    #[default]
    Off,
    /// Estimates first: all of them are soon there, and they say little of small differences.
    On,
}

/// Whether an answer is explained before that is asked for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExplainAhead {
    /// Only when it is asked for.
    #[default]
    Off,
    /// On the screen while nothing else is wanted, unless the machine runs on its battery.
    On,
}

/// The settings, with the values of the paper as defaults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AttributionSettings {
    /// How an answer is explained unless another method is asked for.
    pub method: Method,
    /// Id in the catalog of the model that embeds sources to cluster them and answers to compare them; empty for the
    /// one that finds the sources.
    pub embedder: String,
    /// Cosine distance up to which two evidences are neighbours in DBSCAN.
    pub eps: f64,
    /// Neighbours, itself included, that make an evidence the core of a cluster.
    pub min_points: usize,
    /// Counterfactual answers per cluster. Only sampled answers need more than one: greedy ones are all the same.
    pub iterations: usize,
    /// Temperature of the softmax over contributions: the lower, the more the largest stands out.
    pub temperature: f64,
    /// Whether clusters that probably do not matter are removed together.
    pub group_test: GroupTest,
    /// Whether every cluster is estimated before the exact values are computed.
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

/// A setting that cannot be computed with.
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
    /// The embedder that is attribution's own; none where it is the one that finds the sources.
    #[must_use]
    pub fn embedder(&self) -> Option<&str> {
        Some(self.embedder.trim()).filter(|id| !id.is_empty())
    }

    /// Checks that every setting can be computed with.
    ///
    /// # Errors
    /// The first setting that cannot.
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
