#!/bin/sh
# Builds the program for every processor of this architecture that has what RUSTFLAGS names below, into `portable` in the
# target folder, with the libraries it needs in `ragonite-lib` beside it. llama.cpp's kernels are there once for each kind
# of processor, and the program takes the best when it starts.
set -u

here=$(dirname "$0")
target=${CARGO_TARGET_DIR:-target}

fail() {
    echo "ragonite: $1" >&2
    exit 2
}

mkdir -p "$target/portable" && target=$(cd "$target/portable" && pwd) || exit 2
export CARGO_TARGET_DIR="$target"
# Takes the place of the configured flags. On x86-64 what Intel's processors have since 2013 and AMD's since 2015. As single
# features: a name of a processor would go to the C++ compiler too, and llama.cpp has its own kernels for older ones.
case $(uname -m) in
x86_64) RUSTFLAGS="-C target-feature=+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+bmi1,+bmi2,+f16c,+fma,+lzcnt,+movbe" ;;
*) RUSTFLAGS="" ;;
esac
export RUSTFLAGS
# One file per library. Each finds the others beside itself, and there before what LD_LIBRARY_PATH names.
export CMAKE_PLATFORM_NO_VERSIONED_SONAME=ON
# shellcheck disable=SC2016 # the dynamic linker reads it
export CMAKE_INSTALL_RPATH='$ORIGIN'
# What llama.cpp would fetch models with.
export CMAKE_DISABLE_FIND_PACKAGE_OpenSSL=TRUE

# shellcheck disable=SC2016 # the dynamic linker reads it
llama=$(sh "$here/cargo-llama.sh" rustc --release --features portable --bin ragonite -- \
    -C 'link-arg=-Wl,-rpath,$ORIGIN/ragonite-lib,--disable-new-dtags') || fail "the portable program was not built"

program=$target/release/ragonite
libraries=$target/release/ragonite-lib
rm -rf "$libraries" && mkdir -p "$libraries" && cp "$llama"/lib*/lib*.so "$llama"/backends/lib*.so "$libraries/" || exit 2
# The program itself needs AVX2, so these kernels are never the best.
for kernels in x64 sse42 sandybridge ivybridge piledriver; do rm -f "$libraries/libggml-cpu-$kernels.so"; done
# The compiler's libraries, which a bare system may lack or have older than those of this one.
for name in libgomp.so.1 libstdc++.so.6 libgcc_s.so.1; do
    found=$(ldd "$program" "$libraries"/lib*.so | awk -v name="$name" '$1 == name && $2 == "=>" { print $3; exit }')
    [ -n "$found" ] || fail "$name was not found"
    cp -L "$found" "$libraries/$name" || exit 2
done
missing=$(ldd "$program" "$libraries"/lib* | awk '$2 == "=>" && $3 == "not" { print $1 }' | sort -u | tr '\n' ' ')
[ -z "$missing" ] || fail "the portable program lacks these libraries: $missing"
# What neither the program nor the kernels ask for is left out.
needed=$(ldd "$program" "$libraries"/libggml-cpu-*)
for file in "$libraries"/lib*; do
    case "$file" in */libggml-cpu-*) continue ;; esac
    printf '%s\n' "$needed" | grep -qF "/${file##*/} " || rm -f "$file"
done
# It starts with nothing but itself, and has kernels for this processor.
home=$(mktemp -d) || exit 2
doctor=$(env -i HOME="$home" "$program" doctor 2>&1)
rm -rf "$home"
printf '%s\n' "$doctor" | grep -q '^  kernels' || fail "the portable program does not work here: $doctor"
echo "ragonite: built $program; \`bundle create\` of this program packs it with its libraries" >&2
