#!/bin/sh
# Runs cargo with the arguments and prints the folder that llama.cpp, as this build has it, was installed into.
set -u

messages=$(mktemp) || exit 2
trap 'rm -f "$messages"' EXIT
trap 'exit 130' INT TERM
command=$1
shift
"${CARGO:-cargo}" "$command" --message-format=json-render-diagnostics "$@" >"$messages" || exit 2
folder=$(sed -n 's/.*"package_id":"[^"]*llama-cpp-sys-2[^"]*".*"out_dir":"\([^"]*\)".*/\1/p' "$messages" | tail -n 1)
[ -n "$folder" ] || exit 2
printf '%s\n' "$folder"
