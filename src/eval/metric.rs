//! The metrics, by name: one list for JSON, tables, comparisons and the figures of the paper.
//!
//! Not here: measuring (`score`, `retrieval`, `answers`, `attribution_eval`).

use super::Way;

/// How two pages are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageMatch {
    /// By number in the URL.
    Page,
    /// By title and text.
    Content,
    /// By URL string.
    Url,
}

/// How the rank of a gold page is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ranking {
    /// The best hit is on a gold page.
    PAt1,
    /// A gold page is among the first five hits.
    HitAt5,
    /// A gold page is among the first ten hits.
    HitAt10,
    /// 1 / rank of the first hit on a gold page, 0 without one.
    Mrr,
}

/// How the attribution of an answer with a planted fact is scored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlantScore {
    /// The planted source has the largest contribution.
    Top,
    /// A source is decisive, and it is the planted one.
    DecisiveRight,
    /// A source is decisive, and it is another one.
    DecisiveWrong,
}

/// A metric of a question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Rank of the gold page.
    Ranked(PageMatch, Ranking),
    /// Whether a gold URL is the exact URL of a page, so that it can be found by URL.
    UrlCeiling,
    /// Share of the first ten hits on gold pages, by number.
    PrecisionAt10,
    /// Rating by the judge.
    AnswerRelevance,
    /// The judge gave no usable verdict.
    NotJudgedRate,
    /// Token F1 with the reference answer.
    TokenF1,
    /// Share of the reference answer's words in the answer.
    GoldRecall,
    /// The answer contains a gold fact, or the reference answer.
    GoldContained,
    /// The answer is an abstention.
    OosRate,
    /// No gold page is among the sources, so an abstention is right.
    ExpectedOosRate,
    /// Abstention with a gold page among the sources.
    RefusedWithGoldRate,
    /// The answer has citations.
    CitedRate,
    /// The answer has citations without citation repair.
    CitedUnaskedRate,
    /// Share of valid citations, without repaired ones, which are always valid.
    CitationValidity,
    /// A cited source is on a gold page.
    CitesGoldRate,
    /// The answer is called unsupported.
    UnsupportedRate,
    /// The answer is called partly supported.
    PartlySupportedRate,
    /// A gold page is among the sources.
    GoldRetrievedRate,
    /// Attribution points to a gold page.
    Accuracy(Way),
    /// Attribution finds a decisive source.
    DecisiveRate,
    /// The first source is on a gold page.
    FirstHitAccuracy,
    /// A fact was planted in a source.
    PlantedRate,
    /// The answer has the planted fact.
    PlantTakenRate,
    /// What attribution says of the planted source.
    Plant(PlantScore, Way),
}

/// The metrics of two tables in one list.
pub(super) const fn both<const ALL: usize>(first: &[Metric], second: &[Metric]) -> [Metric; ALL] {
    let mut all = [P_AT_1; ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < first.len() { first[at] } else { second[at - first.len()] };
        at += 1;
    }
    all
}

/// The main metric for comparing runs.
pub(super) const P_AT_1: Metric = Metric::Ranked(PageMatch::Page, Ranking::PAt1);

/// The metric that corresponds to the paper's P@1.
pub(super) const URL_P_AT_1: Metric = Metric::Ranked(PageMatch::Url, Ranking::PAt1);

impl PageMatch {
    fn word(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Content => "content",
            Self::Url => "url",
        }
    }
}

impl Ranking {
    fn field(self) -> &'static str {
        match self {
            Self::PAt1 => "p_at_1",
            Self::HitAt5 => "hit_at_5",
            Self::HitAt10 => "hit_at_10",
            Self::Mrr => "mrr",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::PAt1 => "P@1",
            Self::HitAt5 => "hit@5",
            Self::HitAt10 => "hit@10",
            Self::Mrr => "MRR",
        }
    }
}

