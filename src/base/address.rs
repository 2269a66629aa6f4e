//! What the address of a page says.
//!
//! Not here: fetching one; there is no network code.

/// The number of a page in the address of a wiki: the digits after `/pages/`, or those of `pageId`.
#[must_use]
pub fn page_number(url: &str) -> Option<&str> {
    ["/pages/", "pageId="].iter().find_map(|mark| {
        let (_, after) = url.split_once(mark)?;
        let end = after.find(|c: char| !c.is_ascii_digit()).unwrap_or(after.len());
        (end > 0).then(|| &after[..end])
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_a_page_is_read_from_its_url() {
        let space = "https://openxt.example.net/wiki/spaces/TEST/pages/";
        assert_eq!(page_number(&format!("{space}64716806/Bats+Bash")), Some("64716806"));
        assert_eq!(page_number(&format!("{space}64716806")), Some("64716806"));
        assert_eq!(page_number("/wiki/pages/viewpage.action?pageId=17"), Some("17"));
        for none in ["", "regression-2025-03.json", "/pages/", "/pages/Home", "/spaces/64716806"] {
            assert_eq!(page_number(none), None, "{none}");
        }
    }
}
