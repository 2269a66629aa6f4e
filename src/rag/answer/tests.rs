//! Rewriting and answering with a generator that says what the test tells it.

use super::citation::Citations;
use super::*;
use crate::prompt::{HistoryTurn, PromptSettings, out_of_scope};
use crate::retrieval::{Hit, HitExplanation};
use ragonite_base::{CancelSource, CancelToken, DocumentId, EvidenceId, Language, Millis};
use ragonite_document::evidence::{Context, Kind};
use ragonite_inference::{
    ChatTemplate, Completion, Finish, Generate, GenerateEvent, GenerateRequest, GeneratorIdentity, InferenceError,
    PromptPart,
};

/// Says its text in pieces of three bytes at most.
struct Says {
    text: &'static str,
    /// What it says where the answer's beginning is given.
    led: Option<&'static str>,
    /// What it says where it is asked for the sources of an answer.
    held: &'static str,
    /// Whether it fails instead.
    fails: bool,
    /// How it ends.
    finish: Finish,
    identity: GeneratorIdentity,
    asked: Vec<GenerateRequest>,
}

impl Says {
    fn new(text: &'static str) -> Self {
        let chat_template = ChatTemplate { source: String::new(), bos: String::new(), eos: String::new() };
        let identity = GeneratorIdentity { model: "says".to_owned(), context_tokens: 4096, chat_template };
        Self { text, led: None, held: "", fails: false, finish: Finish::End, identity, asked: Vec::new() }
    }
}

impl Generate for Says {
    fn identity(&self) -> &GeneratorIdentity {
        &self.identity
    }

    fn count_tokens(&self, part: &PromptPart) -> Result<usize, InferenceError> {
        Ok(part.text.split_whitespace().count())
    }

    fn generate(
        &mut self,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        cancel.check()?;
        self.asked.push(request.clone());
        on_event(GenerateEvent::PromptRead { done: 9, total: 9 });
        let is_led = request.parts.last().is_some_and(|part| part.text == "Laut den Quellen");
        let said = self.led.filter(|_| is_led).unwrap_or(self.text);
        let chars: Vec<char> = said.chars().collect();
        for piece in chars.chunks(3) {
            on_event(GenerateEvent::Text(&piece.iter().collect::<String>()));
        }
        Ok(Completion {
            text: said.trim().to_owned(),
            tokens: vec![1],
            prompt_tokens: 9,
            reused_tokens: 0,
            drafted_tokens: 0,
            narrowest: None,
            log_probabilities: Vec::new(),
            draft_log_probabilities: Vec::new(),
            finish: self.finish,
            first_token_ms: Millis::default(),
            total_ms: Millis::default(),
        })
    }

