//! What a run keeps of prompts for later ones. On real weights: SmolLM2-135M (profile `tiny`).

use std::path::PathBuf;
use std::sync::PoisonError;

use super::tests::{ONE_AT_A_TIME, answer, ask, assert_same, load, plain, weights};
use super::*;

const CONTEXT: usize = 512;

/// A run that keeps what it has read in `folder`.
fn keeping(folder: &Path) -> Option<LlamaGenerator> {
    let settings = GeneratorSettings { context_tokens: CONTEXT, ..GeneratorSettings::default() };
    keeping_with(&settings, folder)
}

fn keeping_with(settings: &GeneratorSettings, folder: &Path) -> Option<LlamaGenerator> {
    let (path, go_on) = (weights()?, Box::new(|_: f32| ControlFlow::Continue(())));
    Some(LlamaGenerator::load("smollm2", &path, settings, go_on).unwrap().with_prefix_cache(folder, &path, settings))
}

fn request(question: &str) -> GenerateRequest {
    let mut request = ask(question, 12);
    let rule = "Never guess. Say where each thing is from, in few words, and nothing else. ";
    request.parts[1] = plain(&format!("You answer questions about a harbour. {}", rule.repeat(4)));
    request
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

/// All logits after the prompt, as bits.
fn logits(generator: &mut LlamaGenerator, request: &GenerateRequest) -> Vec<u32> {
    let request = GenerateRequest { max_tokens: 0, ..request.clone() };
    answer(generator, &request);
    let place = generator.engine.last_row();
    generator.engine.logits(place).iter().map(|logit| logit.to_bits()).collect()
}

#[test]
fn a_later_run_reads_the_instructions_from_disk_and_says_the_same_to_the_last_bit() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let Some(mut first) = keeping(folder.path()) else { return };
    let questions = ["When does the ferry leave?", "Who repaired the radio of the lighthouse in May?"].map(request);
    let said = answer(&mut first, &questions[0]);
    assert_eq!((said.reused_tokens, files(folder.path()).len()), (0, 1));
    answer(&mut first, &questions[1]);
    assert_eq!(files(folder.path()).len(), 1, "the same instructions are kept once");
    drop(first);
    let beginning: usize = {
        let mut fresh = load(CONTEXT).unwrap();
        let parts = &questions[0].parts[..3];
        let tokens = parts.iter().map(|part| fresh.tokens(part).unwrap().len()).sum();
        for question in &questions {
            // Read from nothing here, from the disk there: every logit after the prompt has the same bits.
            let mut later = keeping(folder.path()).unwrap();
            assert_eq!(logits(&mut later, question), logits(&mut fresh, question));
            fresh.engine.remove_all();
            fresh.slots.clear();
        }
        tokens
    };
    let mut later = keeping(folder.path()).unwrap();
    let again = answer(&mut later, &questions[0]);
    assert_same(&again, &said, "from the disk");
    assert_eq!((again.reused_tokens, again.narrowest), (beginning, said.narrowest));
    assert!(beginning > 64, "{beginning}");
    let next = answer(&mut later, &questions[0]);
    assert_eq!(next.reused_tokens, next.prompt_tokens - 1, "what is live and longer is taken");
}

