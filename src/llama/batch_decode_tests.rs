//! Answers that are written together, on real weights: SmolLM2-135M (profile `tiny`), and Qwen2.5-Coder-1.5B (profile
//! `starter`) where it is at hand, whose 4-bit and 6-bit weights go through other kernels, as do random ones.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::PoisonError;

#[path = "../../tests/bench/cuda/gguf.rs"]
#[expect(dead_code, reason = "the benchmark writes a large one too")]
mod random_weights;

use super::tests::{ONE_AT_A_TIME, answer, ask, assert_same, load, load_sharing, plain, weights};
use super::*;
use ragonite_base::CancelSource;
use ragonite_inference::{CompareRequest, Finish, Measure, Sampling, logprob_deltas};

/// Facts of a small harbour, and what may be asked of them.
const FACTS: [(&str, &str); 5] = [
    ("The ferry leaves the pier at seven in the morning.", "When does the ferry leave?"),
    ("The door of the harbour office is green.", "What colour is the door of the office?"),
    ("Alice repaired the radio of the lighthouse in May.", "Who repaired the radio?"),
    ("The pump of the tank runs on diesel.", "What does the pump run on?"),
    ("Lunch is served in the old net shed at noon.", "Where is lunch served?"),
];

/// A prompt with three of the facts about one of them; each number gives another.
fn prompt(number: usize) -> GenerateRequest {
    let mut request = ask(FACTS[number % 5].1, 14);
    let of = |at: usize| plain(&format!("Fact {}: {}\n", at + 1, FACTS[(number + at * (1 + number / 5 % 2)) % 5].0));
    request.parts.splice(3..3, (0..3).map(of));
    request
}

/// The prompts without each fact, the last one first, with `draft`.
fn without_each(whole: &GenerateRequest, draft: &[i32]) -> Vec<GenerateRequest> {
    let without = |at: usize| {
        let mut request = GenerateRequest { draft: draft.to_vec(), ..whole.clone() };
        request.parts.remove(3 + at);
        request
    };
    [2, 1, 0].map(without).to_vec()
}

fn each(generator: &mut LlamaGenerator, requests: &[GenerateRequest]) -> Vec<Completion> {
    let mut done = vec![None; requests.len()];
    let mut hear = |at: usize, completion| {
        assert!(done[at].is_none(), "{at} comes once");
        done[at] = Some(completion);
        ControlFlow::Continue(())
    };
    generator.generate_batch(requests, &CancelToken::never(), &mut hear).unwrap();
    done.into_iter().map(Option::unwrap).collect()
}

/// The answer with nothing read before.
fn from_nothing(generator: &mut LlamaGenerator, request: &GenerateRequest) -> Completion {
    generator.engine.remove_all();
    generator.slots.clear();
    answer(generator, &GenerateRequest { draft: Vec::new(), ..request.clone() })
}

fn assert_all_same(together: &[Completion], alone: &[Completion], what: &str) {
    assert_eq!(together.len(), alone.len());
    for (together, alone) in together.iter().zip(alone) {
        assert_same(together, alone, what);
        assert_eq!(together.prompt_tokens, alone.prompt_tokens, "{what}");
    }
}

#[test]
fn answers_written_together_are_those_from_an_empty_cache() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(mut generator), Some(mut fresh)) = (load(512), load(512)) else { return };
    let (mut all, mut verified) = (0, 0);
    for number in 0..20 {
        let whole = prompt(number);
        let said = answer(&mut generator, &whole);
        let requests = without_each(&whole, &said.tokens);
        let together = each(&mut generator, &requests);
        let alone: Vec<Completion> = requests.iter().map(|request| from_nothing(&mut fresh, request)).collect();
        all += together.len();
        assert_all_same(&together, &alone, &format!("prompt {number}"));
        for one in together.iter().filter(|one| one.tokens == said.tokens) {
            assert_eq!(one.drafted_tokens, said.tokens.len());
            verified += 1;
        }
    }
    assert!(verified > 0 && verified < all, "both kinds are tried");
}

#[test]
fn a_draft_tells_how_much_less_probable_it_is_as_a_comparison_does() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(mut generator), Some(mut fresh)) = (load(512), load(512)) else { return };
    let mut otherwise = 0;
    for number in 0..6 {
        let whole = prompt(number);
        let said = answer(&mut generator, &whole);
        let (parts, answer) = (whole.parts.clone(), said.tokens.clone());
        let without = [5, 4, 3].map(|place| vec![place]).to_vec();
        let compare = CompareRequest { parts, answer, without, measure: Measure::Token };
        let compared = fresh.compare(&compare, &CancelToken::never(), &mut |_, _| {}).unwrap();
        for (one, compared) in each(&mut generator, &without_each(&whole, &said.tokens)).iter().zip(&compared) {
            let told = one.draft_log_probabilities.len();
            assert!(
                told == said.tokens.len() || generator.engine.batch_policy().allows_mixed,
                "{told} of {}",
                said.tokens.len()
            );
            let found = logprob_deltas(&said.log_probabilities, &one.draft_log_probabilities);
            assert_eq!(found, compared.drops[..told], "prompt {number}");
            otherwise += usize::from(one.tokens != said.tokens);
        }
    }
    assert!(otherwise > 0, "also where another answer came out");
}

