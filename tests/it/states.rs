//! Every pane in every state, as stages to draw: empty, loading, full, failed.
//!
//! Not here: the checks (`look`, `panes`).

use crossterm::event::{KeyCode, KeyModifiers};
use ragonite::app::{DomainSummary, Event, FetchSupport, MissingModels, Problem, TurnKey};
use ragonite::base::Millis;
use ragonite::history::ConversationRecord;
use ragonite::index::{IngestProgress, IngestStage};
use ragonite::rag::answer::{Answer, RewriteHow};
use ragonite::rag::attribution::{Cluster, Method, Provenance};
use ragonite::tui::{Pane, Theme};

use crate::compare::{compared, menu, not_answered, searched_again};
use crate::context::{document_gone, not_tried, trying, without_before};
use crate::screen::{
    ANSWER, NOW, Stage, Verdict, answer, attribution, cluster, conversation, domain, domain_name, retrieved, rewrite,
};

/// Name of a state, and its stage in a theme.
pub(crate) type State = (&'static str, fn(Theme) -> Stage);

/// All states: pane, then state.
pub(crate) fn states() -> Vec<State> {
    vec![
        ("conversation empty", |theme| Stage::open().in_theme(theme).at(Pane::Conversation)),
        ("conversation loading", |theme| reading().in_theme(theme).at(Pane::Conversation)),
        ("conversation full", |theme| two_turns().in_theme(theme).at(Pane::Conversation)),
        ("conversation error", |theme| failed().in_theme(theme).at(Pane::Conversation)),
        ("conversation without models", |theme| without_models().in_theme(theme)),
        ("conversation explained", |theme| {
            Stage::explained(Verdict::SomeDecide).in_theme(theme).at(Pane::Conversation)
        }),
        ("composer empty", |theme| Stage::open().in_theme(theme)),
        ("composer loading", |theme| reading().in_theme(theme)),
        ("composer full", |theme| written(Stage::answered().in_theme(theme))),
        ("composer error", |theme| failed().in_theme(theme)),
        ("evidence empty", |theme| Stage::open().in_theme(theme).at(Pane::Evidence)),
        ("evidence loading", |theme| Stage::asked(QUESTION).in_theme(theme).at(Pane::Evidence)),
        ("evidence full", |theme| Stage::answered().in_theme(theme).at(Pane::Evidence)),
        ("evidence error", |theme| nothing_found().in_theme(theme).at(Pane::Evidence)),
        ("behind empty", |theme| Stage::open().in_theme(theme).at(Pane::Behind)),
        ("behind loading", |theme| reading().in_theme(theme).at(Pane::Behind)),
        ("behind full", |theme| Stage::explained(Verdict::SomeDecide).in_theme(theme).at(Pane::Behind)),
        ("behind error", |theme| failed().in_theme(theme).at(Pane::Behind)),
        ("why empty", |theme| Stage::open().in_theme(theme).at(Pane::Why)),
        ("why loading", |theme| explaining().in_theme(theme).at(Pane::Why)),
        ("why compared", |theme| only_compared().in_theme(theme).at(Pane::Why)),
        ("why full", |theme| opened(Stage::explained(Verdict::SomeDecide).in_theme(theme).at(Pane::Why))),
        ("why error", |theme| failed().in_theme(theme).at(Pane::Why)),
        ("lists empty", |theme| no_domain().in_theme(theme).at(Pane::Lists)),
        ("lists loading", |theme| Stage::new().in_theme(theme).at(Pane::Lists)),
        ("lists full", |theme| with_trash().in_theme(theme).at(Pane::Lists)),
        ("lists error", |theme| broken_domain(theme)),
        ("lists answering", |theme| left().in_theme(theme).at(Pane::Lists)),
        ("conversation not stored", |theme| unsaved().in_theme(theme).at(Pane::Conversation)),
        ("context empty", |theme| Stage::answered().in_theme(theme).at(Pane::Evidence).key('j').key('a')),
        ("context loading", |theme| trying(Stage::answered().in_theme(theme))),
        ("context full", |theme| without_before(Stage::answered().in_theme(theme))),
        ("context error", |theme| not_tried(Stage::answered().in_theme(theme))),
        ("compare full", |theme| menu(Stage::answered().in_theme(theme))),
        ("comparison loading", |theme| searched_again(Stage::answered().in_theme(theme))),
        ("comparison full", |theme| compared(Stage::answered().in_theme(theme))),
        ("comparison error", |theme| not_answered(Stage::answered().in_theme(theme))),
        ("document full", |theme| Stage::answered().in_theme(theme).at(Pane::Evidence).key('o')),
        ("document error", |theme| document_gone(Stage::answered().in_theme(theme))),
        ("lists ingesting", |theme| ingesting().in_theme(theme).at(Pane::Lists)),
        ("new domain", new_domain),
        ("new domain error", refused_domain),
        ("help full", |theme| Stage::answered().in_theme(theme).at(Pane::Conversation).key('?')),
        ("help looked through", |theme| looked_through(Stage::answered().in_theme(theme).at(Pane::Conversation))),
        ("palette empty", no_action),
        ("palette full", palette),
        ("settings error", refused_setting),
        ("settings full", |theme| Stage::answered().in_theme(theme).at(Pane::Conversation).key('S')),
        ("reasons full", |theme| Stage::answered().in_theme(theme).at(Pane::Conversation).key('-')),
        ("title full", |theme| Stage::answered().in_theme(theme).at(Pane::Conversation).key('r')),
        ("export full", |theme| Stage::answered().in_theme(theme).at(Pane::Conversation).key('w')),
        ("purge full", |theme| with_trash().in_theme(theme).at(Pane::Lists).key('G').key('D')),
    ]
}

const QUESTION: &str = "Who replaces the modem?";
const FIRST: TurnKey = TurnKey(1);

fn reading() -> Stage {
    let mut stage = Stage::searched(QUESTION);
    stage.play([
        Event::PromptBuilt { turn: FIRST, tokens: 1240, sources: 4, cut: vec![] },
        Event::PromptRead { turn: FIRST, done: 558, total: 1240 },
    ]);
    stage
}

/// An answer and a follow-up that is out of scope.
pub(crate) fn two_turns() -> Stage {
    let mut stage = Stage::answered();
    let turn = TurnKey(2);
    let completed = "When is the replacement of the satellite modem of station Kestrel due?";
    stage.play([
        Event::QuestionAsked { text: "And when is it due?".into(), at: NOW },
        Event::QuestionCompleted { turn, rewrite: Box::new(rewrite(completed, RewriteHow::Model)) },
        Event::HitsRetrieved { turn, retrieved: Box::new(retrieved(completed)) },
    ]);
    let text = "The information is not in the sources.";
    stage.finish(turn, Answer { answered: false, citations: vec![], ..answer(text, vec![]) });
    stage
}

/// An answer that could not be stored.
pub(crate) fn unsaved() -> Stage {
    let mut stage = Stage::searched(QUESTION);
    let problem = Problem {
        what: "storing a turn in `history.db`: no space left on the disk".into(),
        next: "Free some space on the disk and try again; what was stored before is still there.".into(),
    };
    stage.play([
        Event::AnswerFinished { turn: FIRST, answer: Box::new(answer("Alice [Source 1].", vec![])) },
        Event::SaveFailed { turn: FIRST, problem },
    ]);
    stage
}

/// Two background conversations: one being answered and one whose answer could not be stored.
fn left() -> Stage {
    let mut stage = unsaved();
    stage.play([
        Event::ProblemDismissed,
        Event::ConversationStarted,
        Event::QuestionAsked { text: "Which boards have revision C?".into(), at: NOW },
        Event::ConversationStarted,
    ]);
    stage
}

fn failed() -> Stage {
    let mut stage = Stage::searched(QUESTION);
    let problem = Problem {
        what: "loading the generator: opening qwen2.5-coder-1.5b-instruct-q4_k_m.gguf: no such file".into(),
        next: "Fetch it with `ragonite models pull`, or choose another profile".into(),
    };
    stage.play([Event::JobFailed { job: FIRST.job(), problem }]);
    stage
}

fn nothing_found() -> Stage {
    let mut stage = Stage::asked(QUESTION);
    let found = ragonite::rag::retrieval::Retrieved { hits: Vec::new(), ..retrieved(QUESTION) };
    stage.play([
        Event::QuestionCompleted { turn: FIRST, rewrite: Box::new(rewrite(QUESTION, RewriteHow::First)) },
        Event::HitsRetrieved { turn: FIRST, retrieved: Box::new(found) },
    ]);
    let text = "The information is not in the sources.";
    stage.finish(FIRST, Answer { answered: false, citations: vec![], ..answer(text, vec![]) });
    stage
}

fn explaining() -> Stage {
    let mut stage = Stage::answered();
    let clusters = attribution(Verdict::SomeDecide).clusters[..1].to_vec();
    stage.play([
        Event::ExplainRequested { turn: 0, method: Method::Counterfactual },
        Event::AttributionAdvanced { job: FIRST.job(), done: 2, total: 5, clusters, elapsed: Millis(40.0) },
    ]);
    stage
}

/// Only similarities are known of the sources.
fn only_compared() -> Stage {
    let mut stage = Stage::answered();
    let cosines = [(1, 0.71, 0.27), (2, 0.66, 0.26), (3, 0.58, 0.24), (4, 0.51, 0.23)];
    let alike = |(rank, cosine, share)| Cluster {
        counterfactual_answer: None,
        ..cluster(&[rank], Provenance::Similarity, cosine, Some(share), "")
    };
    stage.play([
        Event::ExplainRequested { turn: 0, method: Method::Counterfactual },
        Event::AttributionAdvanced {
            job: FIRST.job(),
            done: 0,
            total: 0,
            clusters: cosines.map(alike).into(),
            elapsed: Millis(40.0),
        },
    ]);
    stage
}

/// The first cluster opened, with its counterfactual answer.
pub(crate) fn opened(mut stage: Stage) -> Stage {
    stage.frame((120, 40));
    stage.press(KeyCode::Enter, KeyModifiers::NONE);
    stage
}

/// A question of several lines with a wide word.
fn written(mut stage: Stage) -> Stage {
    let text =
        "Welches Gerät wird ersetzt, und wer führt die Arbeit an der Station Kestrel?\nAnd what does 手順書 say of it?";
    stage.input(&crossterm::event::Event::Paste(text.into()));
    stage
}

pub(crate) fn without_models() -> Stage {
    let mut stage = Stage::new();
    let missing = MissingModels {
        profile: "starter".into(),
        models: vec!["all-MiniLM-L6-v2".into(), "qwen2.5-coder-1.5b-instruct".into()],
        folders: vec!["~/.local/share/ragonite/models".into(), "./models".into()],
        fetching: FetchSupport::BuiltIn,
    };
    stage.play([Event::ModelsLooked { missing: Some(missing), generators: Vec::new() }, Event::DomainsListed(vec![])]);
    stage
}

fn no_domain() -> Stage {
    let mut stage = Stage::new();
    stage.play([Event::DomainsListed(vec![])]);
    stage
}

fn with_trash() -> Stage {
    let mut stage = Stage::answered();
    let trash = vec![ConversationRecord { deleted_at: Some(NOW), ..conversation(9, "Ist das Modem alt?") }];
    let pinned = ConversationRecord { pinned: true, ..conversation(2, QUESTION) };
    let others = (3..30).map(|id| conversation(id, &format!("Question number {id} about the stations in the north")));
    let conversations = std::iter::once(pinned).chain(others).collect();
    stage.play([Event::ConversationsListed { domain: domain_name(), conversations, trash }]);
    stage
}

fn broken_domain(theme: Theme) -> Stage {
    let mut stage = Stage::new().in_theme(theme);
    let problem = Problem {
        what: "it was made with the embedder bge-m3".into(),
        next: "Re-embed it with `ragonite domain rebuild old`".into(),
    };
    let broken = DomainSummary { name: "old".parse().unwrap(), problem: Some(problem.clone()), ..domain() };
    let name = broken.name.clone();
    stage.play([
        Event::DomainsListed(vec![broken]),
        Event::DomainChosen(name.clone()),
        Event::DomainFailed { name, problem },
    ]);
    stage.at(Pane::Lists)
}

/// An ingest beside an answer.
pub(crate) fn ingesting() -> Stage {
    let mut stage = Stage::answered();
    let progress = IngestProgress {
        stage: IngestStage::Embedding,
        done: 12,
        total: 40,
        embedded: 90,
        current: "wiki/a.html".into(),
    };
    stage.play([
        Event::IngestWanted { domain: "notes".parse().unwrap(), path: "~/notes".into() },
        Event::IngestAdvanced(progress),
    ]);
    stage
}

fn new_domain(theme: Theme) -> Stage {
    let mut stage = no_domain().in_theme(theme).at(Pane::Composer);
    stage.press(KeyCode::F(8), KeyModifiers::NONE);
    stage.input(&crossterm::event::Event::Paste("/srv/Team Wiki".into()));
    stage.press(KeyCode::Enter, KeyModifiers::NONE);
    stage
}

fn refused_domain(theme: Theme) -> Stage {
    let mut stage = Stage::open().in_theme(theme).at(Pane::Lists).key('A');
    stage.input(&crossterm::event::Event::Paste("/srv/wiki".into()));
    stage.press(KeyCode::Enter, KeyModifiers::NONE);
    stage.press(KeyCode::Enter, KeyModifiers::NONE);
    stage
}

/// The help at the second match of a word.
fn looked_through(stage: Stage) -> Stage {
    let mut stage = stage.key('?').key('/');
    stage.input(&crossterm::event::Event::Paste("sentence".into()));
    stage.press(KeyCode::Enter, KeyModifiers::NONE);
    stage.frame((80, 24));
    stage.key('n')
}

/// No action matches.
fn no_action(theme: Theme) -> Stage {
    let mut stage = palette(theme);
    stage.input(&crossterm::event::Event::Paste("no such action".into()));
    stage
}

/// An invalid value of a setting.
fn refused_setting(theme: Theme) -> Stage {
    let mut stage = Stage::answered().in_theme(theme).at(Pane::Conversation).key('S');
    stage.input(&crossterm::event::Event::Key(KeyCode::Char('0').into()));
    stage.press(KeyCode::Enter, KeyModifiers::NONE);
    stage
}

fn palette(theme: Theme) -> Stage {
    let mut stage = Stage::answered().in_theme(theme);
    stage.press(KeyCode::Char('p'), KeyModifiers::CONTROL);
    stage
}

/// A very long answer, which must fit or be cut.
pub(crate) fn long_answer() -> Answer {
    answer(&[ANSWER; 12].join("\n\n"), vec![9])
}