#[test]
fn what_is_kept_on_disk_goes_on_beside_other_prompts_as_if_it_had_been_read() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let (Some(mut first), Some(mut fresh)) = (keeping(folder.path()), load(CONTEXT)) else { return };
    let answers = request("When does the ferry leave, and who is the captain of it?");
    let mut rewrites = request("And on Sunday?");
    rewrites.parts[1] =
        plain(&format!("You complete questions. {}", "Never answer them, whatever they are. ".repeat(9)));
    for one in [&answers, &rewrites] {
        answer(&mut first, one);
    }
    assert_eq!(files(folder.path()).len(), 2);
    drop(first);
    let mut later = keeping(folder.path()).unwrap();
    let mut from_disk = 0;
    for (turn, one) in [&rewrites, &answers, &rewrites, &answers].into_iter().enumerate() {
        let mut one = one.clone();
        one.parts[3] = plain(&format!("{} And turn {turn}?", one.parts[3].text));
        let said = answer(&mut later, &one);
        from_disk += usize::from(said.reused_tokens > 64);
        fresh.engine.remove_all();
        fresh.slots.clear();
        let alone = answer(&mut fresh, &one);
        assert_same(&said, &alone, &format!("turn {turn}"));
        assert_eq!(said.narrowest, alone.narrowest, "not even the last bit of a margin");
        // Answers without a part of the prompt are written in copies of what was restored.
        let mut shorter = one.clone();
        shorter.parts[3] = plain("Who?");
        let requests = [one, shorter];
        let mut together = vec![None; 2];
        let mut hear = |at: usize, completion| {
            together[at] = Some(completion);
            ControlFlow::Continue(())
        };
        later.generate_batch(&requests, &CancelToken::never(), &mut hear).unwrap();
        assert_same(&together[0].take().unwrap(), &alone, "together with another");
        let alone = answer(&mut fresh, &requests[1]);
        assert_same(&together[1].take().unwrap(), &alone, "the other");
    }
    assert_eq!(from_disk, 4, "both kinds were there from the first turn on");
}

#[test]
fn a_state_that_is_damaged_or_of_other_settings_is_not_used() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let Some(mut first) = keeping(folder.path()) else { return };
    let question = request("When does the ferry leave?");
    let said = answer(&mut first, &question);
    let path = files(folder.path()).remove(0);
    let whole = std::fs::read(&path).unwrap();
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 0x10;
    for damaged in [&flipped[..], &whole[..whole.len() / 2], b""] {
        std::fs::write(&path, damaged).unwrap();
        let mut later = keeping(folder.path()).unwrap();
        let again = answer(&mut later, &question);
        assert_same(&again, &said, "with a damaged file");
        assert_eq!(again.reused_tokens, 0);
        assert_eq!(std::fs::read(&path).unwrap(), whole, "it is written anew, the same to the last bit");
    }
    // What llama.cpp itself refuses, although it is as it was written.
    let tokens = first.prompt(&question.parts).unwrap();
    let kept = first.prefix_tokens(&question.parts).unwrap();
    let state = first.engine.state(Sequence(0), kept).unwrap();
    for refused in [&state[..state.len() / 2], &state[..7], b""] {
        assert!(!first.engine.restore(Sequence::TRIAL, kept, refused));
    }
    assert!(!first.engine.restore(Sequence::TRIAL, kept + 1, &state), "it has another number of tokens");
    first.prefix_cache.as_ref().unwrap().store(&tokens[..kept], &state[..state.len() / 2]).unwrap();
    let mut later = keeping(folder.path()).unwrap();
    assert_same(&answer(&mut later, &question), &said, "with half a state");
    assert_same(&answer(&mut first, &question), &said, "after all that was refused");
    let settings = GeneratorSettings {
        context_tokens: CONTEXT,
        kv_cache: ragonite_inference::KvCacheType::Q8,
        ..GeneratorSettings::default()
    };
    let mut other = keeping_with(&settings, folder.path()).unwrap();
    assert_eq!(answer(&mut other, &question).reused_tokens, 0);
    assert_eq!(files(folder.path()).len(), 2, "each has its own");
}

#[test]
fn a_folder_that_cannot_be_written_changes_no_answer() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a file");
    std::fs::write(&file, "mine").unwrap();
    let (Some(mut there), Some(mut fresh)) = (keeping(&file), load(CONTEXT)) else { return };
    let question = request("When does the ferry leave?");
    assert_same(&answer(&mut there, &question), &answer(&mut fresh, &question), "nothing can be kept");
    assert_eq!(std::fs::read(&file).unwrap(), b"mine");
}
