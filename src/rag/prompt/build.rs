//! Builds prompts: instructions, evidence, history and question within the token budget.
//!
//! The budget is fixed before generation: context − answer − instructions − question − history is left for evidence;
//! evidence that does not fit is cut, lowest rank first. Of several versions of a page only those that the question is
//! about become sources.
//! Invariants: prompt and answer reserve never exceed the context; no evidence exceeds its share of the evidence
//! budget; content and source numbers do not depend on the order of the sources; every cut is recorded.
//! Not here: wording (`assets/prompts`), generating.

use std::cmp::Reverse;

use super::chat::{self, ChatPiece};
use super::shared_context::{SharedContext, SharedContexts, shared_contexts};
use super::shorten::shorten;
use super::wording::{self, Task};
use super::{Cut, CutHow, HistoryTurn, Neighbours, Part, Prompt, PromptError, PromptSettings, Segment, SourceOrder};
use crate::retrieval::{Hit, Preference, Version};
use ragonite_base::Language;
use ragonite_inference::{Generate, PromptPart, SpecialTokens};

/// The next turn of the user: a model that writes it has finished its own. RAGonite, Sec. 4.
const STOP: &str = "User:";

/// After an answer, small models repeat the form of the prompt: another question or another answer.
const FORMS: [&str; 5] = ["\nQuestion:", "\nFrage:", "\nAnswer:", "\nAntwort:", "\nAntworte:"];

/// Fewest tokens of a shortened evidence; below it is dropped.
const LEAST_TOKENS: usize = 24;

/// Most characters of a date.
const LONGEST_DATE: usize = 32;

/// The input of an answer prompt.
#[derive(Debug, Clone, Copy)]
pub struct AnswerPrompt<'a> {
    /// Role of the model and topic of the domain; empty for the default.
    pub prefix: &'a str,
    /// Language of instructions and answer.
    pub language: Language,
    /// Earlier turns, oldest first.
    pub past: &'a [HistoryTurn],
    /// The completed question.
    pub question: &'a str,
    /// The evidences with their ranks, in any order.
    pub hits: &'a [Hit],
    /// Limits.
    pub settings: &'a PromptSettings,
}

/// The input of a rewrite prompt.
#[derive(Debug, Clone, Copy)]
pub struct RewritePrompt<'a> {
    /// Role of the model and topic of the domain; empty for the default.
    pub prefix: &'a str,
    /// Language of the question.
    pub language: Language,
    /// Earlier turns, oldest first.
    pub past: &'a [HistoryTurn],
    /// The question as typed.
    pub question: &'a str,
    /// Limits.
    pub settings: &'a PromptSettings,
}

impl AnswerPrompt<'_> {
    /// The prompt; the generator's tokenizer counts.
    ///
    /// # Errors
    /// [`PromptError::NoRoom`] if instructions and question alone fill the context.
    pub fn build(&self, generator: &dyn Generate) -> Result<Prompt, PromptError> {
        let task = Task::answer(self.language);
        let system = task.system(self.prefix, self.language)?;
        let question = task.question(self.question, self.language)?;
        let mut frame = Frame::new(generator, &system, &question, self.settings.answer_tokens)?;
        let history = frame.history(&task, self.past, self.settings)?;
        let budget = frame.room.min(self.settings.evidence_tokens);
        let share = share(budget, self.settings.share_cap);
        let evidences = Evidences { generator, budget, share, neighbours: self.settings.neighbours };
        let Chosen { around, sources, cut } = evidences.choose(self.hits)?;
        let user = around.into_iter().chain(self.settings.order.of(sources)).chain(history);
        let stop = std::iter::once(STOP).chain(FORMS).map(str::to_owned).collect();
        Ok(frame.prompt(user, stop, cut))
    }
}

impl SourceOrder {
    /// The sources, given best first, in this order.
    fn of(self, mut sources: Vec<Segment>) -> Vec<Segment> {
        if matches!(self, Self::LongestFirst | Self::BestLast) {
            sources.reverse();
        }
        let others = match self {
            Self::LongestFirst => sources.split_last_mut().map(|(_best, others)| others),
            Self::BestThenLongest => sources.split_first_mut().map(|(_best, others)| others),
            Self::BestLast | Self::BestFirst => None,
        };
        if let Some(others) = others {
            others.sort_by_key(|source| Reverse(source.tokens));
        }
        sources
    }
}

