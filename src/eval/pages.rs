//! The pages of a domain by document, and the gold pages among them.
//!
//! Invariant: every document that matches a gold name is gold, equally in every run.

use std::collections::HashSet;
use std::path::Path;

use indexmap::IndexMap;

use super::score::{Page, Placed};
use super::{EvalError, Question};
use ragonite_base::{DocumentId, page_number};
use ragonite_index::{Index, StoredDocument};
use ragonite_rag::retrieval::{Hit, Relation};

/// The pages of a domain.
#[derive(Debug, Clone, Default)]
pub struct Pages {
    /// In the order of the documents.
    by_document: IndexMap<DocumentId, Page>,
    paths: Vec<(String, DocumentId)>,
}

impl Pages {
    /// Reads the pages of a domain.
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

    /// The page of a hit with the pages of its copies; none if its document was removed.
    ///
    /// Other versions of the page are no copies, even with the same text: their titles differ.
    #[must_use]
    pub fn of_hit(&self, hit: &Hit) -> Option<Placed> {
        let copies = hit.copies.iter().filter(|copied| copied.relation == Relation::Copy);
        let copies = copies.filter_map(|copied| self.page(copied.document)).cloned().collect();
        Some(Placed { page: self.page(hit.document)?.clone(), copies })
    }

    /// The gold pages of a question that are in the domain.
    pub(super) fn gold_of(&self, question: &Question) -> Vec<Page> {
        question.gold.iter().flat_map(|name| self.gold(name)).collect()
    }

    /// Whether a gold name of the question matches different pages.
    #[must_use]
    pub fn is_ambiguous(&self, question: &Question) -> bool {
        question.gold.iter().any(|name| self.gold(name).len() > 1)
    }

    /// Whether a gold page is in the domain under the exact URL of the question or under a path, so that it can be
    /// found by URL.
    pub(super) fn spells(&self, question: &Question) -> bool {
        let spelled = |gold: &Page| self.by_document.values().any(|page| page.url == gold.url);
        self.gold_of(question).iter().any(spelled)
    }

    /// The pages that a gold URL or path matches, in the order of the documents, each once: by number if the URL has
    /// one (with the gold name as their URL), else by the end of the path, else by the whole URL. Several if documents
    /// share a number, or files in different folders a name.
    #[must_use]
    pub fn gold(&self, name: &str) -> Vec<Page> {
        let mut found: Vec<Page> = if let Some(number) = page_number(name) {
            let numbered = self.by_document.values().filter(|page| page.number == number);
            numbered.map(|page| Page { url: name.to_owned(), ..page.clone() }).collect()
        } else {
            let named = self.paths.iter().filter(|(path, _)| Path::new(path).ends_with(name));
            named.filter_map(|(_, document)| self.page(*document)).cloned().collect()
        };
        if found.is_empty() && page_number(name).is_none() {
            found.extend(self.by_document.values().filter(|page| page.url == name).cloned());
        }
        let mut seen = HashSet::new();
        found.retain(|page| seen.insert(page.clone()));
        found
    }
}

fn page(document: StoredDocument) -> Page {
    let url = document.url.unwrap_or(document.path);
    let number = page_number(&url).unwrap_or(&url).to_owned();
    Page { number, url, content: document.fingerprint }
}
