//! Builds the tree of an HTML parser from markup.
//!
//! Takes the source of a page or fragment. It is fed to the parser in pieces, because the parser needs seconds for the
//! largest pages and cannot be cancelled.
//! Invariants: the tree equals that of parsing the whole; if cancelled, it is that of a prefix.
//! Not here: repairs before parsing (`markup`), the meaning of the tree (`html`, `confluence_html`).

use html5ever::driver::{self, ParseOpts, Parser};
use html5ever::tendril::{StrTendril, TendrilSink as _};
use html5ever::{QualName, local_name, ns};
use scraper::{Html, HtmlTreeSink};

use super::markup::{Dialect, prepare};
use ragonite_base::CancelToken;

/// Bytes fed to the parser at a time: some milliseconds.
const PIECE: usize = 256 << 10;

/// The tree of a whole page.
pub(super) fn of_page(source: &str, cancel: &CancelToken) -> Html {
    let parser = driver::parse_document(HtmlTreeSink::new(Html::new_document()), ParseOpts::default());
    fed(parser, &prepare(source, Dialect::Html, cancel), PIECE, cancel)
}

/// The tree of a fragment.
pub(super) fn of_fragment(source: &str, dialect: Dialect, cancel: &CancelToken) -> Html {
    fed(fragment_parser(), &prepare(source, dialect, cancel), PIECE, cancel)
}

fn fragment_parser() -> Parser<HtmlTreeSink> {
    let within = QualName::new(None, ns!(html), local_name!("body"));
    let sink = HtmlTreeSink::new(Html::new_fragment());
    driver::parse_fragment(sink, ParseOpts::default(), within, Vec::new(), false)
}

fn fed(mut parser: Parser<HtmlTreeSink>, markup: &str, piece: usize, cancel: &CancelToken) -> Html {
    let mut rest = markup;
    while !rest.is_empty() && !cancel.is_canceled() {
        let (next, after) = rest.split_at(rest.floor_char_boundary(piece));
        parser.process(StrTendril::from(next));
        rest = after;
    }
    parser.finish()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ragonite_testing::cases(256))]

        #[test]
        fn a_tree_made_in_pieces_is_that_of_the_whole(
            parts in prop::collection::vec(
                prop_oneof![
                    Just("<table>"), Just("<tr><td>"), Just("</table>"), Just("<p>"), Just("</p>"), Just("<b>"),
                    Just("<a href='x&amp;y'>"), Just("</a>"), Just("&amp"), Just("&notin;"), Just("&#x1F"), Just("ä"),
                    Just("<!-- c -->"), Just("<!DOCTYPE html>"), Just("\r\n"), Just("\0"), Just("<title>t</title>"),
                    Just("text "), Just("<"), Just("<svg><path/>"), Just("<li>"),
                ],
                0..40,
            ),
            piece in 4usize..20,
        ) {
            let markup = parts.concat();
            let never = CancelToken::never();
            prop_assert_eq!(&fed(fragment_parser(), &markup, piece, &never).tree, &Html::parse_fragment(&markup).tree);
        }
    }
}
