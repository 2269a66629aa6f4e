#!/bin/sh
# Builds the program for NVIDIA GPUs, and puts it beside the one for processors as `ragonite-cuda`, with the libraries it
# needs in `ragonite-cuda-lib`. With arguments it runs cargo with them instead, in the same surroundings: a test, a
# benchmark. CUDA_ARCHITECTURES names the GPUs it is for, as CMake does: 90, or 86;89;90.
set -u

here=$(dirname "$0")
target=${CARGO_TARGET_DIR:-target}
cargo=${CARGO:-cargo}

fail() {
    echo "ragonite: $1" >&2
    exit 2
}

toolkit=$(sh "$here/cuda-tools.sh") || exit 2
toolkit=$(cd "$toolkit" && pwd) || exit 2
mkdir -p "$target/cuda" "$target/release" && target=$(cd "$target" && pwd) || exit 2

# Without a choice those of this machine, or without a GPU every server and desktop since 2020; others start with PTX of
# the newest, which the driver compiles.
found=$(nvidia-smi --query-gpu=compute_cap --format=csv,noheader 2>/dev/null | tr -d '. ' | grep -E '^[0-9]+$' | sort -un |
    tr '\n' ';')
architectures=${CUDA_ARCHITECTURES:-${found:-80;86;89;90}}
architectures=$(printf '%s' "$architectures" | tr ', ' ';;' | sed 's/;$//')
case "$architectures" in
*[!a-z0-9\;-]* | '' | [!0-9]*) fail "CUDA_ARCHITECTURES is \`$architectures\`; write numbers such as 90, or 86;89;90" ;;
esac
# candle's kernels are PTX for one architecture, which newer GPUs compile; from 90 on they are for that one alone.
lowest=$(printf '%s\n' "$architectures" | tr ';' '\n' | sed 's/[^0-9].*//' | sort -n | head -n 1)
case "$architectures" in *\;*) if [ "$lowest" -gt 89 ]; then lowest=89; fi ;; esac

export CARGO_TARGET_DIR="$target/cuda"
export CUDA_PATH="$toolkit" CUDA_HOME="$toolkit" CUDAToolkit_ROOT="$toolkit"
export CUDACXX="$toolkit/bin/nvcc" NVCC="$toolkit/bin/nvcc" PATH="$toolkit/bin:$PATH"
export CMAKE_CUDA_ARCHITECTURES="$architectures" CUDA_COMPUTE_CAP="$lowest"
# Linked statically, cuBLAS alone would be most of a gigabyte, and NVIDIA's packages have no such library.
export LLAMA_BUILD_SHARED_LIBS=1 CMAKE_PLATFORM_NO_VERSIONED_SONAME=ON
# What llama.cpp would fetch models with.
export CMAKE_DISABLE_FIND_PACKAGE_OpenSSL=TRUE
# Each library finds the others beside itself.
# shellcheck disable=SC2016 # the dynamic linker reads it
export CMAKE_INSTALL_RPATH='$ORIGIN'

# Neither build script looks at the architectures again.
built_for=$CARGO_TARGET_DIR/.architectures
if [ -f "$built_for" ] && [ "$(cat "$built_for")" != "$architectures" ]; then
    "$cargo" clean --release -p llama-cpp-sys-2 -p candle-kernels || exit 2
fi
printf '%s\n' "$architectures" >"$built_for" || exit 2

if [ $# -gt 0 ]; then
    # Tests and benchmarks lie elsewhere than the program does.
    export LD_LIBRARY_PATH="$toolkit/lib64${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    exec "$cargo" "$@"
fi

echo "ragonite: building for the CUDA architectures $architectures; CUDA_ARCHITECTURES chooses others" >&2
# shellcheck disable=SC2016 # the dynamic linker reads it
llama=$(sh "$here/cargo-llama.sh" rustc --release --features cuda --bin ragonite -- \
    -C 'link-arg=-Wl,-rpath,$ORIGIN/ragonite-cuda-lib,--disable-new-dtags') || fail "ragonite-cuda was not built"
llama=$(dirname "$(find "$llama" -name libggml-cuda.so -path '*/lib*' | head -n 1)")
[ -e "$llama/libggml-cuda.so" ] || fail "llama.cpp was built without CUDA"

libraries=$target/release/ragonite-cuda-lib
rm -rf "$libraries.new" && mkdir -p "$libraries.new" && cp "$llama"/lib*.so "$libraries.new/" || exit 2
for name in cudart cublas cublasLt curand nvrtc nvrtc-builtins; do
    # Hard links where the disk has them: together they take most of a gigabyte.
    for file in "$toolkit/lib64/lib$name".so.[0-9]*; do
        cp -lP "$file" "$libraries.new/" 2>/dev/null || cp -P "$file" "$libraries.new/" || exit 2
    done
done
rm -rf "$libraries" && mv "$libraries.new" "$libraries" || exit 2
cp "$CARGO_TARGET_DIR/release/ragonite" "$target/release/ragonite-cuda.new" &&
    mv "$target/release/ragonite-cuda.new" "$target/release/ragonite-cuda" || exit 2

# The driver comes with the GPU; all else must be here. What nothing asks for is left out.
needed=$(ldd "$target/release/ragonite-cuda") || fail "ragonite-cuda is no program for this machine"
missing=$(printf '%s\n' "$needed" | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | grep -v '^libcuda\.so' |
    tr '\n' ' ')
[ -z "$missing" ] || fail "ragonite-cuda lacks these libraries: $missing"
for file in "$libraries"/lib*; do
    case "$file" in */libnvrtc-builtins.*) continue ;; esac # loaded by libnvrtc when it compiles
    printf '%s\n' "$needed" | grep -qF "/${file##*/} " || [ -L "$file" ] || rm -f "$file"
done
echo "ragonite: built $target/release/ragonite-cuda; ragonite beside it runs it where it finds a GPU" >&2
