//! Integration tests in one binary, because linking llama.cpp and candle is most of their cost.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test that fails panics, and one that is skipped says so"
)]

mod agreement;
mod arrange;
mod bundle;
mod citations;
mod commands;
mod compare;
mod context;
mod contract;
mod copying;
mod corpus;
mod eval;
mod evidence;
mod first_start;
mod german;
mod goals;
mod guide;
mod history;
mod keeping;
mod keys;
#[cfg(not(any(feature = "cuda", feature = "metal", feature = "vulkan")))]
mod launch;
mod look;
mod monkey;
mod package;
mod pages;
mod panes;
mod pictures;
mod program;
mod real_models;
mod screen;
mod states;
mod terminal;
mod tidy;
mod true_words;