#[test]
fn prompts_share_as_much_whichever_comes_first_and_however_little_room_there_is() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load_sharing(512) else { return };
    let whole = prompt(3);
    let cells = generator.engine.cells();
    let few = answer(&mut generator, &whole).prompt_tokens + whole.max_tokens + 8;
    let mut reused = |room: usize, read: &[&GenerateRequest], requests: &[GenerateRequest]| {
        generator.engine.remove_all();
        generator.slots.clear();
        generator.engine.pretend_cells(room);
        for request in read {
            answer(&mut generator, request);
        }
        each(&mut generator, requests).iter().map(|one| one.reused_tokens).collect::<Vec<_>>()
    };
    let last_first = without_each(&whole, &[]);
    let first_first: Vec<GenerateRequest> = last_first.iter().rev().cloned().collect();
    for (room, read) in [(cells, vec![]), (cells, vec![&whole]), (few, vec![&whole])] {
        let mut shared = reused(room, &read, &first_first);
        shared.reverse();
        assert!(shared[0] > shared[2] && shared[2] > 0, "{shared:?}");
        assert_eq!(shared, reused(room, &read, &last_first), "{room} cells, {} prompts read", read.len());
    }
}

#[test]
fn long_prompts_and_what_was_read_before_change_no_bit() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(mut generator), Some(mut fresh)) = (load(1024), load(1024)) else { return };
    let story = |number: usize| plain(&format!("On day {number} the crew wrote down wind and pressure. ").repeat(14));
    for number in 0..2 {
        let mut whole = prompt(number);
        for (at, day) in [(6, 3), (4, 2), (3, 1)] {
            whole.parts.insert(at, story(day + number));
        }
        let said = answer(&mut generator, &whole);
        assert!(said.prompt_tokens > 512, "{}", said.prompt_tokens);
        let requests = [7, 5, 4].map(|at| {
            let mut request = GenerateRequest { draft: said.tokens.clone(), ..whole.clone() };
            request.parts.remove(at);
            request
        });
        let together = each(&mut generator, &requests);
        for (one, request) in together.iter().zip(&requests) {
            let alone = from_nothing(&mut fresh, request);
            assert_same(one, &alone, &format!("prompt {number}"));
            assert_eq!(one.narrowest, alone.narrowest, "not even the last bit of a margin");
        }
    }
}

#[test]
fn kinds_of_prompts_in_turn_change_no_bit_of_each_other() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(mut generator), Some(mut fresh)) = (load(512), load(512)) else { return };
    no_bit_changes_in_turn(&mut generator, &mut fresh, 5);
}

#[test]
fn kinds_of_prompts_in_turn_change_no_bit_of_larger_weights_either() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(path) =
        ragonite_testing::optional_weights("qwen2.5-coder-1.5b-instruct/qwen2.5-coder-1.5b-instruct-q4_k_m.gguf")
    else {
        return;
    };
    no_bit_changes_for_any_kernels(&path, &of_context(512), 2);
}

#[test]
fn kinds_of_prompts_in_turn_change_no_bit_of_weights_of_four_and_six_bits() {
    no_bit_changes_of_random_weights(&[of_context(2048)], 4);
}

#[test]
fn kinds_of_prompts_in_turn_change_no_bit_with_flash_attention_and_with_a_small_state() {
    let (flash_attention, kv_cache) = (ragonite_inference::FlashAttention::On, ragonite_inference::KvCacheType::Q8);
    let flash = GeneratorSettings { flash_attention, ..of_context(2048) };
    no_bit_changes_of_random_weights(&[flash, GeneratorSettings { kv_cache, ..of_context(2048) }], 2);
}

/// As [`no_bit_changes_for_any_kernels`], for weights of which every byte is a token.
fn no_bit_changes_of_random_weights(each: &[GeneratorSettings], turns: usize) {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("random.gguf");
    random_weights::write(&path, &random_weights::SMALL).unwrap();
    for settings in each {
        no_bit_changes_for_any_kernels(&path, settings, turns);
    }
}

fn of_context(context_tokens: usize) -> GeneratorSettings {
    GeneratorSettings { context_tokens, ..GeneratorSettings::default() }
}

