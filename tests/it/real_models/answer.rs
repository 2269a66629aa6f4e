//! Citation repair by a real model.

use ragonite::base::{CancelToken, Language};
use ragonite::inference::Completion;
use ragonite::rag::answer::{Answer, AnswerInput, AnswerSettings, generate_answer, repair_citations};

use super::{hit, tiny};

#[test]
fn the_sources_of_a_real_model_are_among_those_of_the_prompt() {
    let Some(mut generator) = tiny() else { return };
    let hits = [hit(1, "The door of the harbour office is green."), hit(2, "Lunch is at noon.")];
    let settings = AnswerSettings::default();
    let input = AnswerInput {
        prefix: "",
        past: &[],
        question: "Which colour has the door?",
        language: Language::English,
        hits: &hits,
        settings: &settings,
    };
    let cancel = CancelToken::never();
    let answer = generate_answer(&mut generator, &input, &cancel, &mut |_| {}).unwrap();
    let mut times = 0;
    for said in ["The door is green.", "It is at noon.", "Green.", "| door |\n| green |"] {
        let completion = Completion { text: said.to_owned(), ..answer.completion.clone() };
        let (text, citations) = (said.to_owned(), Vec::new());
        let unnamed =
            Answer { text, citations, answered: true, completion, named: None, withheld: None, ..answer.clone() };
        let answer = repair_citations(&mut generator, unnamed, "Which colour has the door?", &cancel, &mut |_| {});
        // The model may name no source, or none that supports the answer.
        let Some(named) = &answer.named else {
            assert_eq!((answer.text.as_str(), &answer.citations), (said, &Vec::new()));
            continue;
        };
        times += 1;
        assert!(named.completion.text.ends_with(']'), "{:?}", named.completion.text);
        assert!(!answer.citations.is_empty() && answer.citations.iter().all(|rank| [1, 2].contains(rank)));
        assert_eq!((answer.own_text(), &answer.text), (said, &format!("{said}{}", named.mark)));
        assert!(named.completion.reused_tokens + 1 >= answer.completion.prompt_tokens, "{named:?}");
    }
    assert!(times > 0, "not even once");
}
