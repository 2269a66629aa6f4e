//! Integration tests, in one binary: linking the engines once is most of their cost.

#[cfg(test)]
mod agreement;
#[cfg(test)]
mod arrange;
#[cfg(test)]
mod bundle;
#[cfg(test)]
mod citations;
#[cfg(test)]
mod commands;
mod compare;
mod context;
#[cfg(test)]
mod copying;
#[cfg(test)]
mod corpus;
#[cfg(test)]
mod eval;
#[cfg(test)]
mod evidence;
#[cfg(test)]
mod first_start;
#[cfg(test)]
mod german;
#[cfg(test)]
mod goals;
#[cfg(test)]
mod history;
#[cfg(test)]
mod keeping;
#[cfg(test)]
mod keys;
#[cfg(test)]
#[cfg(not(any(feature = "cuda", feature = "metal", feature = "vulkan")))]
mod launch;
#[cfg(test)]
mod look;
#[cfg(test)]
mod monkey;
#[cfg(test)]
mod package;
#[cfg(test)]
mod pages;
#[cfg(test)]
mod panes;
#[cfg(test)]
mod pictures;
#[cfg(test)]
mod program;
#[cfg(test)]
mod screen;
#[cfg(test)]
mod states;
#[cfg(test)]
mod terminal;
#[cfg(test)]
mod tidy;
