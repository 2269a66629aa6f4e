#!/bin/sh
# Checks that cargo is there and that Rust is as new as Cargo.toml says.
set -u

needed=$(sed -n 's/^rust-version *= *"\([0-9.]*\)".*/\1/p' Cargo.toml)
advice="install it from https://rustup.rs, or run \`rustup update stable\`"

if ! command -v cargo >/dev/null 2>&1; then
    echo "ragonite: cargo was not found, Rust $needed or newer is needed; $advice" >&2
    exit 2
fi
found=$(rustc --version 2>/dev/null | sed -n 's/^rustc \([0-9]*\.[0-9]*\).*/\1/p')
if [ -z "$found" ]; then
    echo "ragonite: rustc does not run, Rust $needed or newer is needed; $advice" >&2
    exit 2
fi
if [ "${found%%.*}" -lt "${needed%%.*}" ] ||
    { [ "${found%%.*}" -eq "${needed%%.*}" ] && [ "$(echo "$found" | cut -d. -f2)" -lt "$(echo "$needed" | cut -d. -f2)" ]; }; then
    echo "ragonite: Rust $found was found ($(command -v rustc)), $needed or newer is needed; $advice" >&2
    exit 2
fi
