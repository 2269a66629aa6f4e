//! Detects abstentions: the out-of-scope sentence in all the forms that models give it.
//!
//! Not here: the sentence itself (`prompt::out_of_scope`).

use super::citation::Citations;
use crate::prompt::out_of_scope;
use ragonite_base::Language;
use ragonite_base::text::lower_words;

/// The language of the out-of-scope sentence, if the answer is that sentence. Quotes, marks, case, white space and the
/// full stop do not matter; text after the sentence makes it an answer only if it cites a source.
pub(super) fn out_of_scope_language(citations: &Citations) -> Option<Language> {
    let mut without_marks = String::new();
    let mut done = 0;
    let mut cited_after = 0;
    for mark in &citations.marks {
        without_marks.push_str(&citations.text[done..mark.span.start]);
        if !mark.ranks.is_empty() {
            cited_after = without_marks.len();
        }
        done = mark.span.end;
    }
    without_marks.push_str(&citations.text[done..]);
    let words = |text| lower_words(text).collect::<Vec<String>>();
    let answer = words(&without_marks);
    let cited = words(&without_marks[..cited_after]);
    Language::ALL.into_iter().find(|language| {
        let sentence = words(out_of_scope(*language));
        // A source cited after further text supports a statement.
        answer == sentence || (answer.starts_with(&sentence) && cited.len() <= sentence.len())
    })
}

#[cfg(test)]
mod tests {
    use super::super::citation::read;
    use super::*;

    fn language(text: &str) -> Option<Language> {
        out_of_scope_language(&read(text, &[1, 2]))
    }

    #[test]
    fn the_sentence_is_recognised_in_any_dress() {
        let english = "The desired information cannot be found in the retrieved pool of evidence";
        for text in [
            format!("{english}."),
            english.to_owned(),
            format!("\"{english}.\" [Source 1]"),
            format!("**{}**", english.to_uppercase()),
            format!("{english}. [Source 1, Source 2]."),
            format!("{english}. The sources are about something else."),
        ] {
            assert_eq!(language(&text), Some(Language::English), "{text}");
        }
        let german = out_of_scope(Language::German);
        assert_eq!(language(german), Some(Language::German));
        assert_eq!(language(&format!("„{german}“ [Quelle 1]")), Some(Language::German));
    }

    #[test]
    fn an_answer_is_no_refusal() {
        for text in [
            "It is blue [Source 1].",
            "",
            "The desired information is in the pool.",
            "The desired information cannot be found in the retrieved pool of evidence. But it is blue [Source 1].",
        ] {
            assert_eq!(language(text), None, "{text}");
        }
    }
}
