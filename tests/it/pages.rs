//! Generated pages for tests and benchmarks: headings, passages, lists and tables, deterministic by number.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::Path;

const NAMES: [&str; 8] = ["Alice", "Bob", "Carol", "David", "Erin", "Frank", "Grace", "Heidi"];
const THINGS: [&str; 8] = ["anchor", "buoy", "compass", "dock", "engine", "flag", "gangway", "hull"];
const PLACES: [&str; 6] = ["harbour", "workshop", "archive", "office", "laboratory", "warehouse"];

/// Writes the pages `numbers` into `folder`, a hundred to a subfolder.
pub(crate) fn write_pages(folder: &Path, numbers: std::ops::Range<usize>) -> io::Result<()> {
    for number in numbers {
        let part = folder.join(format!("part-{:03}", number / 100));
        fs::create_dir_all(&part)?;
        fs::write(part.join(format!("page-{number:05}.html")), page(number))?;
    }
    Ok(())
}

/// One page of about 500 words.
pub(crate) fn page(number: usize) -> String {
    let pick = |words: &[&'static str], salt: usize| words[(number * 31 + salt * 17 + number / 7) % words.len()];
    let mut html = format!("<!doctype html><html><head><title>Report {number}</title></head><body><main>");
    for section in 0..4 {
        let (name, place) = (pick(&NAMES, section), pick(&PLACES, section));
        let _ = write!(html, "<h2>Section {section} of report {number}</h2>");
        for paragraph in 0..2 {
            let thing = pick(&THINGS, section + paragraph);
            let _ = write!(
                html,
                "<p>On day {day} {name} inspected the {thing} number {number}-{section}-{paragraph} in the {place}. It \
                 weighed {weight} kg and was found in order. The next inspection of the {thing} is due in {due} days, \
                 and {other} will carry it out together with the crew of the {place}.</p>",
                day = number % 365 + paragraph,
                weight = number * 3 + section,
                due = 20 + number % 50,
                other = pick(&NAMES, section + 3),
            );
        }
        html.push_str("<ul>");
        for item in 0..4 {
            let thing = pick(&THINGS, section + item);
            let _ = write!(html, "<li>Check the {thing} of ship {}</li>", number + item);
        }
        html.push_str("</ul>");
    }
    html.push_str("<table><tr><th>Member</th><th>Thing</th><th>Hours</th></tr>");
    for row in 0..6 {
        let (name, thing) = (pick(&NAMES, row), pick(&THINGS, row * 3));
        let _ = write!(html, "<tr><td>{name}</td><td>{thing} {number}</td><td>{}</td></tr>", number % 40 + row);
    }
    html.push_str("</table></main></body></html>");
    html
}
