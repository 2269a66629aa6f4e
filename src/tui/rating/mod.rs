//! The rating of an answer.

pub(crate) mod messages;
