//! The sentences of an answer, with the sources that each cites.
//!
//! Takes an answer in canonical form and the sources of its prompt.
//! Invariants: the sentences cover the text without gaps, in order. In a paragraph that begins with a citation, citations
//! belong to what follows; elsewhere to what stands before. The citation at the end of a paragraph covers the sentences
//! of the paragraph that cite nothing.
//! Not here: the forms of citations (`citation`), where sentences end in plain text (`evidence`).

use std::ops::Range;

use super::citation::{self, Mark};
use ragonite_document::evidence::sentences;

/// A sentence of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AnswerSentence {
    /// Its bytes, with its citations.
    pub span: Range<usize>,
    /// The sources of the prompt that it cites, or that the end of its paragraph cites for it, ascending.
    pub cited: Vec<usize>,
}

/// Splits an answer; a text without words is one sentence.
#[must_use]
pub fn sentences_of(text: &str, sources: &[usize]) -> Vec<AnswerSentence> {
    let marks = citation::read(text, sources).marks;
    // A form that is not canonical has other places.
    let is_canonical = |mark: &Mark| text.get(mark.span.clone()).is_some_and(|mark| mark.starts_with('['));
    let marks: Vec<Mark> = marks.into_iter().filter(is_canonical).collect();
    let mut found = Vec::new();
    for paragraph in paragraphs(text) {
        let mut sentences: Vec<AnswerSentence> = starts_to_spans(&starts(text, &paragraph, &marks), &paragraph)
            .into_iter()
            .map(|span| AnswerSentence { cited: cited_in(&span, &marks), span })
            .collect();
        cover(&mut sentences, text, &marks);
        found.extend(sentences);
    }
    join_wordless(text, &marks, found)
}

/// The pieces of a text that the sentence splitter gives, by paragraph. The first begins at 0.
fn paragraphs(text: &str) -> Vec<Vec<Range<usize>>> {
    let mut paragraphs: Vec<Vec<Range<usize>>> = Vec::new();
    let (mut begin, mut is_open) = (0, false);
    for piece in sentences(text) {
        let end = piece.as_ptr().addr() - text.as_ptr().addr() + piece.len();
        match paragraphs.last_mut().filter(|_| is_open) {
            Some(paragraph) => paragraph.push(begin..end),
            None => paragraphs.push(std::iter::once(begin..end).collect()),
        }
        is_open = !piece[piece.trim_end().len()..].contains('\n');
        begin = end;
    }
    match paragraphs.last_mut().and_then(|paragraph| paragraph.last_mut()) {
        Some(last) => last.end = text.len(),
        None => paragraphs.push(std::iter::once(0..text.len()).collect()),
    }
    paragraphs
}

/// Where the sentences of a paragraph begin.
fn starts(text: &str, pieces: &[Range<usize>], marks: &[Mark]) -> Vec<usize> {
    let first = first_char(text, &pieces[0]);
    let leads = marks.iter().any(|mark| mark.span.start == first);
    let mut starts = vec![pieces[0].start];
    // A citation before its sentence that is a piece of its own has begun the sentence.
    let mut is_begun = !has_words(text, &pieces[0], marks);
    for (at, piece) in pieces.iter().enumerate().skip(1) {
        let is_last = pieces[at..].iter().all(|piece| !has_words(text, piece, marks));
        if !has_words(text, piece, marks) {
            if leads && !is_last && !is_begun {
                starts.push(piece.start);
                is_begun = true;
            }
        } else if !std::mem::take(&mut is_begun) {
            starts.push(if leads { piece.start } else { behind_citations(text, piece, marks) });
        }
    }
    starts
}

/// The offset behind the citations at the beginning of a piece.
fn behind_citations(text: &str, piece: &Range<usize>, marks: &[Mark]) -> usize {
    let mut begin = piece.start;
    while let Some(mark) = marks.iter().find(|mark| mark.span.start == first_char(text, &(begin..piece.end))) {
        begin = mark.span.end;
    }
    first_char(text, &(begin..piece.end))
}

/// The first character that is no white space.
fn first_char(text: &str, span: &Range<usize>) -> usize {
    let written = &text[span.clone()];
    span.start + written.len() - written.trim_start().len()
}

fn has_words(text: &str, span: &Range<usize>, marks: &[Mark]) -> bool {
    let is_word = |(at, c): (usize, char)| {
        c.is_alphanumeric() && !marks.iter().any(|mark| mark.span.contains(&(span.start + at)))
    };
    text[span.clone()].char_indices().any(is_word)
}

fn starts_to_spans(starts: &[usize], pieces: &[Range<usize>]) -> Vec<Range<usize>> {
    let end = pieces.last().map(|piece| piece.end);
    let ends = starts.iter().skip(1).copied().chain(end);
    starts.iter().copied().zip(ends).map(|(start, end)| start..end).collect()
}

fn cited_in(span: &Range<usize>, marks: &[Mark]) -> Vec<usize> {
    let within = marks.iter().filter(|mark| span.contains(&mark.span.start));
    let mut cited: Vec<usize> = within.flat_map(|mark| mark.ranks.iter().copied()).collect();
    cited.sort_unstable();
    cited.dedup();
    cited
}