impl PlantScore {
    fn word(self) -> &'static str {
        match self {
            Self::Top => "top_1",
            Self::DecisiveRight => "decisive_right",
            Self::DecisiveWrong => "decisive_wrong",
        }
    }

    /// Name in tables.
    pub(super) fn title(self) -> &'static str {
        match self {
            Self::Top => "top-1",
            Self::DecisiveRight => "decisive and right",
            Self::DecisiveWrong => "decisive and wrong",
        }
    }
}

impl Metric {
    /// Name in JSON: a field, or an object with a field.
    pub(super) fn path(self) -> (&'static str, Option<&'static str>) {
        match self {
            Self::Ranked(page_match, ranking) => (page_match.word(), Some(ranking.field())),
            Self::UrlCeiling => (PageMatch::Url.word(), Some("ceiling")),
            Self::PrecisionAt10 => ("precision_at_10", None),
            Self::AnswerRelevance => ("answer_relevance", None),
            Self::NotJudgedRate => ("not_judged_rate", None),
            Self::TokenF1 => ("token_f1", None),
            Self::GoldRecall => ("gold_recall", None),
            Self::GoldContained => ("gold_contained", None),
            Self::OosRate => ("oos_rate", None),
            Self::ExpectedOosRate => ("expected_oos_rate", None),
            Self::RefusedWithGoldRate => ("refused_with_gold_rate", None),
            Self::CitedRate => ("cited_rate", None),
            Self::CitedUnaskedRate => ("cited_unasked_rate", None),
            Self::CitationValidity => ("citation_validity", None),
            Self::CitesGoldRate => ("cites_gold_rate", None),
            Self::UnsupportedRate => ("unsupported_rate", None),
            Self::PartlySupportedRate => ("partly_supported_rate", None),
            Self::GoldRetrievedRate => ("gold_retrieved_rate", None),
            Self::Accuracy(way) => ("attribution_accuracy", Some(way.word())),
            Self::DecisiveRate => ("decisive_rate", Some(Way::Counterfactual.word())),
            Self::FirstHitAccuracy => ("first_hit_accuracy", None),
            Self::PlantedRate => ("planted_rate", None),
            Self::PlantTakenRate => ("taken_rate", None),
            Self::Plant(score, way) => (score.word(), Some(way.word())),
        }
    }

    /// Name in JSON as one word: `page.p_at_1`.
    pub(super) fn word(self) -> String {
        match self.path() {
            (field, None) => field.to_owned(),
            (object, Some(field)) => format!("{object}.{field}"),
        }
    }

    /// Name in tables.
    #[must_use]
    pub fn title(self) -> String {
        let title = match self {
            Self::Ranked(PageMatch::Page, ranking) => ranking.title(),
            Self::Ranked(page_match, ranking) => return format!("{} {}", page_match.word(), ranking.title()),
            Self::UrlCeiling => "url ceiling",
            Self::PrecisionAt10 => "P@10",
            Self::AnswerRelevance => "relevance",
            Self::NotJudgedRate => "not judged",
            Self::TokenF1 => "F1",
            Self::GoldRecall => "recall",
            Self::GoldContained => "contains gold",
            Self::OosRate => "out of scope",
            Self::ExpectedOosRate => "expected",
            Self::RefusedWithGoldRate => "refused with gold",
            Self::CitedRate => "cites",
            Self::CitedUnaskedRate => "unasked",
            Self::CitationValidity => "valid citations",
            Self::CitesGoldRate => "cites gold",
            Self::UnsupportedRate => "unsupported",
            Self::PartlySupportedRate => "partly",
            Self::GoldRetrievedRate => "gold retrieved",
            Self::Accuracy(way) | Self::Plant(PlantScore::Top, way) => way.title(),
            Self::DecisiveRate => "decisive",
            Self::FirstHitAccuracy => "first hit",
            Self::PlantedRate => "planted",
            Self::PlantTakenRate => "taken",
            Self::Plant(score, way) => return format!("{}, {}", score.title(), way.title()),
        };
        title.to_owned()
    }
}
