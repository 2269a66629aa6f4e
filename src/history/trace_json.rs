//! Traces as JSON.
//!
//! Takes a [`Trace`], gives JSON; takes JSON of any version of the program, gives a [`Trace`].
//! Invariant: reading never fails. Unreadable parts are left out; the question and the answer's text have columns of
//! their own.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{HistoryError, Trace};

pub(super) fn to_json(trace: &Trace) -> Result<String, HistoryError> {
    serde_json::to_string(trace).map_err(|source| HistoryError::Trace { source })
}

pub(super) fn from_json(json: &str) -> Trace {
    serde_json::from_str(json).unwrap_or_else(|error| {
        tracing::warn!(%error, "a stored trace cannot be read as a whole; reading it part by part");
        match serde_json::from_str(json) {
            Ok(Value::Object(mut parts)) => by_part(&mut parts),
            _ => Trace::default(),
        }
    })
}

fn by_part(parts: &mut Map<String, Value>) -> Trace {
    Trace {
        profile: part(parts, "profile"),
        embedder: part(parts, "embedder"),
        generator: part(parts, "generator"),
        rewrite: part(parts, "rewrite"),
        translation: part(parts, "translation"),
        retrieved: part(parts, "retrieved"),
        answer: part(parts, "answer"),
        attribution: part(parts, "attribution"),
        earlier_attributions: part(parts, "earlier_attributions"),
        suggestions: part(parts, "suggestions"),
        timings_ms: part(parts, "timings_ms"),
        settings: part(parts, "settings"),
        domain_settings: part(parts, "domain_settings"),
        variant: part(parts, "variant"),
    }
}

fn part<T: DeserializeOwned + Default>(parts: &mut Map<String, Value>, name: &'static str) -> T {
    let Some(value) = parts.remove(name) else { return T::default() };
    serde_json::from_value(value).unwrap_or_else(|error| {
        tracing::warn!(%error, part = name, "a part of a stored trace cannot be read");
        T::default()
    })
}
