//! Nothing: see the `Cargo.toml` of this package.
