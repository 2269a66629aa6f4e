//! What the generator must survive: files that are no model, prompts at every border, full contexts, cancellation at any
//! moment. On real weights: SmolLM2-135M (profile `tiny`).

use std::sync::PoisonError;

use super::gguf::test_gguf::{TestValue, header};
use super::layout::Layout;
use super::stream::TextStream;
use super::tests::{ONE_AT_A_TIME, answer, ask, assert_same, load, load_sharing, plain, template, weights};
use super::*;
use ragonite_inference::Finish;
use ragonite_inference::{ChatTemplate, Recompute, Sampling};

fn load_file(path: &Path) -> Result<LlamaGenerator, InferenceError> {
    LlamaGenerator::load("m", path, &GeneratorSettings::default(), Box::new(|_| ControlFlow::Continue(())))
}

/// Why loading a file with these bytes is refused.
fn refused(bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gguf");
    std::fs::write(&path, bytes).unwrap();
    match load_file(&path) {
        Err(InferenceError::Load { source, .. }) => source.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_is_no_model_says_so() {
    assert!(refused(b"").contains("no GGUF file"));
    assert!(refused(b"GGU").contains("no GGUF file"));
    assert!(refused(b"not a model at all, but a letter").contains("no GGUF file"));
    assert!(refused(b"GGUF").contains("ends in the middle"));
    assert!(refused(b"GGUF\x01\0\0\0and more of it to read on").contains("version 1"));
}

#[test]
fn an_unknown_architecture_is_named() {
    let made = header(&[
        ("general.architecture", TestValue::Text("telepathy")),
        ("telepathy.block_count", TestValue::Number(2)),
        ("telepathy.context_length", TestValue::Number(512)),
    ]);
    let reason = refused(&made);
    assert!(reason.contains("telepathy") && reason.contains("architecture"), "{reason}");
    // One that llama.cpp knows, with nothing of what it needs.
    let reason = refused(&header(&[("general.architecture", TestValue::Text("llama"))]));
    assert!(reason.contains("llama"), "{reason}");
}

#[test]
fn a_model_cut_anywhere_is_refused_with_a_reason() {
    let Some(path) = weights() else { return };
    let whole = std::fs::read(path).unwrap();
    let (length, header) = (whole.len(), 1_000_000);
    for cut in [3, 4, 8, 23, 24, 40, 333, header, length / 4, length / 2, length - 4096, length - 1] {
        let reason = refused(&whole[..cut]);
        let known = ["no GGUF file", "ends in the middle", "corrupted or incomplete"];
        assert!(known.iter().any(|known| reason.contains(known)), "cut at {cut}: {reason}");
    }
}

#[test]
fn prompts_at_the_borders_of_a_batch_are_read_whole() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(544) else { return };
    let (word, filler) = (plain(" river"), generator.tokens(&plain(" river")).unwrap());
    assert_eq!(filler.len(), 1, "one token a word");
    for length in [1, 15, 16, 17, 47, 48, 49, 60, 61, 63, 64, 65, 511, 512, 513, 542, 543] {
        let request = GenerateRequest { parts: vec![word.clone(); length], max_tokens: 4, ..ask("", 4) };
        let mut last = None;
        let said = generator.generate(&request, &CancelToken::never(), &mut |event| {
            if let GenerateEvent::PromptRead { done, total } = event {
                last = Some((done, total));
            }
        });
        let said = said.unwrap();
        assert_eq!((said.prompt_tokens, last), (length, Some((length, length))));
        assert!(length + said.tokens.len() <= 545, "{length}: {said:?}");
    }
    for length in [544, 545, 5000] {
        let request = GenerateRequest { parts: vec![word.clone(); length], ..ask("", 4) };
        let result = generator.generate(&request, &CancelToken::never(), &mut |_| {});
        let expected = length + 1;
        assert!(
            matches!(result, Err(InferenceError::PromptTooLong { tokens, context: 544 }) if tokens == expected),
            "{length}: {result:?}"
        );
    }
}

#[test]
fn a_call_takes_as_many_tokens_as_a_batch_has_and_refuses_one_more() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(mut generator), Some(mut fresh)) = (load(1024), load(1024)) else { return };
    let word = LlamaToken::new(generator.tokens(&plain(" river")).unwrap()[0]);
    let (all, trial) = (vec![word; 1024], Sequence::TRIAL);
    let mut position = 0;
    for length in [1, 15, 16, 17, 47, 48, 49, 59, 60, 61, 63, 64, 65] {
        let engine = &mut generator.engine;
        engine.decode(trial, &all[..length], position, Logits::From(length.saturating_sub(1))).unwrap();
        position += length;
    }
    generator.engine.remove_from(trial, 0);
    let most = generator.engine.batch_policy().max_prefill;
    for length in [most - 1, most] {
        generator.engine.decode(trial, &all[..length], 0, Logits::From(length - 1)).unwrap();
        generator.engine.remove_from(trial, 0);
    }
    for (length, position) in [(most + 1, 0), (1024, 0), (0, 0), (1, 1024), (most, 1025 - most)] {
        let refused = generator.engine.decode(trial, &all[..length], position, Logits::From(length.saturating_sub(1)));
        assert!(refused.is_err(), "{length} at {position}");
    }
    let request = ask("Name three fruits.", 8);
    assert_same(&answer(&mut generator, &request), &answer(&mut fresh, &request), "after what was refused");
}

