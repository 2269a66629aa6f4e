//! Nothing either: Cargo takes build dependencies into account only where a build script is.

fn main() {}
