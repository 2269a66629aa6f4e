//! What is kept of a conversation.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;

use super::{Feedback, TurnSettings};
use ragonite_base::{ConversationId, DomainName, Millis, TurnId, clean_line};
use ragonite_rag::answer::{Answer, Rewrite, Translation};
use ragonite_rag::attribution::{Attribution, AttributionSettings, Cluster, GroupTest, Method, Provenance};
use ragonite_rag::retrieval::{Override, OverrideKind, Retrieved};

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "outcome", content = "message")]
pub enum Outcome {
    /// It has its answer.
    Answered,
    /// The user stopped it; what was there by then is kept.
    Canceled,
    /// It failed; the message says what and what to do.
    Failed(String),
}

/// Time per stage of a turn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct TurnTimings {
    /// Completing the question.
    pub rewrite: Millis,
    /// Translating it.
    pub translate: Millis,
    /// Retrieval.
    pub retrieve: Millis,
    /// From the start of generation to its first token.
    pub first_token: Millis,
    /// Generation, prompt reading included.
    pub answer: Millis,
    /// Attribution.
    pub explain: Millis,
    /// All of it.
    pub total: Millis,
}

impl TurnTimings {
    /// From the question to its answer, without explaining it.
    #[must_use]
    pub fn until_answered(&self) -> Millis {
        self.rewrite + self.translate + self.retrieve + self.answer
    }
}

/// Everything that led to an answer, as the steps left it. It is stored as JSON for good: fields may be added, and what
/// an older program did not write has its default.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Trace {
    /// Profile and models: names as in the catalog.
    pub profile: String,
    /// Embedder id.
    pub embedder: String,
    /// Generator id.
    pub generator: String,
    /// The rewrite.
    pub rewrite: Option<Rewrite>,
    /// The translation; none where the documents have the language of the question.
    pub translation: Option<Translation>,
    /// The search.
    pub retrieved: Option<Retrieved>,
    /// The answer with its prompt; what was generated so far when the turn was cancelled.
    pub answer: Option<Answer>,
    /// The attribution that was asked for last.
    pub attribution: Option<Attribution>,
    /// What other methods found before, at most one of each; none of the method of `attribution`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier_attributions: Vec<EarlierAttribution>,
    /// Questions to go on with.
    pub suggestions: Vec<String>,
    /// Time per stage.
    pub timings_ms: TurnTimings,
    /// What it was answered with, and explained with where it was; none of a turn that an older program stored.
    pub settings: Option<TurnSettings>,
    /// Names of those settings that were the domain's own and not the configuration's.
    pub domain_settings: Vec<String>,
    /// Which turn it asks again, and what is other; none of a turn that asks a question of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub variant: Option<Variant>,
}

/// What a method found before another one was asked for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EarlierAttribution {
    /// What it found.
    pub attribution: Attribution,
    /// With these settings; none of a turn that an older program stored.
    #[serde(default)]
    pub settings: Option<AttributionSettings>,
}

impl Trace {
    /// Puts an attribution, found with these settings, in place of the one before, which is kept unless it is the same
    /// method's.
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

    /// The clusters that an explanation with these settings need not remove again: what is shown was stopped, or removed
    /// some together that are now to be removed one by one. None where nothing like that is shown.
    #[must_use]
    pub fn known(&self, with: &AttributionSettings) -> Vec<Cluster> {
        let is_so_far =
            |had: &AttributionSettings| AttributionSettings { group_test: with.group_test, ..had.clone() } == *with;
        let had = self.settings.as_ref().map(|settings| &settings.attribution);
        let shown = self.attribution.as_ref().filter(|_| had.is_some_and(is_so_far));
        // Those of an answer that took the place of the stored one are held against that one.
        let shown = shown.filter(|shown| shown.method == with.method && shown.instead.is_none());
        let shown = shown.filter(|shown| shown.missing > 0 || shown.has_group());
        let may_stay = |how| with.group_test == GroupTest::Auto || how != Provenance::Group;
        let clusters = shown.into_iter().flat_map(|shown| &shown.clusters);
        clusters.filter(|cluster| cluster.is_settled() && may_stay(cluster.how)).cloned().collect()
    }

