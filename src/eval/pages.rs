//! The pages of a domain by document, and the gold pages among them.

use std::collections::HashMap;
use std::path::Path;

use super::score::{Page, Placed, page_number};
use super::{EvalError, Question};
use crate::base::DocumentId;
use crate::index::{Index, StoredDocument};
use crate::retrieval::{Hit, Relation};

/// Every page of a domain.
#[derive(Debug, Clone, Default)]
pub struct Pages {
    by_document: HashMap<DocumentId, Page>,
    paths: Vec<(String, DocumentId)>,
}

impl Pages {
    /// Reads what the domain holds.
    ///
    /// # Errors
    /// When the domain cannot be read.
    pub fn of(index: &Index) -> Result<Self, EvalError> {
        let documents = index.documents()?;
        let paths = documents.iter().map(|document| (document.path.clone(), document.id)).collect();
        let by_document = documents.into_iter().map(|document| (document.id, page(document))).collect();
        Ok(Self { by_document, paths })
    }

    /// The page of a document.
    #[must_use]
    pub fn page(&self, document: DocumentId) -> Option<&Page> {
        self.by_document.get(&document)
    }

    /// The page of a hit with those of its copies; none where its document went away since.
    ///
    /// Versions of the page are none of them, though they have the same text: their titles tell them apart.
    #[must_use]
    pub fn of_hit(&self, hit: &Hit) -> Option<Placed> {
        let copies = hit.copies.iter().filter(|copied| copied.relation == Relation::Copy);
        let copies = copies.filter_map(|copied| self.page(copied.document)).cloned().collect();
        Some(Placed { page: self.page(hit.document)?.clone(), copies })
    }

    /// The gold pages of a question that are in the domain.
    pub(super) fn gold_of(&self, question: &Question) -> Vec<Page> {
        question.gold.iter().filter_map(|name| self.gold(name)).collect()
    }

    /// Whether a gold page of the question is in the domain under a URL that is the same letter by letter, or a path, so
    /// that it can be found by URL.
    pub(super) fn spells(&self, question: &Question) -> bool {
        let spelled = |gold: &Page| self.by_document.values().any(|page| page.url == gold.url);
        self.gold_of(question).iter().any(spelled)
    }

    /// The page that a gold URL or path names, with that name as its URL: by number where it has one, else by the end
    /// of its path, else by its whole URL.
    #[must_use]
    pub fn gold(&self, name: &str) -> Option<Page> {
        let found = if let Some(number) = page_number(name) {
            self.by_document.values().find(|page| page.number == number)
        } else {
            let named = self.paths.iter().find(|(path, _)| Path::new(path).ends_with(name));
            let by_url = || self.by_document.values().find(|page| page.url == name);
            named.and_then(|(_, document)| self.page(*document)).or_else(by_url)
        }?;
        let url = if page_number(name).is_some() { name.to_owned() } else { found.url.clone() };
        Some(Page { url, ..found.clone() })
    }
}

fn page(document: StoredDocument) -> Page {
    let url = document.url.unwrap_or(document.path);
    let number = page_number(&url).unwrap_or(&url).to_owned();
    Page { number, url, content: document.fingerprint }
}
