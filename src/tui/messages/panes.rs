//! Names of the panes, and what every pane says.
//!
//! Not here: what one pane says (`messages` in the folder of the pane).

use super::{Words, texts};
use crate::pane::Pane;

texts! { PANES
    question = "Question", "Frage";
    conversation = "Conversation", "Gespräch";
    evidence = "Evidence", "Belege";
    behind_the_scenes = "Behind the scenes", "Ablauf";
    behind = "Behind", "Ablauf";
    why = "Why", "Erklärung";
    domains = "Domains", "Domänen";

    too_small = "window too small", "Fenster zu klein";
    lines_below(below: usize) = " ↓ {below} more ", " ↓ noch {below} ";
}

impl Words {
    /// The name of a pane on its frame.
    pub(crate) fn title(self, pane: Pane) -> &'static str {
        match pane {
            Pane::Composer => self.question(),
            Pane::Behind => self.behind_the_scenes(),
            other => self.tab(other),
        }
    }

    /// Short name of a pane.
    pub(crate) fn tab(self, pane: Pane) -> &'static str {
        match pane {
            Pane::Composer => self.question(),
            Pane::Conversation => self.conversation(),
            Pane::Evidence => self.evidence(),
            Pane::Behind => self.behind(),
            Pane::Why => self.why(),
            Pane::Lists => self.domains(),
        }
    }
}