#[test]
fn drafts_at_the_borders_of_a_call_change_no_answer() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let counting = plain("1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,");
    let request = GenerateRequest { parts: vec![counting], ..ask("", 66) };
    let said = answer(&mut generator, &request);
    assert!(said.tokens.len() > 60, "{said:?}");
    let other = generator.tokens(&plain(" river")).unwrap()[0];
    for foreseen in [1, 15, 16, 17, 47, 48, 49, 60, 66] {
        // What follows is wrong, and more of it than a call takes.
        let draft = said.tokens.iter().take(foreseen).copied().chain(std::iter::repeat_n(other, 600)).collect();
        let again = answer(&mut generator, &GenerateRequest { draft, ..request.clone() });
        assert_same(&again, &said, &format!("{foreseen} tokens foreseen"));
        assert_eq!(again.drafted_tokens, foreseen.min(said.tokens.len()));
    }
}

#[test]
fn ten_answers_that_fill_the_context_say_what_each_says_alone() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for load in [load, load_sharing] {
        let (Some(mut generator), Some(mut fresh)) = (load(256), load(256)) else { return };
        ten_answers(&mut generator, &mut fresh);
    }
}

fn ten_answers(generator: &mut LlamaGenerator, fresh: &mut LlamaGenerator) {
    let story = plain(&"The crew of the station writes down wind and pressure every hour. ".repeat(14));
    let warm = |seed| {
        let mut request = ask("What does the crew do?", usize::MAX);
        request.parts.insert(3, story.clone());
        // Every other prompt ends in another way, so that there are two to read.
        if seed % 2 == 1 {
            request.parts.insert(4, plain("Be brief. "));
        }
        GenerateRequest { sampling: Sampling::Seeded { temperature: 1.5, seed }, ..request }
    };
    let mut requests: Vec<GenerateRequest> = (0..10).map(warm).collect();
    requests.sort_by_key(|request| request.parts.len());
    let alone: Vec<Completion> = requests.iter().map(|request| answer(fresh, request)).collect();
    assert!(alone.iter().all(|one| one.prompt_tokens + one.tokens.len() <= 257), "{alone:?}");
    assert!(alone.iter().any(|one| one.finish == Finish::Length), "some reach the end of the context");
    let longest = requests.iter().map(|request| generator.prompt(&request.parts).unwrap().len()).max().unwrap();
    // All there are, and where they are shared a few more than one prompt with its answer takes, and no more than that.
    let few = [longest + 3 * (257 - longest), 264];
    let is_shared = generator.engine.states.layout() == Layout::Shared;
    let cells = [generator.engine.cells()].into_iter().chain(few.into_iter().filter(|_| is_shared));
    for cells in cells {
        generator.engine.pretend_cells(cells);
        let mut done = vec![None; requests.len()];
        let mut hear = |at: usize, completion| {
            done[at] = Some(completion);
            ControlFlow::Continue(())
        };
        generator.generate_batch(&requests, &CancelToken::never(), &mut hear).unwrap();
        for (one, alone) in done.into_iter().zip(&alone) {
            assert_same(&one.unwrap(), alone, &format!("{cells} cells"));
        }
    }
    let request = ask("Name three fruits.", 8);
    assert_same(&answer(generator, &request), &answer(fresh, &request), "the next question");
}

/// About 615 tokens that are no others' beginning.
fn long(topic: &str) -> GenerateRequest {
    ask(&format!("About the {topic}: {}", format!("the {topic} is old and far away. ").repeat(73)), 6)
}

#[test]
fn what_does_not_fit_beside_a_score_is_pushed_out_and_read_again() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load_sharing(640) else { return };
    let requests = ["river", "harbour"].map(long);
    let first = requests.each_ref().map(|request| answer(&mut generator, request));
    // Two slots and a trial that reads all of the prompt again: more than there is room for.
    let read: usize = first.iter().map(|said| said.prompt_tokens).sum();
    assert!(read + first[1].prompt_tokens > generator.engine.cells(), "{first:?}");
    let parts = requests[1].parts.clone();
    let (tokens, told) = (first[1].tokens.clone(), first[1].log_probabilities.clone());
    let score = ScoreRequest { parts, answer: tokens, told, hidden: vec![vec![1]], reread: Recompute::Rest };
    let scores = generator.score(&score, &CancelToken::never(), &mut |_, _| {}).unwrap();
    assert_eq!(scores.hidden[0].len(), first[1].tokens.len());
    let again = answer(&mut generator, &requests[0]);
    assert!(again.reused_tokens < 100, "its slot was needed: {again:?}");
    assert_same(&again, &first[0], "after the score");
}

