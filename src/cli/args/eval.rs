//! Command line of `ragonite eval`.
//!
//! Not here: the measurements (`ragonite_eval`).

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::word;
use ragonite_base::{DomainName, Language};
use ragonite_document::evidence::{ContextParts, Kind, Linearizer, TableEvidence};
use ragonite_eval::{Ablation, Completion};
use ragonite_rag::attribution::Method;
use ragonite_rag::retrieval::{Fusion, Mode, Reranking, Translate};

/// `ragonite eval …`.
#[derive(Debug, Subcommand)]
pub enum Eval {
    /// Ask every question, and say how often its gold page is found: P@1, hit@k, MRR, by slice
    Retrieval(EvalRetrieval),
    /// Answer every question with the generator, and say what the answers are worth: a judge's rating, words shared with
    /// the gold answer, citations, out-of-scope answers, by slice. A question takes a minute or more without a GPU;
    /// Esc or Ctrl+C stops, and the next run goes on
    Answers(EvalAnswers),
    /// Explain the answers, and say how often each method points at the gold page, by slice. A question takes several
    /// minutes without a GPU; Esc or Ctrl+C stops, and the next run goes on
    Attribution(EvalAttribution),
    /// Give reference answers and wrong ones to the check of support, and say how often it is right; asks no
    /// generator
    Support(EvalSupport),
    /// Put another fact in place of the gold fact in one source, ask again, and say how often each method names that
    /// source as the one the answer depends on. A question takes several minutes without a GPU; Esc or Ctrl+C stops,
    /// and the next run goes on
    Planted(EvalPlanted),
}

/// Options of every `ragonite eval …`.
#[derive(Debug, Args)]
pub struct EvalCommon {
    /// Folder of the benchmark: documents/ with qa-pairs.json as in ConfQuestions, or questions.toml as in the demo
    /// [default: the folder of --questions]
    #[arg(long, value_name = "FOLDER")]
    pub benchmark: Option<PathBuf>,
    /// Score this domain as it is, in place of one made of the benchmark's documents. Settings it has of its own do not
    /// count: what is measured is the configuration and what is typed
    #[arg(long, value_name = "NAME")]
    pub domain: Option<DomainName>,
    /// Question file, in place of the benchmark's own. With --domain it is all that is needed
    #[arg(long, value_name = "FILE")]
    pub questions: Option<PathBuf>,
    /// Languages the questions are asked in
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "en,de")]
    pub languages: Vec<Language>,
    /// Where the intent-explicit question comes from: human; model, as on the screen, from the turns before as the model
    /// answered them; history for the questions before it; or none to search what was asked
    #[arg(long, value_parser = word::<Completion>, default_value = "human")]
    pub completion: Completion,
    /// What to find, and how
    #[command(flatten)]
    pub how: EvalSettings,
    /// Compare the choices of one setting side by side, each with a test over conversations against the configured one:
    /// context, linearizer or index (the documents are embedded anew for each choice), kinds, mode, fusion, k, rerank (of
    /// a profile that has a reranker), completion or translation (which ask the generator), or, of answers and
    /// attribution alone, order of the sources or neighbours (the text around them once or with each). k is the number of
    /// hits, of answers and attribution that of the sources
    #[arg(long, value_name = "SETTING", value_parser = word::<Ablation>)]
    pub ablate: Option<Ablation>,
    /// Also write all tables, settings and models, and how to run it again, to a Markdown file
    #[arg(long, value_name = "FILE")]
    pub report: Option<PathBuf>,
    /// With --json, also every question with its result
    #[arg(long)]
    pub details: bool,
}

/// `ragonite eval retrieval`.
#[derive(Debug, Args)]
pub struct EvalRetrieval {
    /// Options of every `ragonite eval …`.
    #[command(flatten)]
    pub common: EvalCommon,
    /// Ask only the first so many questions, counted for each language. Where the model completes questions: whole
    /// conversations, of so many questions at most, but at least one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
}

/// `ragonite eval support`.
#[derive(Debug, Args)]
pub struct EvalSupport {
    /// Options of every `ragonite eval …`.
    #[command(flatten)]
    pub common: EvalCommon,
}

