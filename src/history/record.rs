//! The records of the history: conversations, turns and traces.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{Feedback, TurnSettings};
use ragonite_base::{ConversationId, DomainName, Millis, TurnId, clean_line};
use ragonite_rag::answer::{Answer, Rewrite, Support, Translation};
use ragonite_rag::attribution::{Attribution, AttributionSettings, Cluster, GroupTest, Method, Provenance};
use ragonite_rag::retrieval::{MatchQuality, Override, OverrideKind, Retrieved};

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "outcome", content = "message")]
pub enum Outcome {
    /// With its answer.
    Answered,
    /// Stopped by the user; partial results are kept.
    Canceled,
    /// Failed; the message has cause and advice.
    Failed(String),
}

/// Time per stage of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnTimings {
    /// Rewriting the question.
    pub rewrite: Millis,
    /// Translating the question.
    pub translate: Millis,
    /// Retrieval.
    pub retrieve: Millis,
    /// From the start of generation to its first token.
    pub first_token: Millis,
    /// Generation with prefill.
    pub answer: Millis,
    /// Attribution.
    pub explain: Millis,
    /// The whole turn.
    pub total: Millis,
}

impl TurnTimings {
    /// Time from the question to its answer, without attribution.
    #[must_use]
    pub fn until_answered(&self) -> Millis {
        self.rewrite + self.translate + self.retrieve + self.answer
    }
}

/// The record of every step of a turn. Stored as JSON permanently: fields may be added, and missing ones get their
/// default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// Id of the profile in the catalog.
    pub profile: String,
    /// Embedder id.
    pub embedder: String,
    /// Generator id.
    pub generator: String,
    /// The rewrite.
    pub rewrite: Option<Rewrite>,
    /// The translation; none if the documents have the language of the question.
    pub translation: Option<Translation>,
    /// The search.
    pub retrieved: Option<Retrieved>,
    /// The answer with its prompt; partial if the turn was cancelled.
    pub answer: Option<Answer>,
    /// The latest attribution.
    pub attribution: Option<Attribution>,
    /// Earlier attributions by other methods, at most one per method.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier_attributions: Vec<EarlierAttribution>,
    /// Suggested questions.
    pub suggestions: Vec<String>,
    /// Time per stage.
    pub timings_ms: TurnTimings,
    /// Settings of answer and attribution; none in turns of older programs.
    pub settings: Option<TurnSettings>,
    /// Keys of the settings that the domain overrides.
    pub domain_settings: Vec<String>,
    /// For a turn that asks an earlier one again: that turn and the changes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
}

/// An attribution that another method has replaced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlierAttribution {
    /// The attribution.
    pub attribution: Attribution,
    /// Its settings; none in turns of older programs.
    #[serde(default)]
    pub settings: Option<AttributionSettings>,
}

impl Trace {
    /// How far the sources support the answer, with what was measured; none for an abstention.
    #[must_use]
    pub fn support(&self) -> Option<Support> {
        let earlier = self.earlier_attributions.iter().map(|earlier| &earlier.attribution);
        let answer = self.answer.as_ref()?;
        Some(answer.support()?.explained(answer, self.attribution.iter().chain(earlier)))
    }

    /// Sets the attribution with its settings. The previous one is kept if it is by another method.
    pub fn attribute(&mut self, attribution: Attribution, with: Option<AttributionSettings>) {
        self.earlier_attributions.retain(|earlier| earlier.attribution.method != attribution.method);
        let before = self.attribution.take().filter(|before| before.method != attribution.method);
        if let Some(before) = before {
            let settings = self.settings.as_ref().map(|settings| settings.attribution.clone());
            self.earlier_attributions.push(EarlierAttribution { attribution: before, settings });
        }
        if let (Some(settings), Some(with)) = (&mut self.settings, with) {
            settings.attribution = with;
        }
        self.attribution = Some(attribution);
    }

    /// The clusters that an explanation with these settings need not leave out again: the present attribution was
    /// stopped, or its group is now to be left out one by one. Otherwise empty.
    #[must_use]
    pub fn known(&self, with: &AttributionSettings) -> Vec<Cluster> {
        let is_so_far =
            |had: &AttributionSettings| AttributionSettings { group_test: with.group_test, ..had.clone() } == *with;
        let had = self.settings.as_ref().map(|settings| &settings.attribution);
        let shown = self.attribution.as_ref().filter(|_| had.is_some_and(is_so_far));
        // Clusters of a regenerated answer are compared with that answer.
        let shown = shown.filter(|shown| shown.method == with.method && shown.instead.is_none());
        let shown = shown.filter(|shown| shown.missing > 0 || shown.has_group());
        let may_stay = |how| with.group_test == GroupTest::Auto || how != Provenance::Group;
        let clusters = shown.into_iter().flat_map(|shown| &shown.clusters);
        clusters.filter(|cluster| cluster.is_settled() && may_stay(cluster.how)).cloned().collect()
    }