    /// How an answer is explained when that is asked for with these settings: what they removed together is removed one
    /// by one when it is asked for again.
    #[must_use]
    pub fn explained_next(&self, with: AttributionSettings) -> AttributionSettings {
        let one_by_one = AttributionSettings { group_test: GroupTest::Off, ..with.clone() };
        let had = self.settings.as_ref().map(|settings| &settings.attribution);
        let is_shown = self.attribution.as_ref().is_some_and(|shown| shown.method == with.method);
        // What was told apart is not put together again.
        if is_shown && (had == Some(&one_by_one) || self.has_group_to_part(&one_by_one)) { one_by_one } else { with }
    }

    /// Whether what is shown came to its end and left some clusters out together, which these settings leave out one by one.
    #[must_use]
    pub fn has_group_to_part(&self, with: &AttributionSettings) -> bool {
        let had = self.settings.as_ref().map(|settings| &settings.attribution);
        let together = AttributionSettings { group_test: GroupTest::Auto, ..with.clone() };
        let shown = self.attribution.as_ref().filter(|shown| shown.method == with.method && shown.missing == 0);
        let has_group = shown.is_some_and(Attribution::has_group);
        has_group && with.group_test == GroupTest::Off && had == Some(&together)
    }

    /// Whether this method explained the whole answer, now or before another one was asked for.
    #[must_use]
    pub fn is_explained_by(&self, method: Method) -> bool {
        let earlier = self.earlier_attributions.iter().map(|earlier| &earlier.attribution);
        let mut all = self.attribution.iter().chain(earlier);
        all.any(|attribution| attribution.method == method && attribution.missing == 0)
    }

    /// What this method found before another one was asked for.
    pub fn earlier(&self, method: Method) -> Option<&EarlierAttribution> {
        self.earlier_attributions.iter().find(|earlier| earlier.attribution.method == method)
    }
}

/// What a turn that asks an earlier one again has other than that one. No later turn is told about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Number of the turn that it asks again, in the same conversation.
    pub of: u32,
    /// Settings that are other.
    #[serde(default)]
    pub settings: Vec<OtherSetting>,
    /// What is said of single evidences, that of the turn that it asks again included.
    #[serde(default)]
    pub picks: Vec<Override>,
}

impl Variant {
    /// On one line: `turn 1, sources 10 → 3; without “Minutes”`.
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

/// A setting that two turns have not alike.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OtherSetting {
    /// Its name, as in a configuration.
    pub key: String,
    /// Its value in the first.
    pub from: String,
    /// Its value in the second.
    pub to: String,
}

/// One turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// Its id, given when it is first stored and the same from then on; whatever stands here before is ignored.
    pub id: TurnId,
    /// Place in its conversation, from 1.
    pub number: u32,
    /// The question as typed.
    pub question: String,
    /// The completed question; the question itself until it is known.
    pub completed_question: String,
    /// How it ended.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// When it was asked.
    #[serde(with = "time::serde::rfc3339")]
    pub asked_at: OffsetDateTime,
    /// What the user thinks of it. It is stored by [`History::rate`](super::History::rate) only; storing the turn changes
    /// nothing of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub feedback: Option<Feedback>,
    /// Everything that led to the answer.
    pub trace: Trace,
}

/// One conversation, without its turns.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ConversationRecord {
    /// Its id.
    pub id: ConversationId,
    /// The domain it asks.
    pub domain: DomainName,
    /// Its title, clean and on one line: the first question, until the user gives another one.
    pub title: String,
    /// When it began.
    #[serde(with = "time::serde::rfc3339")]
    pub started_at: OffsetDateTime,
    /// When its last turn was stored.
    #[serde(with = "time::serde::rfc3339")]
    pub changed_at: OffsetDateTime,
    /// How many turns it has.
    pub turns: u32,
    /// Whether it stands before the others.
    #[serde(default)]
    pub pinned: bool,
    /// When it was thrown into the trash, unless it was not.
    #[serde(default, with = "time::serde::rfc3339::option", skip_serializing_if = "Option::is_none")]
    pub deleted_at: Option<OffsetDateTime>,
}

impl ConversationRecord {
    /// One that could not be stored: it has no id, and is called by its first question.
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
