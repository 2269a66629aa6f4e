//! Whether a conversation stays on a page from turn to turn.
//!
//! Takes the gold pages of the turns of a conversation; tells for each turn whether it shares a page with the previous
//! one. Pure.

use ragonite_base::page_number;

/// Relation of a turn to the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Topic {
    /// The answer is on a page of the previous turn.
    Stays,
    /// The answer is on another page.
    Shifts,
}

impl Topic {
    /// For each turn, by the names of its gold pages; none for the first. Two spellings of a URL are one page.
    pub(super) fn of_turns<G: AsRef<[String]>>(gold: &[G]) -> Vec<Option<Self>> {
        let topic = |before: &[String], now: &[String]| {
            let stays = now.iter().any(|name| before.iter().any(|other| same(name, other)));
            if stays { Self::Stays } else { Self::Shifts }
        };
        let later = gold.windows(2).map(|pair| Some(topic(pair[0].as_ref(), pair[1].as_ref())));
        gold.first().map(|_| None).into_iter().chain(later).collect()
    }
}

fn same(a: &str, b: &str) -> bool {
    match (page_number(a), page_number(b)) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_turn_stays_where_it_has_a_page_in_common_with_the_turn_before() {
        let page = |end: &str| format!("https://wiki.example/pages/{end}");
        let turns = [
            vec![page("1/Pump:+rooms")],
            vec![page("1/Pump+rooms"), page("2/Charter")],
            vec![page("2")],
            vec!["releases.json".to_owned()],
            vec!["releases.json".to_owned()],
            vec![page("1/Pumps")],
        ];
        let (stays, shifts) = (Some(Topic::Stays), Some(Topic::Shifts));
        assert_eq!(Topic::of_turns(&turns), [None, stays, stays, shifts, stays, shifts]);
        assert_eq!(Topic::of_turns::<Vec<String>>(&[]), []);
    }

    #[test]
    fn two_notes_of_one_year_in_a_folder_of_pages_are_two_pages() {
        let turns = ["/graph/pages/2024-05-01 standup.md", "/graph/pages/2024-11-02 release.md"];
        let turns = turns.map(|path| vec![path.to_owned()]);
        assert_eq!(Topic::of_turns(&turns), [None, Some(Topic::Shifts)]);
    }
}
