//! What of a prompt is not read again. On real weights: SmolLM2-135M (profile `tiny`).

use std::sync::PoisonError;

use super::tests::{ONE_AT_A_TIME, answer, ask, load, plain};
use super::*;

/// Tokens of the longest beginning that `prompt` shares with what any slot holds; its last token is always read.
fn longest(generator: &LlamaGenerator, prompt: &[LlamaToken]) -> usize {
    let shared = |held: &Vec<LlamaToken>| held.iter().zip(prompt).take_while(|(a, b)| a == b).count();
    generator.slots.contents().iter().map(shared).max().unwrap().min(prompt.len() - 1)
}

#[test]
fn reused_is_the_longest_beginning_shared_with_any_live_sequence() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(mut generator) = load(512) else { return };
    let role = |role: &str, question: &str| {
        let mut request = ask(question, 6);
        request.parts[1] = plain(&format!("You {role}. Never guess, and be as short as you can be in all you say."));
        request
    };
    let first = role("complete questions", "And on Sunday?");
    let said = answer(&mut generator, &first);
    // The same with its answer and another question behind it.
    let mut later = first.clone();
    later.parts.extend([plain(&said.text), plain("\nAnd on Monday?")]);
    let mut changed = first.clone();
    changed.parts[3] = plain("And on Friday?");
    let mut shorter = first.clone();
    shorter.parts.truncate(2);
    let turns = [
        role("answer questions", "When does the ferry go on Sunday?"),
        later,
        role("answer questions", "When does the ferry go on Monday?"),
        changed,
        first.clone(),
        first,
        shorter,
        role("translate", "Good morning."),
        role("answer questions", "When does the ferry go on Monday?"),
    ];
    let mut reused = 0;
    for (turn, request) in turns.iter().enumerate() {
        let prompt = generator.prompt(&request.parts).unwrap();
        let expected = longest(&generator, &prompt);
        let said = answer(&mut generator, request);
        assert_eq!((said.reused_tokens, said.prompt_tokens), (expected, prompt.len()), "turn {turn}");
        reused += said.reused_tokens;
    }
    assert!(reused > 150, "{reused}");
}
