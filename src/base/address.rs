//! Page numbers in the URLs of wikis.
//!
//! Takes a URL, gives its page number. Not here: network access; there is none.

/// The page number in a wiki URL: the digits after `/pages/` or `pageId=`.
///
/// None if the digits are only the start of a name, as in `/pages/2024-05-01`, and none for a file path, whose folders
/// may be called `pages` too.
#[must_use]
pub fn page_number(url: &str) -> Option<&str> {
    if !is_url(url) {
        return None;
    }
    let of_wiki = number_after(url, "/pages/", &['/', '?', '#']);
    of_wiki.or_else(|| ["?pageId=", "&pageId="].iter().find_map(|mark| number_after(url, mark, &['&', '#'])))
}

fn is_url(text: &str) -> bool {
    let begins = |scheme: &str| text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme));
    begins("https://") || begins("http://")
}

/// The digits behind `mark`, if the text or one of `ends` follows them.
fn number_after<'a>(text: &'a str, mark: &str, ends: &[char]) -> Option<&'a str> {
    text.match_indices(mark).find_map(|(at, _)| {
        let after = &text[at + mark.len()..];
        let digits = &after[..after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len())];
        let rest = &after[digits.len()..];
        (!digits.is_empty() && (rest.is_empty() || rest.starts_with(ends))).then_some(digits)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_page_is_read_from_its_url() {
        let space = "https://harbour.example.net/wiki/spaces/OPS/pages/";
        for end in ["48210377/Pump+rooms", "48210377", "48210377?focus=1", "48210377#Limits"] {
            assert_eq!(page_number(&format!("{space}{end}")), Some("48210377"), "{end}");
        }
        for (url, number) in [
            ("HTTP://wiki.example/pages/viewpage.action?pageId=17", "17"),
            ("https://wiki.example/view?space=OPS&pageId=17&focus=3", "17"),
            ("https://wiki.example/pages/crew/pages/9/Rota", "9"),
        ] {
            assert_eq!(page_number(url), Some(number), "{url}");
        }
    }

    #[test]
    fn a_path_and_a_name_that_begins_with_digits_have_no_number() {
        for none in [
            "",
            "regression-2025-03.json",
            "/graph/pages/2024-05-01 standup.md",
            "/graph/pages/12/pumps.md",
            "graph/pages/12",
            "/pages/12 pumps.md",
            "viewpage.action?pageId=17",
            "https://wiki.example/pages/2024-05-01",
            "https://wiki.example/pages/2024.html",
            "https://wiki.example/pages/12+pumps",
            "https://wiki.example/pages/",
            "https://wiki.example/pages/Home",
            "https://wiki.example/spaces/48210377",
            "https://wiki.example/view?homepageId=17",
            "https://wiki.example/view?pageId=17a",
        ] {
            assert_eq!(page_number(none), None, "{none}");
        }
    }
}
