#!/bin/sh
# Empties the target folder when it was built for another processor: the program is built for the processor
# it is built on, and one with other instructions would stop it with an illegal instruction.
set -u

case "${RUSTFLAGS-native}" in
*native*) ;;
*) exit 0 ;; # a portable build, which depends on no processor
esac

cpuinfo=${CPUINFO:-/proc/cpuinfo}
[ -r "$cpuinfo" ] || exit 0
target=${CARGO_TARGET_DIR:-target}
stamp=$target/.processor

# Only instruction sets: the kernel adds and drops flags that no compiler looks at.
now=$(sed -n -e 's/^flags[[:space:]]*: //p' -e 's/^Features[[:space:]]*: //p' "$cpuinfo" | head -n 1 | tr ' ' '\n' |
    grep -E '^(sse|ssse|pni|avx|amx|bmi|fma|f16c|aes|sha|gfni|vaes|vpclmul|movbe|adx|popcnt|abm|asimd|sve|sm[0-9]|i8mm|bf16|fp)' |
    sort | tr '\n' ' ')

if [ -f "$stamp" ] && [ "$(cat "$stamp")" != "$now" ]; then
    echo "ragonite: $target was built for another processor, everything is built again" >&2
    cargo clean || exit 2
fi
mkdir -p "$target"
printf '%s\n' "$now" >"$stamp.new" && mv "$stamp.new" "$stamp"