/// Lets the citation at the end of a paragraph cover the sentences that cite nothing.
fn cover(paragraph: &mut [AnswerSentence], text: &str, marks: &[Mark]) {
    let Some((last, before)) = paragraph.split_last_mut() else { return };
    let is_behind = |c: char| c.is_whitespace() || (c.is_ascii_punctuation() && c != ']');
    let end = text[..last.span.end].trim_end_matches(is_behind).len();
    let Some(mark) = marks.iter().find(|mark| mark.span.end == end && last.span.contains(&mark.span.start)) else {
        return;
    };
    for sentence in before.iter_mut().filter(|sentence| sentence.cited.is_empty()) {
        sentence.cited.clone_from(&mark.ranks);
    }
}

/// Joins each paragraph without words to the sentence before it, or to the first one.
fn join_wordless(text: &str, marks: &[Mark], sentences: Vec<AnswerSentence>) -> Vec<AnswerSentence> {
    let mut joined: Vec<AnswerSentence> = Vec::with_capacity(sentences.len());
    let mut is_begun = false;
    for sentence in sentences {
        let is_worded = has_words(text, &sentence.span, marks);
        match joined.last_mut() {
            Some(last) if !is_worded || !is_begun => {
                last.span.end = sentence.span.end;
                last.cited.extend(sentence.cited);
                last.cited.sort_unstable();
                last.cited.dedup();
            }
            _ => joined.push(sentence),
        }
        is_begun |= is_worded;
    }
    joined
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<(&str, Vec<usize>)> {
        sentences_of(text, &[1, 2, 3]).into_iter().map(|one| (text[one.span].trim(), one.cited)).collect()
    }

    #[test]
    fn a_citation_belongs_to_what_stands_before_it() {
        assert_eq!(split("It is blue. [Source 1]"), [("It is blue. [Source 1]", vec![1])]);
        let two = [("It is blue. [Source 1]", vec![1]), ("It is old.", vec![])];
        assert_eq!(split("It is blue. [Source 1] It is old."), two);
        assert_eq!(split("It is blue [Source 1]. It is old.")[0], ("It is blue [Source 1].", vec![1]));
        let three = split("It is blue. [Source 1, Source 2] It is old. [Source 3]");
        assert_eq!(three, [("It is blue. [Source 1, Source 2]", vec![1, 2]), ("It is old. [Source 3]", vec![3])]);
    }

    #[test]
    fn in_a_paragraph_that_begins_with_a_citation_it_belongs_to_what_follows() {
        assert_eq!(split("[Source 1] It is blue."), [("[Source 1] It is blue.", vec![1])]);
        let two = [("[Source 1] It is blue.", vec![1]), ("[Source 2] It is old.", vec![2])];
        assert_eq!(split("[Source 1] It is blue. [Source 2] It is old."), two);
        assert_eq!(split("Blue.\n[Source 2]: It is old."), [("Blue.", vec![]), ("[Source 2]: It is old.", vec![2])]);
        assert_eq!(split("[Source 1] Blue. Old. [Source 2]")[1], ("Old. [Source 2]", vec![2]));
    }

    #[test]
    fn a_citation_at_the_end_of_a_paragraph_covers_the_paragraph() {
        let covered =
            [("It is blue.", vec![1]), ("It is old [Source 2].", vec![2]), ("It is big. [Source 1]", vec![1])];
        assert_eq!(split("It is blue. It is old [Source 2]. It is big. [Source 1]"), covered);
        assert_eq!(split("It is blue.\nIt is old. [Source 1]")[0], ("It is blue.", vec![]), "another paragraph");
        let within = split("It is blue. The old one [Source 1] is big.");
        assert_eq!(within[0], ("It is blue.", vec![]), "the citation does not end the paragraph");
    }

    #[test]
    fn a_list_has_a_sentence_for_each_item() {
        let items = [("Two:", vec![]), ("- blue [Source 1]", vec![1]), ("- old", vec![])];
        assert_eq!(split("Two:\n- blue [Source 1]\n- old"), items);
    }

    #[test]
    fn what_has_no_words_is_no_sentence_of_its_own() {
        assert_eq!(split("..."), [("...", vec![])]);
        assert_eq!(split(""), [("", vec![])]);
        assert_eq!(split("It is blue.\n[Source 1]"), [("It is blue.\n[Source 1]", vec![1])]);
        assert_eq!(split("***\nIt is blue."), [("***\nIt is blue.", vec![])]);
    }

    proptest! {
        #![proptest_config(ragonite_testing::cases(300))]
        #[test]
        fn the_sentences_cover_any_text(text in r"([aB1. \n-]|\[Source [1-9]\]|ü){0,60}") {
            let found = sentences_of(&text, &[1, 2]);
            prop_assert_eq!(found[0].span.start, 0);
            prop_assert_eq!(found.last().map(|one| one.span.end), Some(text.len()));
            prop_assert!(found.windows(2).all(|pair| pair[0].span.end == pair[1].span.start));
            prop_assert!(found.iter().all(|one| one.cited.iter().all(|rank| [1, 2].contains(rank))));
        }
    }
}
