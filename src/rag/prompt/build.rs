//! Builds the prompts: instructions, evidence, history and question within the budget.
//!
//! The budget is fixed before generation: context − answer − instructions − question − history is left for evidence,
//! and what does not fit is cut from the lowest-ranked evidence up. Of a page in several versions only those are
//! sources that the question is about.
//! Invariants: prompt and answer reserve never exceed the context; no evidence takes more than its share of the evidence
//! budget; what is in the prompt and under which number does not depend on the order of the sources; every cut is named.
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

/// The user's next turn: a model that writes it has finished its own. RAGonite, Sec. 4.
const STOP: &str = "User:";

/// Small models go on with the form of the prompt where an answer is done: another question, or another answer to it.
const FORMS: [&str; 5] = ["\nQuestion:", "\nFrage:", "\nAnswer:", "\nAntwort:", "\nAntworte:"];

/// An evidence cut below this many tokens says nothing any more and is dropped instead.
const LEAST_TOKENS: usize = 24;

/// Characters of a date as the source gives it.
const LONGEST_DATE: usize = 32;

/// What an answer is generated from.
#[derive(Debug, Clone, Copy)]
pub struct AnswerPrompt<'a> {
    /// Who the model is and what the domain is about; empty for the default.
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

/// What a follow-up is completed from.
#[derive(Debug, Clone, Copy)]
pub struct RewritePrompt<'a> {
    /// Who the model is and what the domain is about; empty for the default.
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
    /// The prompt, counted with the generator's own tokens.
    ///
    /// # Errors
    /// [`PromptError::NoRoom`] where instructions and question alone fill the context.
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
    /// The sources in this order; they come the best first.
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
    /// The prompt, counted with the generator's own tokens.
    ///
    /// # Errors
    /// [`PromptError::NoRoom`] where instructions and question alone fill the context.
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

/// The parts of a prompt that are always there, and the tokens they leave.
pub(super) struct Frame<'a> {
    generator: &'a dyn Generate,
    /// Up to the place of evidence and history.
    before: Vec<Segment>,
    /// From the question on.
    after: Vec<Segment>,
    room: usize,
}

impl<'a> Frame<'a> {
    /// A chat of instructions and a question, with `reserve` tokens kept free for what the model says.
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

    /// The latest turns that fit, as one segment; the oldest are left out first.
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

    /// The chat with these segments before the question.
    pub(super) fn prompt(self, user: impl IntoIterator<Item = Segment>, stop: Vec<String>, cut: Vec<Cut>) -> Prompt {
        let segments = self.before.into_iter().chain(user).chain(self.after).collect();
        Prompt { segments, stop, cut }
    }
}

/// Fits evidences into their budget.
struct Evidences<'a> {
    generator: &'a dyn Generate,
    budget: usize,
    /// Most tokens of one evidence.
    share: usize,
    neighbours: Neighbours,
}

/// What of the evidences is in the prompt.
#[derive(Default)]
struct Chosen {
    /// What is around several sources.
    around: Vec<Segment>,
    /// The best first.
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
            // What a source would have said for others, and is cut itself, they say again.
            if whole.len() == before {
                return Ok(chosen);
            }
        }
    }

    /// The sources with these texts that fit, and what was cut. What is around several counts with the best of them; where
    /// that one does not fit beside it, it is not around it.
    fn fit(&self, ranked: &[&Hit], said: &SharedContexts) -> Result<Chosen, PromptError> {
        let Chosen { mut around, mut sources, mut cut } = Chosen::default();
        let mut left = self.budget;
        for (hit, text) in ranked.iter().copied().zip(&said.of_hits) {
            for segment in self.around(hit, said)? {
                left = left.saturating_sub(segment.tokens);
                around.push(segment);
            }
            let mark = mark(hit, ranked);
            let whole = self.source((hit, &mark), text)?;
            let limit = left.min(self.share);
            let missing = |tokens: usize, how| Cut { rank: hit.rank, evidence: hit.evidence, tokens, how };
            if is_replaced(hit, ranked) {
                cut.push(missing(whole.tokens, CutHow::Version));
                continue;
            }
            let (wanted, cut_by_budget) = (whole.tokens, left < whole.tokens.min(self.share));
            let fitted = if wanted <= limit { Some(whole) } else { self.shortened((hit, &mark), text, limit)? };
            let Some(source) = fitted else {
                cut.push(missing(wanted, CutHow::Dropped));
                left = if cut_by_budget { 0 } else { left };
                continue;
            };
            if source.tokens < wanted {
                cut.push(missing(wanted - source.tokens, CutHow::Shortened));
            }
            if *text != hit.text {
                let with_all = self.source((hit, &mark), &hit.text)?.tokens;
                cut.push(missing(with_all.saturating_sub(wanted), CutHow::Neighbour));
            }
            // A lower rank never stands in the prompt where a higher one was cut for lack of room.
            left = if cut_by_budget { 0 } else { left - source.tokens };
            sources.push(source);
        }
        Ok(Chosen { around, sources, cut })
    }

    /// What is around a hit and others, of which it is the best.
    fn around(&self, hit: &Hit, said: &SharedContexts) -> Result<Vec<Segment>, PromptError> {
        let of_hit = said.around.iter().filter(|one| one.ranks.first() == Some(&hit.rank));
        let segment_of = |SharedContext { ranks, text }: &SharedContext| {
            segment(self.generator, Part::SharedContext { ranks: ranks.clone() }, wording::around(ranks, text)?)
        };
        of_hit.map(segment_of).collect()
    }

    fn shortened(&self, source: (&Hit, &str), text: &str, limit: usize) -> Result<Option<Segment>, PromptError> {
        if limit < LEAST_TOKENS {
            return Ok(None);
        }
        let text = shorten(text, |text| Ok::<_, PromptError>(self.source(source, text)?.tokens <= limit))?;
        text.map(|text| self.source(source, &text)).transpose()
    }

    fn source(&self, (hit, mark): (&Hit, &str), text: &str) -> Result<Segment, PromptError> {
        let rank = hit.rank;
        segment(self.generator, Part::Evidence { rank }, wording::source(rank, mark, text)?)
    }
}

/// Whether a better source is the version of the same page that the question is about. A small model given both answers
/// from either.
fn is_replaced(hit: &Hit, hits: &[&Hit]) -> bool {
    let Some(version) = hit.version.filter(|version| version.wanted == Preference::No) else { return false };
    let of_page = |other: &Version| other.newest == version.newest && other.wanted == Preference::Yes;
    hits.iter().any(|other| other.rank < hit.rank && other.version.as_ref().is_some_and(of_page))
}

/// What tells sources of one page apart: which version one is from, and its date. Pages with the same title in the same
/// space have their date alone: whatever their texts say, the later one may hold where they differ. Empty for all others.
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