/// `ragonite eval answers`.
#[derive(Debug, Args)]
pub struct EvalAnswers {
    /// Options of every `ragonite eval …`.
    #[command(flatten)]
    pub common: EvalCommon,
    /// Ask only so many questions in all, spread evenly over the slices. Where the model completes questions: whole
    /// conversations, of so many questions at most, but at least one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Model that rates the answers, by its id in the catalog, or none [default: the generator]
    #[arg(long, value_name = "MODEL")]
    pub judge: Option<String>,
}

/// `ragonite eval attribution`.
#[derive(Debug, Args)]
pub struct EvalAttribution {
    /// Options of every `ragonite eval …`.
    #[command(flatten)]
    pub common: EvalCommon,
    /// Ask only so many questions in all, spread evenly over the slices. Where the model completes questions: whole
    /// conversations, of so many questions at most, but at least one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Methods to compare, each but similarity with and without clusters
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "similarity,preview,logprob,jsd,counterfactual"
    )]
    pub methods: Vec<Method>,
    /// Also measure the noise of the methods that read probabilities: add a source of another question to each prompt
    #[arg(long)]
    pub floor: bool,
}

/// `ragonite eval planted`.
#[derive(Debug, Args)]
pub struct EvalPlanted {
    /// Options of every `ragonite eval …`.
    #[command(flatten)]
    pub common: EvalCommon,
    /// Take only so many questions in all, spread evenly over the slices; those in which no fact can be planted count.
    /// Where the model completes questions: whole conversations, of so many questions at most, but at least one
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub limit: Option<u32>,
    /// Methods to compare, each but similarity with and without clusters
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "similarity,preview,logprob,jsd,counterfactual"
    )]
    pub methods: Vec<Method>,
    /// Decides which other facts are planted; the same number plants the same ones
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Settings under test; what is left out is as in the configuration.
#[derive(Debug, Args)]
pub struct EvalSettings {
    /// Context that is embedded, indexed and shown (with --domain: shown): all, none, or some of
    /// title,heading,before,after [default: all]
    #[arg(long, value_name = "PARTS")]
    pub context: Option<ContextParts>,
    /// How tables are written: verbalized, piped, markdown, html or plain [default: verbalized]
    #[arg(long, value_parser = word::<Linearizer>, conflicts_with = "domain")]
    pub linearizer: Option<Linearizer>,
    /// What a table gives: row, table or both [default: both]
    #[arg(long, value_parser = word::<TableEvidence>, conflicts_with = "domain")]
    pub index: Option<TableEvidence>,
    /// Kinds of evidence that are looked for: some of passage,list,table,row [default: all of them]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = word::<Kind>)]
    pub kinds: Vec<Kind>,
    /// dense, lexical or hybrid [default: hybrid]
    #[arg(long)]
    pub mode: Option<Mode>,
    /// How the lists of the searches become one: rrf by their ranks, or blend by their scores [default: blend]
    #[arg(long, value_parser = word::<Fusion>)]
    pub fusion: Option<Fusion>,
    /// on, or off to leave the profile's reranker out [default: on]
    #[arg(long, value_parser = word::<Reranking>)]
    pub rerank: Option<Reranking>,
    /// Whether a question in another language than the documents is searched for in theirs too: auto or off [default: auto]
    #[arg(long, value_parser = word::<Translate>)]
    pub translate: Option<Translate>,
    /// Embedder, by its id in the catalog [default: that of the profile]
    #[arg(long, value_name = "MODEL", conflicts_with = "domain")]
    pub embedder: Option<String>,
    /// Generator that answers and translates questions, and completes them with --completion model, by its id in the
    /// catalog [default: `generation.model` of the configuration]
    #[arg(long, value_name = "MODEL")]
    pub generator: Option<String>,
    /// Hits per question [default: `retrieval.top_k` of the configuration: 10]. A prompt has as many of them as `sources`
    /// of the configuration says, and never more than K
    #[arg(short, long, value_name = "K", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub k: Option<u16>,
}
