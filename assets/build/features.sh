#!/bin/sh
# Says which features `src/workspace_hack/Cargo.toml` lacks: each crate by itself must be built from the same crates as the
# whole workspace, or else `cargo test -p CRATE` builds most of them a second time.
set -u

cargo=${CARGO:-cargo}
folder=$(mktemp -d) || exit 2
trap 'rm -rf "$folder"' EXIT

# What runs while building is built apart from the program, often with other features, so both are compared by themselves.
program=normal,dev,no-proc-macro
all=normal,build,dev

features() {
    edges=$1
    shift
    "$cargo" tree "$@" -e "$edges" --prefix none -f '{p} [{f}]' | sed 's/ (\*)$//' | grep -v ' (/' | sort -u
}

features $program --workspace >"$folder/program" && features $all --workspace >"$folder/all" || exit 2
lacking=0
for manifest in src/*/Cargo.toml; do
    name=$(sed -n 's/^name = "\(.*\)"/\1/p' "$manifest" | head -n 1)
    other=$(features $program -p "$name" | comm -23 - "$folder/program" && features $all -p "$name" | comm -23 - "$folder/all")
    if [ -n "$other" ]; then
        echo "ragonite: $name is built with other features than the workspace; add those of the workspace to src/workspace_hack/Cargo.toml:" >&2
        printf '%s\n' "$other" >&2
        lacking=1
    fi
done
exit $lacking