#[test]
fn a_model_that_never_ends_stops_at_the_limit_and_when_cancelled() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(256) else { return };
    let endless = r#"root ::= "la " root"#;
    let request = |max_tokens| GenerateRequest { max_tokens, ..ask("Sing.", 0) };
    let said = generator.generate_within(endless, &request(40), &CancelToken::never(), &mut |_| {}).unwrap();
    assert_eq!((said.finish, said.tokens.len()), (Finish::Length, 40));
    let said = generator.generate_within(endless, &request(usize::MAX), &CancelToken::never(), &mut |_| {}).unwrap();
    assert_eq!(said.finish, Finish::Length);
    assert!(said.prompt_tokens + said.tokens.len() <= 257, "{said:?}");
    let source = ragonite_base::CancelSource::default();
    let mut heard = 0;
    let result = generator.generate_within(endless, &request(usize::MAX), &source.token(), &mut |event| {
        if let GenerateEvent::Text(_) = event {
            heard += 1;
            if heard == 5 {
                source.cancel();
            }
        }
    });
    assert!(matches!(result, Err(InferenceError::Canceled(_))), "{result:?}");
    assert_eq!(heard, 5);
}

#[test]
fn a_model_without_chat_template_is_loaded_and_generates() {
    let Some(path) = weights() else { return };
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let mut bytes = std::fs::read(path).unwrap();
    let key = b"tokenizer.chat_template";
    let place = bytes.windows(key.len()).position(|window| window == key).unwrap();
    bytes[place + key.len() - 1] = b'X';
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.gguf");
    std::fs::write(&path, bytes).unwrap();
    let mut generator = load_file(&path).unwrap();
    let ChatTemplate { source, eos, .. } = &generator.identity().chat_template;
    assert_eq!((source.as_str(), eos.as_str()), ("", "<|im_end|>"));
    let request = GenerateRequest { parts: vec![plain("The capital of France is")], ..ask("", 6) };
    assert!(!answer(&mut generator, &request).tokens.is_empty());
}

#[test]
fn characters_in_pieces_are_whole_or_replaced() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    // Warm sampling gives bytes that are no text; every piece that is shown must be.
    for seed in 0..2 {
        let sampling = Sampling::Seeded { temperature: 2.0, seed };
        let request = GenerateRequest { sampling, ..ask("Write only emoji: 🦜🌊漢字 ÿ", 30) };
        let mut shown = String::new();
        let said = generator.generate(&request, &CancelToken::never(), &mut |event| {
            if let GenerateEvent::Text(text) = event {
                shown.push_str(text);
            }
        });
        assert_eq!(shown.trim(), said.unwrap().text);
    }
    // Every token of the text by itself, as the vocabulary has it.
    let text = "🦜 漢字 Grüße";
    let tokens = generator.tokens(&plain(text)).unwrap();
    let mut stream = TextStream::new(&[]);
    for token in tokens {
        stream.push(&generator.engine.token_bytes(LlamaToken::new(token)), &mut |_| {});
    }
    assert_eq!(stream.finish(&mut |_| {}), text);
}

#[test]
fn a_longer_context_takes_more_memory_up_to_what_the_model_was_trained_for() {
    let Some(path) = weights() else { return };
    let needed = LlamaGenerator::needs("m", &path, &GeneratorSettings::default()).unwrap();
    assert_eq!(needed.weights, 98_362_432);
    let smaller = GeneratorSettings { context_tokens: 512, ..GeneratorSettings::default() };
    assert!(LlamaGenerator::needs("m", &path, &smaller).unwrap().state < needed.state);
    // More context than the model was trained for is never made.
    let larger = GeneratorSettings { context_tokens: 1 << 40, ..GeneratorSettings::default() };
    assert!(LlamaGenerator::needs("m", &path, &larger).unwrap().total() < 10 * needed.total());
}

#[test]
fn a_smaller_state_answers_and_forgets_as_the_full_one() {
    let Some(path) = weights() else { return };
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let settings = GeneratorSettings {
        context_tokens: 512,
        kv_cache: ragonite_inference::KvCacheType::Q8,
        ..GeneratorSettings::default()
    };
    let mut generator = LlamaGenerator::load("m", &path, &settings, Box::new(|_| ControlFlow::Continue(()))).unwrap();
    let (first, second) = (ask("Name three fruits.", 12), ask("Name three rivers.", 12));
    let said = answer(&mut generator, &first);
    answer(&mut generator, &second);
    let again = answer(&mut generator, &first);
    assert!(again.reused_tokens > 0);
    assert_same(&again, &said, "asked again");
    let whole = vec![template("<|im_start|>user\n"), plain("Say yes."), template("<|im_end|>\n")];
    let (tokens, told) = (said.tokens, Vec::new());
    let score = ScoreRequest { parts: whole, answer: tokens, told, hidden: vec![vec![1]], reread: Recompute::Rest };
    assert!(generator.score(&score, &CancelToken::never(), &mut |_, _| {}).is_ok());
}