    /// The settings for the next explanation: if the present one had a group test, the next one leaves clusters out one
    /// by one.
    #[must_use]
    pub fn explained_next(&self, with: AttributionSettings) -> AttributionSettings {
        let one_by_one = AttributionSettings { group_test: GroupTest::Off, ..with.clone() };
        let had = self.settings.as_ref().map(|settings| &settings.attribution);
        let is_shown = self.attribution.as_ref().is_some_and(|shown| shown.method == with.method);
        // Separate clusters are not grouped again.
        if is_shown && (had == Some(&one_by_one) || self.has_group_to_part(&one_by_one)) { one_by_one } else { with }
    }

    /// Whether the attribution is complete and has a group that these settings would leave out one by one.
    #[must_use]
    pub fn has_group_to_part(&self, with: &AttributionSettings) -> bool {
        let had = self.settings.as_ref().map(|settings| &settings.attribution);
        let together = AttributionSettings { group_test: GroupTest::Auto, ..with.clone() };
        let shown = self.attribution.as_ref().filter(|shown| shown.method == with.method && shown.missing == 0);
        let has_group = shown.is_some_and(Attribution::has_group);
        has_group && with.group_test == GroupTest::Off && had == Some(&together)
    }

    /// Whether this method has a complete attribution of the answer.
    #[must_use]
    pub fn is_explained_by(&self, method: Method) -> bool {
        let earlier = self.earlier_attributions.iter().map(|earlier| &earlier.attribution);
        let mut all = self.attribution.iter().chain(earlier);
        all.any(|attribution| attribution.method == method && attribution.missing == 0)
    }

    /// The quality of the search, if no model was asked because no document fits the question.
    #[must_use]
    pub fn stopped_without_match(&self) -> Option<&MatchQuality> {
        let quality = self.retrieved.as_ref()?.no_match()?;
        let answer = self.answer.as_ref()?;
        let is_asked = answer.answered || !answer.prompt.segments.is_empty() || !answer.completion.tokens.is_empty();
        (!is_asked).then_some(quality)
    }

    /// The earlier attribution by this method.
    pub fn earlier(&self, method: Method) -> Option<&EarlierAttribution> {
        self.earlier_attributions.iter().find(|earlier| earlier.attribution.method == method)
    }
}

/// The changes of a turn that asks an earlier one again. No later turn is told about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Number of the earlier turn in the same conversation.
    pub of: u32,
    /// Changed settings.
    #[serde(default)]
    pub settings: Vec<OtherSetting>,
    /// Overrides of evidences, including those of the earlier turn.
    #[serde(default)]
    pub picks: Vec<Override>,
}

impl Variant {
    /// In a line: `turn 1, sources 10 → 3; without “Minutes”`.
    pub fn label(&self) -> String {
        let settings = self.settings.iter().map(|other| format!("{} {} → {}", other.key, other.from, other.to));
        let picks = self.picks.iter().map(|pick| match pick.how {
            OverrideKind::First => format!("“{}” comes first", pick.name),
            OverrideKind::LeftOut => format!("without “{}”", pick.name),
            OverrideKind::PageLeftOut => format!("without the page “{}”", pick.name),
        });
        let other: Vec<String> = settings.chain(picks).collect();
        let other = if other.is_empty() { "with nothing changed".to_owned() } else { other.join("; ") };
        clean_line(&format!("turn {}, {other}", self.of))
    }
}

/// A setting that differs between two turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherSetting {
    /// Key in the configuration.
    pub key: String,
    /// Value in the first turn.
    pub from: String,
    /// Value in the second turn.
    pub to: String,
}

/// A turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Assigned at the first save and constant from then on; ignored before.
    pub id: TurnId,
    /// Number in its conversation, from 1.
    pub number: u32,
    /// The question as typed.
    pub question: String,
    /// The completed question; the typed one until it is known.
    pub completed_question: String,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// When it was asked.
    #[serde(with = "time::serde::rfc3339")]
    pub asked_at: OffsetDateTime,
    /// Feedback of the user. Stored by [`History::rate`](super::History::rate) only; saving the turn does not change
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Feedback>,
    /// The record of every step.
    pub trace: Trace,
}

/// A conversation without its turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationRecord {
    /// Its id.
    pub id: ConversationId,
    /// The domain of the conversation.
    pub domain: DomainName,
    /// Title, clean and on one line: the first question, unless the user set another.
    pub title: String,
    /// Time of the first turn.
    #[serde(with = "time::serde::rfc3339")]
    pub started_at: OffsetDateTime,
    /// Time of the latest save.
    #[serde(with = "time::serde::rfc3339")]
    pub changed_at: OffsetDateTime,
    /// Number of turns.
    pub turns: u32,
    /// Whether it is pinned.
    #[serde(default)]
    pub pinned: bool,
    /// Time of deletion, if it is in the trash.
    #[serde(default, with = "time::serde::rfc3339::option", skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<OffsetDateTime>,
}

impl ConversationRecord {
    /// A conversation that could not be stored: without an id, titled by its first question.
    #[must_use]
    pub fn not_stored(domain: DomainName, first_question: &str, started_at: OffsetDateTime) -> Self {
        Self {
            id: ConversationId(0),
            domain,
            title: super::store::title(first_question),
            started_at,
            changed_at: started_at,
            turns: 0,
            pinned: false,
            deleted_at: None,
        }
    }
}