/// As [`no_bit_changes_in_turn`], with calls for each kind of x86-64 processor, which all of them can compute.
fn no_bit_changes_for_any_kernels(weights: &Path, settings: &GeneratorSettings, turns: usize) {
    let of_x86: &[BatchPolicy] =
        if cfg!(target_arch = "x86_64") { &[BatchPolicy::TILE8, BatchPolicy::VNNI] } else { &[] };
    for rows in of_x86.iter().copied().chain([BatchPolicy::for_kernels(&kernel_features().unwrap())]) {
        let load = || {
            let go_on = Box::new(|_| ControlFlow::Continue(()));
            LlamaGenerator::load_for(rows, "larger", weights, settings, go_on).unwrap()
        };
        no_bit_changes_in_turn(&mut load(), &mut load(), turns);
    }
}

/// Two kinds of prompts in turn, and answers without some of their facts between them: each is as from an empty cache.
fn no_bit_changes_in_turn(generator: &mut LlamaGenerator, fresh: &mut LlamaGenerator, turns: usize) {
    let of = |role: &str, number: usize, tokens: usize| {
        let mut request = GenerateRequest { max_tokens: tokens, ..prompt(number) };
        request.parts[1] = plain(&format!("You {role}. {}", "Be short and never guess. ".repeat(8)));
        request
    };
    for number in 0..turns {
        for request in [of("complete questions", number, 5 + number), of("answer questions", 4 - number, 12)] {
            let said = answer(generator, &request);
            let alone = from_nothing(fresh, &request);
            assert_same(&said, &alone, &format!("prompt {number}"));
            assert_eq!(said.narrowest, alone.narrowest, "not even the last bit of a margin");
            // What was written comes again in a prompt.
            let mut later = request.clone();
            later.parts.extend([plain(&said.text), plain("\nAnd then?")]);
            let (again, alone) = (answer(generator, &later), from_nothing(fresh, &later));
            assert_same(&again, &alone, "behind its answer");
            assert_eq!(again.narrowest, alone.narrowest, "behind its answer");
            let requests = &without_each(&request, &said.tokens)[..number % 3];
            for (one, request) in each(generator, requests).iter().zip(requests) {
                let alone = from_nothing(fresh, request);
                assert_same(one, &alone, "without a fact");
                assert_eq!(one.narrowest, alone.narrowest, "without a fact");
            }
        }
    }
}

#[test]
fn sampled_answers_written_together_are_those_of_their_seeds() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(mut generator), Some(mut fresh)) = (load(512), load(512)) else { return };
    for number in 0..3 {
        let seeded = |seed| Sampling::Seeded { temperature: 0.7, seed };
        let whole = GenerateRequest { sampling: seeded(5), ..prompt(number) };
        let said = answer(&mut generator, &whole);
        let with_seeds = |request: GenerateRequest| {
            [5, 6, 7].map(|seed| GenerateRequest { sampling: seeded(seed), ..request.clone() })
        };
        let requests: Vec<GenerateRequest> =
            without_each(&whole, &said.tokens).into_iter().flat_map(with_seeds).collect();
        let together = each(&mut generator, &requests);
        let alone: Vec<Completion> = requests.iter().map(|request| from_nothing(&mut fresh, request)).collect();
        assert_all_same(&together, &alone, &format!("prompt {number}"));
    }
}

#[test]
fn what_is_shared_is_read_once_and_the_slots_stay_right() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(mut generator), Some(mut fresh)) = (load(512), load(512)) else { return };
    let whole = prompt(1);
    let said = answer(&mut generator, &whole);
    let requests = without_each(&whole, &said.tokens);
    let length = |parts: &[PromptPart]| -> usize { parts.iter().map(|p| generator.tokenize(p).unwrap().len()).sum() };
    let shared = [5, 4, 3].map(|part| length(&whole.parts[..part]));
    let warm = each(&mut generator, &requests);
    for (one, shared) in warm.iter().zip(shared) {
        // The facts begin alike, with a word and a number.
        assert!((shared..shared + 4).contains(&one.reused_tokens), "{} of {shared}", one.reused_tokens);
    }
    let again = answer(&mut generator, &whole);
    assert_eq!((again.reused_tokens, &again.tokens), (again.prompt_tokens - 1, &said.tokens), "nothing was pushed out");

    let cold = each(&mut fresh, &requests);
    assert_all_same(&cold, &warm, "with nothing read before");
    assert!(cold[2].reused_tokens > 0, "what the first two share is there for the third");
    let one = each(&mut fresh, &requests[..1]);
    assert_all_same(&one, &warm[..1], "a single request");
    assert!(each(&mut fresh, &[]).is_empty());
}