impl RewritePrompt<'_> {
    /// The prompt; the generator's tokenizer counts.
    ///
    /// # Errors
    /// [`PromptError::NoRoom`] if instructions and question alone fill the context.
    pub fn build(&self, generator: &dyn Generate) -> Result<Prompt, PromptError> {
        let task = Task::rewrite();
        let system = task.system(self.prefix, self.language)?;
        let question = task.question(self.question, self.language)?;
        let mut frame = Frame::new(generator, &system, &question, self.settings.rewrite_tokens)?;
        let history = frame.history(&task, self.past, self.settings)?;
        Ok(frame.prompt(history, vec!["\n".to_owned(), STOP.to_owned()], Vec::new()))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a share of a few thousand tokens"
)]
fn share(budget: usize, cap: f64) -> usize {
    (budget as f64 * cap.clamp(0.0, 1.0)).floor() as usize
}

pub(super) fn segment(generator: &dyn Generate, part: Part, text: String) -> Result<Segment, PromptError> {
    let special = if part == Part::Template { SpecialTokens::Parse } else { SpecialTokens::AsText };
    let counted = PromptPart { text, special };
    let tokens = generator.count_tokens(&counted)?;
    Ok(Segment { part, text: counted.text, special, tokens })
}

/// The fixed parts of a prompt, and the tokens left.
pub(super) struct Frame<'a> {
    generator: &'a dyn Generate,
    /// Segments before evidence and history.
    before: Vec<Segment>,
    /// Segments from the question on.
    after: Vec<Segment>,
    room: usize,
}

impl<'a> Frame<'a> {
    /// A chat of instructions and question; `reserve` tokens stay free for the output.
    pub(super) fn new(
        generator: &'a dyn Generate,
        system: &str,
        question: &str,
        reserve: usize,
    ) -> Result<Self, PromptError> {
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for piece in chat::render(generator.identity())? {
            match piece {
                ChatPiece::Template(text) if after.is_empty() => {
                    before.push(segment(generator, Part::Template, text)?);
                }
                ChatPiece::Template(text) => after.push(segment(generator, Part::Template, text)?),
                ChatPiece::System => before.push(segment(generator, Part::System, system.to_owned())?),
                ChatPiece::User => after.push(segment(generator, Part::Question, question.to_owned())?),
            }
        }
        let context = generator.identity().context_tokens;
        let needed = reserve + before.iter().chain(&after).map(|segment| segment.tokens).sum::<usize>();
        let room = context.checked_sub(needed).ok_or(PromptError::NoRoom { needed, context })?;
        Ok(Self { generator, before, after, room })
    }

    /// The latest turns that fit, as one segment; the oldest are dropped first.
    fn history(
        &mut self,
        task: &Task,
        past: &[HistoryTurn],
        settings: &PromptSettings,
    ) -> Result<Option<Segment>, PromptError> {
        let budget = self.room.min(settings.history_tokens);
        for oldest in past.len().saturating_sub(settings.history_turns)..past.len() {
            let history = segment(self.generator, Part::History, task.history(&past[oldest..])?)?;
            if history.tokens <= budget {
                self.room -= history.tokens;
                return Ok(Some(history));
            }
        }
        Ok(None)
    }

    /// The prompt with these segments before the question.
    pub(super) fn prompt(self, user: impl IntoIterator<Item = Segment>, stop: Vec<String>, cut: Vec<Cut>) -> Prompt {
        let segments = self.before.into_iter().chain(user).chain(self.after).collect();
        Prompt { segments, stop, cut }
    }
}

/// Fits evidences into their budget.
struct Evidences<'a> {
    generator: &'a dyn Generate,
    budget: usize,
    /// Most tokens of an evidence.
    share: usize,
    neighbours: Neighbours,
}

/// The evidences in the prompt.
#[derive(Default)]
struct Chosen {
    /// Shared context of several sources.
    around: Vec<Segment>,
    /// Best first.
    sources: Vec<Segment>,
    cut: Vec<Cut>,
}