    fn generate_within(
        &mut self,
        _grammar: &str,
        request: &GenerateRequest,
        cancel: &CancelToken,
        on_event: &mut dyn FnMut(GenerateEvent<'_>),
    ) -> Result<Completion, InferenceError> {
        let is_asked = request.parts.last().is_some_and(|part| part.text.ends_with("[Source"));
        let says = if is_asked { self.held } else { self.text };
        let text = std::mem::replace(&mut self.text, says);
        let completion = self.generate(request, cancel, on_event);
        self.text = text;
        if self.fails {
            let model = self.identity.model.clone();
            return Err(InferenceError::Run { doing: "naming", model, source: "it is broken".into() });
        }
        completion
    }
}

fn hit(rank: usize, text: &str) -> Hit {
    Hit {
        rank,
        evidence: EvidenceId(7),
        document: DocumentId(1),
        title: String::new(),
        heading: String::new(),
        url: String::new(),
        date: None,
        space: None,
        ancestors: Vec::new(),
        location: String::new(),
        kind: Kind::Passage,
        table: None,
        row: None,
        text: text.to_owned(),
        content: text.to_owned(),
        links: Vec::new(),
        context: Context::default(),
        fused: 0.0,
        dense_rank: None,
        dense_score: None,
        lexical_rank: None,
        lexical_score: None,
        rerank_score: None,
        copies: Vec::new(),
        version: None,
        why: HitExplanation::default(),
    }
}

fn input<'a>(hits: &'a [Hit], settings: &'a AnswerSettings) -> AnswerInput<'a> {
    AnswerInput { prefix: "", language: Language::German, past: &[], question: "Welche Farbe?", hits, settings }
}

fn answer(text: &'static str, hits: &[Hit]) -> (Answer, Vec<AnswerEvent>, usize) {
    let mut generator = Says::new(text);
    let mut events = Vec::new();
    let settings = AnswerSettings::default();
    let answer = generate_answer(&mut generator, &input(hits, &settings), &CancelToken::never(), &mut |event| {
        events.push(event);
    });
    (answer.unwrap(), events, generator.asked.len())
}

fn shown(events: &[AnswerEvent]) -> String {
    events
        .iter()
        .filter_map(|event| match event {
            AnswerEvent::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect()
}

#[test]
fn suggestions_are_questions_that_the_sources_answer_and_that_were_not_asked() {
    let hits = [hit(1, "Der Kessel wurde 2021 in Bremen gebaut und wiegt acht Tonnen."), hit(2, "Rot.")];
    let (answered, ..) = answer("Rot. [Source 2]", &hits);
    let asked = ["Wie schwer ist der Kessel?".to_owned()];
    let input = SuggestInput { question: "Welche Farbe?", answer: &answered, hits: &hits, asked: &asked };
    let said = "1. Wann wurde der Kessel gebaut?\n2. Wie schwer ist der KESSEL?\n3. Wer regiert Frankreich heute?\n\
                4. Keine Frage.\n5. Wo wurde der Kessel und ?\n5. wann wurde der Kessel gebaut?\n6. Wo wurde der \u{1b}[31mKessel gebaut?";
    let mut generator = Says::new(said);
    let suggested = suggest(&mut generator, &input, &CancelToken::never()).unwrap();
    assert_eq!(suggested, ["Wann wurde der Kessel gebaut?", "Wo wurde der Kessel gebaut?"]);
    let asked: String = generator.asked[0].parts.iter().map(|part| part.text.as_str()).collect();
    assert!(asked.contains("Die Antwort war: Rot.") && !asked.contains("Die Antwort war: Rot. [Source"), "{asked}");
    let (nothing, ..) = answer("", &[]);
    let mut unasked = Says::new("1. Was?");
    let input = SuggestInput { answer: &nothing, hits: &[], ..input };
    assert!(suggest(&mut unasked, &input, &CancelToken::never()).unwrap().is_empty() && unasked.asked.is_empty());
}

#[test]
fn an_answer_is_streamed_clean_and_its_citations_are_checked() {
    let hits = [hit(1, "Blau."), hit(2, "Rot.")];
    let (answer, events, _) = answer("Es ist \u{1b}[31mblau\u{1b}[0m (Quelle 2) [Source 8].\n", &hits);
    assert_eq!(answer.text, "Es ist blau [Source 2] [Source 8?].");
    assert_eq!((answer.answered, answer.citations, answer.invalid_citations), (true, vec![2], vec![8]));
    assert_eq!(shown(&events), "Es ist blau (Quelle 2) [Source 8].\n");
    assert!(matches!(events[0], AnswerEvent::PromptBuilt { sources: 2, .. }));
    assert_eq!(events[1], AnswerEvent::PromptRead { done: 9, total: 9 });
    assert!(answer.completion.text.contains('\u{1b}'), "the trace keeps what the model said");
}

#[test]
fn without_hits_nobody_asks_the_model() {
    let (answer, events, asked) = answer("anything", &[]);
    assert_eq!(answer.text, "Die gewünschte Information ist in den gefundenen Belegen nicht enthalten.");
    assert_eq!((answer.answered, asked), (false, 0));
    assert_eq!(shown(&events), answer.text);
}

#[test]
fn a_refusal_is_recognised_and_cites_nothing() {
    let said = "\"The desired information cannot be found in the retrieved pool of evidence\" [Source 1]";
    let (answer, ..) = answer(said, &[hit(1, "Blau.")]);
    assert_eq!(answer.text, "The desired information cannot be found in the retrieved pool of evidence.");
    assert!(!answer.answered && answer.citations.is_empty());
}

#[test]
fn a_model_that_says_nothing_has_found_nothing() {
    let (answer, ..) = answer("  \u{1b}[0m ", &[hit(1, "Blau.")]);
    assert!(!answer.answered && answer.text.starts_with("Die gewünschte"));
}

#[test]
fn a_cancelled_answer_is_no_failure() {
    let source = CancelSource::default();
    source.cancel();
    let settings = AnswerSettings::default();
    let hits = [hit(1, "Blau.")];
    let result = generate_answer(&mut Says::new(""), &input(&hits, &settings), &source.token(), &mut |_| {});
    assert!(matches!(result, Err(AnswerError::Canceled(_))), "{result:?}");
}

fn complete(question: &str, past: &[HistoryTurn], says: &'static str) -> (Rewrite, usize) {
    let mut generator = Says::new(says);
    let settings = PromptSettings::default();
    let input = RewriteInput { prefix: "", language: Language::English, past, question, settings: &settings };
    let rewrite = rewrite(&mut generator, &input, &CancelToken::never()).unwrap();
    (rewrite, generator.asked.len())
}

fn past() -> Vec<HistoryTurn> {
    vec![HistoryTurn {
        question: "What is the Halden run?".to_owned(),
        completed_question: "What is the Halden run?".to_owned(),
        answer: "The full regression test before release 3.4 [Source 1].".to_owned(),
    }]
}

/// A conversation in which nothing has a name.
fn nameless() -> Vec<HistoryTurn> {
    vec![HistoryTurn {
        question: "What is the halden run?".to_owned(),
        completed_question: "What is the halden run?".to_owned(),
        answer: "the full regression test before the release [Source 1].".to_owned(),
    }]
}

#[test]
fn a_name_that_the_model_lost_is_added_to_its_question() {
    let past = vec![HistoryTurn {
        question: "Which driver ran on the Osprey D4 board in the May 2021 trial?".to_owned(),
        completed_question: String::new(),
        answer: "Driver 7.1 [Source 1].".to_owned(),
    }];
    let (rewrite, _) = complete("Who ran it?", &past, "Who ran the May 2021 trial?");
    let expected = ("Who ran the May 2021 trial on the Osprey D4 board?", RewriteHow::Mended);
    assert_eq!((rewrite.completed.as_str(), rewrite.how), expected);
    let (rewrite, _) = complete("Who ran it?", &past, "Who ran the May 2021 trial on Osprey D4?");
    assert_eq!(rewrite.how, RewriteHow::Model);
}

#[test]
fn a_question_that_leaves_the_topic_or_needs_no_other_is_given_no_name_of_it() {
    for question in [
        "Coming back to it: who built the launcher?",
        "Übrigens, wer hat das alles gebaut?",
        "Are there any open bugs in the launcher?",
    ] {
        for says in [question, ""] {
            let (rewrite, _) = complete(question, &past(), says);
            assert_eq!(rewrite.completed, question, "{says}");
        }
    }
    let (rewrite, _) = complete("Who built it?", &past(), "");
    assert_eq!(rewrite.how, RewriteHow::Named, "one that goes on is");
}

#[test]
fn a_completed_question_that_lost_what_was_asked_or_repeats_an_earlier_one_is_not_used() {
    let last = "What is the halden run?";
    for (question, says, how) in [
        ("And buoys?", last, RewriteHow::Kept),
        ("Were more laptops compared?", last, RewriteHow::Kept),
        ("Were more laptops compared?", "Was the halden run a full test?", RewriteHow::Kept),
        ("Were more laptops compared?", "Was a laptop in the halden run?", RewriteHow::Model),
        ("And when?", "When was the halden run?", RewriteHow::Model),
        ("Und die?", "War der halden run vollständig?", RewriteHow::Model),
        ("Und die?", "Was the halden run a full test?", RewriteHow::Kept),
        ("Und Kolmet?", "What about Kolmet?", RewriteHow::Kept),
        ("Und Kolmet?", "Was ist mit Kolmet im halden run?", RewriteHow::Model),
        ("And on the 9.0?", "Was the halden run on the 9.0.2?", RewriteHow::Kept),
        ("What is it?", last, RewriteHow::Kept),
    ] {
        let (rewrite, _) = complete(question, &nameless(), says);
        assert_eq!(rewrite.how, how, "{question}: {says} became {}", rewrite.completed);
    }
}

fn translated(question: &str, to: Language, says: &'static str) -> (Translation, usize) {
    let mut generator = Says::new(says);
    let from = if to == Language::English { Language::German } else { Language::English };
    let input = TranslateInput { question, from, to, max_tokens: 64 };
    let translation = translate(&mut generator, &input, &CancelToken::never()).unwrap();
    (translation, generator.asked.len())
}

#[test]
fn a_question_is_translated_without_labels_and_quotes() {
    for says in ["Who stores the BX-40 in winter?", "English: \"Who stores the BX-40 in winter?\""] {
        let (translation, _) = translated("Wer lagert die BX-40 im Winter?", Language::English, says);
        assert_eq!(translation.text.as_deref(), Some("Who stores the BX-40 in winter?"));
        assert_eq!(translation.how, TranslationHow::Model);
        assert!(translation.prompt.is_some() && translation.completion.is_some());
    }
    let (translation, _) = translated("Who stores the BX-40?", Language::German, "Wer lagert die BX-40?");
    assert_eq!(translation.text.as_deref(), Some("Wer lagert die BX-40?"));
}

#[test]
fn of_a_german_compound_only_the_name_must_be_in_the_translation() {
    let question = "Wo liegt der SSH-Schlüssel der CI-Server für OXT-1654?";
    for says in
        ["Where is the SSH key of the CI servers for OXT-1654?", "Where is the SSH key of the servers for OXT-1654?"]
    {
        assert_eq!(translated(question, Language::English, says).0.text.as_deref(), Some(says));
    }
    for lost in ["Where is the key of the servers for OXT-1654?", "Where is the SSH key of the CI servers for OXT-165?"]
    {
        assert_eq!(translated(question, Language::English, lost).0.text, None, "{lost}");
    }
}

#[test]
fn what_is_no_translation_is_dropped() {
    for says in [
        "",
        "Owen Pryce stores them.",
        "Who stores the batteries in winter?",
        "Who stores the BX-40 in winter 2024?",
        "Wer lagert die BX-40 im Winter?",
        "Wer lagert den BX-40 im Winter?",
        "Who stores the BX-40 in winter?\nOwen Pryce",
        "Who stores the BX-40 in winter? [Source 1]",
    ] {
        let (translation, asked) = translated("Wer lagert die BX-40 im Winter?", Language::English, says);
        assert_eq!((translation.text, translation.how, asked), (None, TranslationHow::Dropped, 1), "{says}");
    }
}

#[test]
fn a_question_of_many_pages_is_not_translated() {
    let (translation, asked) = translated(&"Wer ist es? ".repeat(2000), Language::English, "Who is it?");
    assert_eq!((translation.text, translation.how, asked), (None, TranslationHow::TooLong, 0));
}

#[test]
fn a_translation_is_wanted_where_the_documents_have_another_language() {
    use crate::retrieval::Translate;
    let (english, german) = (Language::English, Language::German);
    let wanted = |question, documents, setting| translation_wanted(question, documents, setting);
    assert_eq!(
        wanted("Wer lagert die Akkus?", english, Translate::Auto),
        Some(LanguagePair { from: german, to: english })
    );
    assert_eq!(
        wanted("Who stores the batteries?", german, Translate::Auto),
        Some(LanguagePair { from: english, to: german })
    );
    assert_eq!(wanted("Who stores the batteries?", english, Translate::Auto), None);
    assert_eq!(wanted("Wer lagert die Akkus?", english, Translate::Off), None);
    assert_eq!(wanted(" ", german, Translate::Auto), None);
}

#[test]
fn the_first_question_is_never_rewritten() {
    let (rewrite, asked) = complete(" What is\nit? ", &[], "Something else?");
    assert_eq!((rewrite.completed.as_str(), rewrite.how, asked), ("What is it?", RewriteHow::First, 0));
    assert!(rewrite.prompt.is_none() && rewrite.completion.is_none());
}

#[test]
fn a_follow_up_is_completed_without_labels_and_quotes() {
    for says in [
        "Who ran the Halden run?",
        "\"Who ran the Halden run?\"",
        "Rewritten question: Who ran the Halden run?",
        "**Question:** \"Who ran the Halden run?\"",
        "Who ran the \u{1b}[1mHalden run?",
    ] {
        let (rewrite, _) = complete("Who ran it?", &past(), says);
        assert_eq!((rewrite.completed.as_str(), rewrite.how), ("Who ran the Halden run?", RewriteHow::Model), "{says}");
        assert!(rewrite.prompt.is_some() && rewrite.completion.is_some());
    }
}

#[test]
fn what_is_no_completed_question_is_not_used() {
    for says in [
        "Priya Nair ran the Halden run.",
        "Who ran the Halden run? [Source 1]",
        "Who ran the Halden run?\nPriya Nair.",
        "The desired information cannot be found in the retrieved pool of evidence.",
        "Who painted the ceiling?",
        "Who ran the Halden run in 2019?",
        "Who ran the Halden run with Felix Brandt?",
        "",
        "?",
        "Who ran the Halden run, which is the full regression test before release 3.4, and who else was there, and why \
         did they run it at all, given all that had happened before?",
    ] {
        let (rewrite, _) = complete("Who ran it?", &nameless(), says);
        assert_eq!((rewrite.completed.as_str(), rewrite.how), ("Who ran it?", RewriteHow::Kept), "{says}");
        let (rewrite, _) = complete("Who ran it?", &past(), says);
        let named = ("Who ran it (Halden, 3.4)?", RewriteHow::Named);
        assert_eq!((rewrite.completed.as_str(), rewrite.how), named, "{says}");
    }
}

#[test]
fn a_completed_question_keeps_the_names_of_the_typed_one_and_is_one_sentence() {
    for (question, says, how) in [
        ("And for OXT-1654?", "Was OXT-1654 part of the Halden run?", RewriteHow::Model),
        ("And for OXT-1654?", "Was the Halden run part of it?", RewriteHow::Kept),
        ("And the TPM?", "Was the board part of the Halden run?", RewriteHow::Kept),
        ("Who ran it?", "Who ran the Halden run? It was the regression test, right?", RewriteHow::Named),
        ("Who ran it?", "Who ran the full regression test?", RewriteHow::Mended),
    ] {
        let (rewrite, asked) = complete(question, &past(), says);
        assert_eq!((rewrite.how, asked), (how, 1), "{says}");
    }
}

#[test]
fn a_follow_up_that_says_itself_what_it_is_about_is_left_as_it_is() {
    let question = "Which driver was tested on antenna board 9.0.2?";
    let (rewrite, asked) = complete(question, &past(), "Something else?");
    assert_eq!((rewrite.completed.as_str(), rewrite.how, asked), (question, RewriteHow::Complete, 0));
    let pasted = "and then it broke again ".repeat(1000);
    let (rewrite, asked) = complete(&pasted, &past(), "Something else?");
    assert_eq!((rewrite.completed.len(), rewrite.how, asked), (pasted.trim().len(), RewriteHow::Complete, 0));
}

#[test]
fn a_question_that_does_not_fit_the_context_is_refused_with_what_to_do() {
    let question = "Who ran it? ".repeat(2000);
    let hits = [hit(1, "Blau.")];
    let settings = AnswerSettings::default();
    let input = AnswerInput { question: &question, ..input(&hits, &settings) };
    let error = generate_answer(&mut Says::new(""), &input, &CancelToken::never(), &mut |_| {}).unwrap_err();
    let why = std::error::Error::source(&error).map(ToString::to_string).unwrap_or_default();
    assert!(why.contains("ask a shorter question"), "{error}: {why}");
}

#[test]
fn a_statement_may_become_a_statement() {
    let (rewrite, _) = complete("Tell me who ran it", &past(), "Tell me who ran the Halden run");
    assert_eq!(rewrite.how, RewriteHow::Model);
}

#[test]
fn where_a_model_only_cites_it_writes_on_from_a_beginning_and_what_it_cited_is_never_shown() {
    let hits = [hit(1, "Blau."), hit(2, "Rot.")];
    let settings = AnswerSettings::default();
    let mut generator = Says { led: Some(" ist sie blau [Source 1]."), ..Says::new("[Source 1, Source 2].") };
    let mut events = Vec::new();
    let cancel = CancelToken::never();
    let answer = generate_answer(&mut generator, &input(&hits, &settings), &cancel, &mut |event| events.push(event));
    let answer = answer.unwrap();
    assert_eq!(answer.text, "Laut den Quellen ist sie blau [Source 1].");
    assert_eq!((shown(&events).as_str(), answer.citations.as_slice()), (answer.text.as_str(), &[1][..]));
    assert!(answer.answered && !answer.only_cites() && generator.asked.len() == 2);
    assert_eq!(generator.asked[1].parts[..generator.asked[0].parts.len()], generator.asked[0].parts);
    // A counterfactual answer begins in the same way, and is out of scope as any other.
    let said = |text: &str, finish| Completion { text: text.to_owned(), finish, ..answer.completion.clone() };
    let read = |completion: &Completion| read_answer(completion, &answer.prompt);
    let red = "Laut den Quellen ist sie rot [Source 2].";
    assert_eq!(read(&said("ist sie rot [Source 2].", Finish::End)).citations.text, red);
    assert_eq!(
        read(&said("ist sie rot [Source 2]. Und [Source", Finish::Length)).citations.text,
        format!("{red} Und"),
        "nobody closes a citation in which an answer was cut"
    );
    let nothing = out_of_scope(Language::German);
    assert_eq!(
        read(&said(nothing, Finish::End)),
        ReadAnswer { citations: Citations { text: nothing.to_owned(), ..Citations::default() }, answered: false }
    );
    assert_eq!(answer.prompt.without(&[1]).prefill(), answer.prompt.prefill());
}

#[test]
fn an_answer_that_begins_with_a_citation_and_goes_on_is_shown_as_it_was_written() {
    for (says, times) in [("[Source 1] sagt blau.", 1), ("[Blau] ist sie.", 2), ("(Source 1) Blau", 1), ("Blau", 2)] {
        let (answer, events, asked) = answer(says, &[hit(1, "Blau.")]);
        // Asked for the sources of what has none, this model says nothing.
        assert_eq!((asked, answer.prompt.prefill()), (times, ""), "{says}");
        assert_eq!(shown(&events), says);
    }
}

#[test]
fn an_answer_of_citations_alone_is_known() {
    for (says, alone) in [
        ("[Source 1]", true),
        ("[Source 1], [Source 9].", true),
        ("[Source 9]", true),
        ("Blau [Source 1].", false),
        ("Blau.", false),
        ("", false),
    ] {
        assert_eq!(answer(says, &[hit(1, "Blau.")]).0.only_cites(), alone, "{says}");
        // What was written is no answer, so the model was asked to write on from a beginning.
        let lead = answer(says, &[hit(1, "Blau.")]).0.prompt.prefill().to_owned();
        assert_eq!(lead, if alone { "Laut den Quellen" } else { "" }, "{says}");
    }
}

#[test]
fn an_answer_without_a_source_is_asked_for_it_and_keeps_its_words() {
    let hits = [hit(1, "Blau."), hit(2, "Rot.")];
    let settings = AnswerSettings::default();
    for (held, mark, cited) in [
        ("2]", " [Source 2]", &[2][..]),
        ("2, Source 1]", " [Source 2, Source 1]", &[1, 2]),
        ("1", " [Source 1]", &[1]),
        ("1, Source 1]", " [Source 1]", &[1]),
        ("7]", "", &[]),
        ("nothing", "", &[]),
    ] {
        let mut generator = Says { held, ..Says::new("Sie ist blau.") };
        let mut events = Vec::new();
        let mut hear = |event| events.push(event);
        let answer = generate_answer(&mut generator, &input(&hits, &settings), &CancelToken::never(), &mut hear);
        let answer = answer.unwrap();
        assert_eq!(answer.text, format!("Sie ist blau.{mark}"), "{held}");
        assert_eq!((answer.citations.as_slice(), answer.own_text()), (cited, "Sie ist blau."));
        assert_eq!(shown(&events), answer.text, "what is shown is what is stored");
        assert_eq!(answer.completion.text, "Sie ist blau.");
        // The prompt and the answer stand before it, so that neither is read again.
        let [first, second] = &generator.asked[..] else { panic!("{:?}", generator.asked) };
        let (asked, before) = second.parts.split_last().unwrap();
        assert_eq!((before, asked.text.as_str()), (&first.parts[..], "Sie ist blau. [Source"));
    }
}

#[test]
fn an_answer_that_breaks_off_in_a_citation_is_asked_for_its_sources() {
    let hits = [hit(1, "Blau."), hit(2, "Rot.")];
    let settings = AnswerSettings::default();
    for says in ["Sie ist blau [Sour", "Sie ist blau [Source 1"] {
        let mut generator = Says { held: "1]", finish: Finish::Length, ..Says::new(says) };
        let answer =
            generate_answer(&mut generator, &input(&hits, &settings), &CancelToken::never(), &mut |_| {}).unwrap();
        assert_eq!((answer.text.as_str(), answer.own_text()), ("Sie ist blau [Source 1]", "Sie ist blau"));
        let asked = generator.asked[1].parts.last().unwrap();
        assert_eq!(asked.text, "Sie ist blau [Source");
    }
}

#[test]
fn no_source_is_asked_for_where_one_is_named_or_there_is_nothing_to_name_it_for() {
    let nothing = out_of_scope(Language::German);
    for says in ["Blau [Source 1].", "Blau [Source 9].", nothing, ""] {
        let (answer, _, asked) = answer(says, &[hit(1, "Blau.")]);
        assert_eq!((asked, answer.named), (1, None), "{says}");
    }
}

#[test]
fn an_answer_stands_where_its_source_cannot_be_asked_for_or_that_is_stopped() {
    let hits = [hit(1, "Blau.")];
    let settings = AnswerSettings::default();
    let mut generator = Says { fails: true, ..Says::new("Sie ist blau.") };
    let input = input(&hits, &settings);
    let answer = generate_answer(&mut generator, &input, &CancelToken::never(), &mut |_| {}).unwrap();
    assert_eq!((answer.text.as_str(), answer.named, generator.asked.len()), ("Sie ist blau.", None, 2));
    let source = CancelSource::default();
    let mut cancel = |event| {
        if let AnswerEvent::Text(_) = event {
            source.cancel();
        }
    };
    let stopped = generate_answer(&mut Says::new("Blau."), &input, &source.token(), &mut cancel).unwrap();
    assert_eq!((stopped.text.as_str(), stopped.named), ("Blau.", None));
}
