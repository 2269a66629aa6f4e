#!/bin/sh
# Puts a CUDA toolkit below the target folder, from the packages NVIDIA publishes on PyPI, and proves that it compiles and
# links. Where $CUDA_PATH names a toolkit, that one is taken. Prints the toolkit's folder. Exits with 2 where there is none.
set -u

target=${CARGO_TARGET_DIR:-target}
here=$(dirname "$0")
packages=$here/cuda-packages.txt
python=${PYTHON:-python3}

fail() {
    echo "ragonite: $1" >&2
    exit 2
}

if [ -n "${CUDA_PATH:-}" ]; then
    [ -x "$CUDA_PATH/bin/nvcc" ] || fail "\$CUDA_PATH is $CUDA_PATH, and there is no bin/nvcc in it"
    printf '%s\n' "$CUDA_PATH"
    exit 0
fi

[ "$(uname -s)" = Linux ] || fail "the CUDA build is for Linux; set CUDA_PATH to a toolkit where there is one"

kit=$target/cuda-toolkit
toolkit=$kit/nvidia/cu13
stamp=$kit/.packages

# The driver is not on PyPI and not needed to build: a library with its names takes its place when linking. It is in a
# folder that is searched when linking only; the program takes the driver's own.
driver_stub() {
    mkdir -p "$toolkit/lib/stubs" || return 1
    # Two names are in a header of another package.
    { cat "$toolkit"/include/cuda*.h && echo cuProfilerStart cuProfilerStop; } | grep -oE '\bcu[A-Z][A-Za-z0-9_]*' |
        sort -u | sed 's/.*/void &(void) {}/' >"$kit/driver.c" &&
        "${CC:-cc}" -shared -fPIC -nostdlib -Wl,-soname,libcuda.so.1 -o "$toolkit/lib/stubs/libcuda.so" "$kit/driver.c"
}

# Packages hold no links, so the names that the linker looks for are missing.
complete() {
    [ -e "$toolkit/lib64" ] || ln -s lib "$toolkit/lib64" || return 1
    for file in "$toolkit"/lib/lib*.so.*; do
        case "$file" in *.alt.so.*) continue ;; esac
        ln -sf "$(basename "$file")" "${file%%.so.*}.so" || return 1
    done
    driver_stub
}

# A kernel, the runtime, cuBLAS and the driver's names in one program, which is not run.
compiles() {
    cat >"$kit/proof.cu" <<'PROOF'
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_fp16.h>
__global__ void twice(__half *numbers) { numbers[threadIdx.x] = __hadd(numbers[threadIdx.x], numbers[threadIdx.x]); }
int main() {
    cublasHandle_t handle;
    int devices = 0;
    cuDeviceGetCount(&devices);
    twice<<<1, 32>>>(nullptr);
    return cudaGetLastError() == cudaSuccess && cublasCreate(&handle) == CUBLAS_STATUS_SUCCESS ? devices : 1;
}
PROOF
    "$toolkit/bin/nvcc" -std=c++17 -cudart shared -o "$kit/proof" "$kit/proof.cu" -lcublas -lcuda >"$kit/proof.log" 2>&1
}

if ! { [ -f "$stamp" ] && cmp -s "$packages" "$stamp"; }; then
    "$python" -m pip --version >/dev/null 2>&1 ||
        fail "pip is missing, which fetches the CUDA compiler; install it (\`apt-get install python3-pip\`), or set CUDA_PATH to a CUDA toolkit"
    echo "ragonite: fetching the CUDA compiler and libraries (0.7 GB, 1.2 GB on disk) into $kit" >&2
    rm -rf "$kit" && mkdir -p "$kit" || fail "$kit cannot be written"
    # With --target nothing of the system's Python is touched.
    "$python" -m pip install --quiet --disable-pip-version-check --no-deps --no-compile --only-binary=:all: \
        --require-hashes --root-user-action=ignore --target "$kit" -r "$packages" >&2 ||
        fail "the CUDA packages could not be fetched; start again to go on, or set CUDA_PATH to a CUDA toolkit"
    complete || fail "the CUDA packages are not as expected in $toolkit"
    compiles || fail "the CUDA compiler does not work here: $(tail -n 3 "$kit/proof.log")"
    cp "$packages" "$stamp" || exit 2
fi
printf '%s\n' "$toolkit"