#[test]
fn answers_are_the_same_where_there_is_room_for_one_prompt_only() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let (Some(mut generator), Some(mut fresh)) = (load_sharing(256), load_sharing(256)) else { return };
    let story = "The crew of the station writes down wind and pressure every hour. ";
    let mut whole = prompt(2);
    whole.parts.insert(3, plain(&story.repeat(5)));
    whole.parts.insert(5, plain(&story.repeat(3)));
    whole.max_tokens = 500;
    let said = answer(&mut generator, &whole);
    let requests: Vec<GenerateRequest> = [7, 6, 5, 4, 3]
        .map(|at| {
            let mut request = GenerateRequest { draft: said.tokens.clone(), ..whole.clone() };
            request.parts.remove(at);
            request
        })
        .to_vec();
    generator.engine.pretend_cells(300);
    let crowded = each(&mut generator, &requests);
    let roomy = each(&mut fresh, &requests);
    assert_all_same(&crowded, &roomy, "with few cells");
    let after = answer(&mut generator, &GenerateRequest { max_tokens: 8, ..whole.clone() });
    assert_same(&after, &from_nothing(&mut fresh, &GenerateRequest { max_tokens: 8, ..whole }), "the next question");
}

#[test]
fn more_answers_than_sequences_are_each_what_they_are_alone_in_either_layout() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    for load in [load, load_sharing] {
        let (Some(mut generator), Some(mut fresh)) = (load(512), load(512)) else { return };
        assert!(generator.engine.states.layout().answer_sequences().len() >= 5, "several are written at once");
        let seeded = |request: GenerateRequest, (seed, max_tokens)| GenerateRequest {
            sampling: Sampling::Seeded { temperature: 0.9, seed },
            max_tokens,
            ..request
        };
        // Answers to one prompt, some of them alike, of which those in the middle end first, between such as are alone
        // with theirs.
        let ends = [(0, 17), (1, 6), (2, 12), (1, 8), (0, 16)];
        let several = |number: usize| ends.map(|end| seeded(prompt(number), end)).into_iter();
        let requests: Vec<GenerateRequest> =
            several(0).chain([prompt(1)]).chain(several(2)).chain([prompt(3), prompt(4)]).collect();
        let together = each(&mut generator, &requests);
        let alone: Vec<Completion> = requests.iter().map(|request| from_nothing(&mut fresh, request)).collect();
        assert_all_same(&together, &alone, "more than sequences");
    }
}

#[test]
fn answers_without_a_draft_are_written_together_by_calls_of_any_kind_and_no_bit_changes() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(path) = weights() else { return };
    let settings = GeneratorSettings { context_tokens: 512, ..GeneratorSettings::default() };
    for rows in [BatchPolicy::TILE8, BatchPolicy::VNNI] {
        let load = || {
            let go_on = Box::new(|_| ControlFlow::Continue(()));
            LlamaGenerator::load_for(rows, "m", &path, &settings, go_on).unwrap()
        };
        let (mut generator, mut fresh) = (load(), load());
        let requests: Vec<GenerateRequest> = (0..5).map(prompt).collect();
        let together = each(&mut generator, &requests);
        for (one, request) in together.iter().zip(&requests) {
            let alone = from_nothing(&mut fresh, request);
            assert_same(one, &alone, "together");
            assert_eq!(one.narrowest, alone.narrowest, "not even the last bit of a margin");
        }
    }
}

#[test]
fn ending_answers_that_are_written_together_leaves_no_trace() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let whole = prompt(3);
    let said = answer(&mut generator, &whole);
    let requests = without_each(&whole, &[]);
    let expected = each(&mut generator, &requests);
    let never = CancelToken::never();

    let mut heard = 0;
    let mut once = |_: usize, _: Completion| {
        heard += 1;
        ControlFlow::Break(())
    };
    generator.generate_batch(&requests, &never, &mut once).unwrap();
    assert_eq!(heard, 1);

    let source = CancelSource::default();
    let mut cancel = |_: usize, _: Completion| {
        source.cancel();
        ControlFlow::Continue(())
    };
    let canceled = generator.generate_batch(&requests, &source.token(), &mut cancel);
    assert!(matches!(canceled, Err(InferenceError::Canceled(_))), "{canceled:?}");

    let long = ask(&"word ".repeat(600), 8);
    let refused = generator.generate_batch(&[requests[0].clone(), long], &never, &mut |_, _| ControlFlow::Continue(()));
    assert!(matches!(refused, Err(InferenceError::PromptTooLong { .. })), "{refused:?}");

    let silent: Vec<GenerateRequest> =
        requests.iter().map(|request| GenerateRequest { max_tokens: 0, ..request.clone() }).collect();
    assert!(each(&mut generator, &silent).iter().all(|one| one.tokens.is_empty() && one.finish == Finish::Length));

    let again = each(&mut generator, &requests);
    assert_all_same(&again, &expected, "after all that");
    assert_same(&answer(&mut generator, &whole), &said, "the whole prompt");
}
