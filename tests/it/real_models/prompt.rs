//! Prompts with real tokenizers: their tokens, and shared prefixes.

use std::ops::ControlFlow;

use ragonite::base::{CancelToken, Language};
use ragonite::inference::{Generate as _, GenerateRequest, GeneratorSettings, PromptPart, Sampling, SpecialTokens};
use ragonite::llama::LlamaGenerator;
use ragonite::rag::prompt::{AnswerPrompt, HistoryTurn, PromptSettings, RewritePrompt};
use ragonite::rag::retrieval::Hit;

use super::{TINY, hit};

const QWEN: &str = include_str!("../../fixtures/chat/qwen2.5.jinja");
const SMOLLM: &str = include_str!("../../fixtures/chat/smollm2.jinja");

fn turn(question: &str, answer: &str) -> HistoryTurn {
    HistoryTurn { question: question.to_owned(), completed_question: String::new(), answer: answer.to_owned() }
}

fn answer_prompt(
    generator: &LlamaGenerator,
    hits: &[Hit],
    past: &[HistoryTurn],
    settings: &PromptSettings,
) -> ragonite::rag::prompt::Prompt {
    let prompt = AnswerPrompt {
        prefix: "You help the station team.",
        language: Language::English,
        past,
        question: "Which board does Lund use?",
        hits,
        settings,
    };
    prompt.build(generator).unwrap()
}

const QWEN_WEIGHTS: &str = "qwen2.5-coder-1.5b-instruct/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf";

/// Token ids of the golden prompt, one segment a line.
fn golden(path: &std::path::Path, fixture: &str) -> String {
    let settings = GeneratorSettings { context_tokens: 1024, ..GeneratorSettings::default() };
    let generator = LlamaGenerator::load("golden", path, &settings, Box::new(|_| ControlFlow::Continue(()))).unwrap();
    assert_eq!(generator.identity().chat_template.source, fixture, "the fixture is the template of the weights");
    let prompt = answer_prompt(
        &generator,
        &[hit(1, "Lund uses <|im_end|> the MB-7."), hit(2, "Grüße aus Lund.")],
        &[turn("Where is Lund?", "In Sweden.")],
        &PromptSettings::default(),
    );
    let lines: Vec<String> = prompt
        .segments
        .iter()
        .zip(prompt.parts())
        .map(|(segment, part)| {
            let ids = generator.tokens(&part).unwrap();
            assert_eq!(ids.len(), segment.tokens);
            format!("{:?} {ids:?}", segment.part)
        })
        .collect();
    lines.join("\n")
}

#[test]
fn smollm2_reads_exactly_these_tokens() {
    let Some(path) = ragonite_testing::weights(TINY) else { return };
    insta::assert_snapshot!(golden(&path, SMOLLM));
}

#[test]
fn qwen2_5_reads_exactly_these_tokens() {
    // The profile `tiny`, which the tests have, has no Qwen model.
    let path = ragonite_testing::models_folder().join(QWEN_WEIGHTS);
    if !path.is_file() {
        println!("skipped: {} is missing", path.display());
        return;
    }
    insta::assert_snapshot!(golden(&path, QWEN));
}

#[test]
fn completing_a_question_and_answering_it_read_their_common_beginning_once() {
    let Some(path) = ragonite_testing::weights(TINY) else { return };
    let settings = GeneratorSettings { context_tokens: 1024, ..GeneratorSettings::default() };
    let mut generator =
        LlamaGenerator::load("smollm2", &path, &settings, Box::new(|_| ControlFlow::Continue(()))).unwrap();
    let prefix =
        "You help the crew of the research vessel Ellery with its manuals, its log and its list of spare parts.";
    let (language, past) = (Language::English, [turn("Where is Lund?", "In Sweden.")]);
    let settings = PromptSettings::default();
    let hits = [hit(1, "Lund has a harbour.")];
    let rewrite = RewritePrompt { prefix, language, past: &past, question: "And its harbour?", settings: &settings };
    let asked = AnswerPrompt {
        prefix,
        language,
        past: &past,
        question: "Has Lund a harbour?",
        hits: &hits,
        settings: &settings,
    };
    let prompts = [rewrite.build(&generator).unwrap(), asked.build(&generator).unwrap()];
    let tokens = prompts
        .each_ref()
        .map(|prompt| prompt.parts().iter().flat_map(|part| generator.tokens(part).unwrap()).collect::<Vec<i32>>());
    let common = tokens[0].iter().zip(&tokens[1]).take_while(|(a, b)| a == b).count();
    // The template allows it up to the end of what the domain says.
    let said = PromptPart { text: prefix.to_owned(), special: SpecialTokens::AsText };
    let begun = prompts[0].segments[0].tokens + generator.count_tokens(&said).unwrap();
    assert!(common >= begun, "{common} of {begun}");
    let reused = prompts.each_ref().map(|prompt| {
        let request = GenerateRequest {
            parts: prompt.parts(),
            sampling: Sampling::Greedy,
            stop: Vec::new(),
            max_tokens: 1,
            draft: Vec::new(),
        };
        generator.generate(&request, &CancelToken::never(), &mut |_| {}).unwrap().reused_tokens
    });
    assert_eq!(reused, [0, common]);
}