impl Evidences<'_> {
    fn choose(&self, hits: &[Hit]) -> Result<Chosen, PromptError> {
        let mut ranked: Vec<&Hit> = hits.iter().collect();
        ranked.sort_by_key(|hit| hit.rank);
        let mut whole: Vec<usize> = match self.neighbours {
            Neighbours::Once => ranked.iter().filter(|hit| !is_replaced(hit, &ranked)).map(|hit| hit.rank).collect(),
            Neighbours::Each => Vec::new(),
        };
        loop {
            let chosen = self.fit(&ranked, &shared_contexts(&ranked, |hit| whole.contains(&hit.rank)))?;
            let before = whole.len();
            whole.retain(|rank| chosen.cut.iter().all(|cut| cut.rank != *rank || cut.how == CutHow::Neighbour));
            // The others must repeat the shared text of a source that is cut itself.
            if whole.len() == before {
                return Ok(chosen);
            }
        }
    }

    /// The sources that fit, and the cuts. The tokens of a shared context count with its best source; if that source
    /// does not fit beside it, it has no shared context.
    fn fit(&self, ranked: &[&Hit], contexts: &SharedContexts) -> Result<Chosen, PromptError> {
        let Chosen { mut around, mut sources, mut cut } = Chosen::default();
        let mut left = self.budget;
        for (hit, text) in ranked.iter().copied().zip(&contexts.of_hits) {
            for segment in self.around(hit, contexts)? {
                left = left.saturating_sub(segment.tokens);
                around.push(segment);
            }
            let mark = mark(hit, ranked);
            let whole = self.source(hit, &mark, text)?;
            let limit = left.min(self.share);
            let missing = |tokens: usize, how| Cut { rank: hit.rank, evidence: hit.evidence, tokens, how };
            if is_replaced(hit, ranked) {
                cut.push(missing(whole.tokens, CutHow::Version));
                continue;
            }
            let (wanted, cut_by_budget) = (whole.tokens, left < whole.tokens.min(self.share));
            let fitted = if wanted <= limit { Some(whole) } else { self.shortened(hit, &mark, text, limit)? };
            let Some(source) = fitted else {
                cut.push(missing(wanted, CutHow::Dropped));
                left = if cut_by_budget { 0 } else { left };
                continue;
            };
            if source.tokens < wanted {
                cut.push(missing(wanted - source.tokens, CutHow::Shortened));
            }
            if *text != hit.text {
                let with_all = self.source(hit, &mark, &hit.text)?.tokens;
                cut.push(missing(with_all.saturating_sub(wanted), CutHow::Neighbour));
            }
            // A source never stands in the prompt if a better one was dropped for lack of room.
            left = if cut_by_budget { 0 } else { left - source.tokens };
            sources.push(source);
        }
        Ok(Chosen { around, sources, cut })
    }

    /// The shared contexts whose best source is this hit.
    fn around(&self, hit: &Hit, contexts: &SharedContexts) -> Result<Vec<Segment>, PromptError> {
        let of_hit = contexts.around.iter().filter(|one| one.ranks.first() == Some(&hit.rank));
        let segment_of = |SharedContext { ranks, text }: &SharedContext| {
            segment(self.generator, Part::SharedContext { ranks: ranks.clone() }, wording::around(ranks, text)?)
        };
        of_hit.map(segment_of).collect()
    }

    fn shortened(&self, hit: &Hit, mark: &str, text: &str, limit: usize) -> Result<Option<Segment>, PromptError> {
        if limit < LEAST_TOKENS {
            return Ok(None);
        }
        let text = shorten(text, |text| Ok::<_, PromptError>(self.source(hit, mark, text)?.tokens <= limit))?;
        text.map(|text| self.source(hit, mark, &text)).transpose()
    }

    fn source(&self, hit: &Hit, mark: &str, text: &str) -> Result<Segment, PromptError> {
        let rank = hit.rank;
        segment(self.generator, Part::Evidence { rank }, wording::source(rank, mark, text)?)
    }
}

/// Whether a better source is the version of this page that the question is about. Given both, a small model answers
/// from either.
fn is_replaced(hit: &Hit, hits: &[&Hit]) -> bool {
    let Some(version) = hit.version.filter(|version| version.wanted == Preference::No) else { return false };
    let of_page = |other: &Version| other.newest == version.newest && other.wanted == Preference::Yes;
    hits.iter().any(|other| other.rank < hit.rank && other.version.as_ref().is_some_and(of_page))
}

/// The label that tells sources of a page apart: version and date. Pages with the same title in the same space get
/// their date, because the later one may be in force. Empty for all others.
fn mark(hit: &Hit, hits: &[&Hit]) -> String {
    let is_namesake =
        |other: &Hit| other.document != hit.document && other.title == hit.title && other.space == hit.space;
    let date = || hit.date_shown().map(|date| date.chars().take(LONGEST_DATE).collect::<String>());
    match hit.version {
        Some(version) => version.age.label().to_owned() + &date().map(|date| format!(", {date}")).unwrap_or_default(),
        None if hits.iter().copied().any(is_namesake) => date().unwrap_or_default(),
        None => String::new(),
    }
}
