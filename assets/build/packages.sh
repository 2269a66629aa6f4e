#!/bin/sh
# Installs the system packages the build needs, and only those that are missing; what a feature of cargo needs besides,
# where it is named as an argument.
# Prints one line to run by hand where it cannot install them, and exits with 2.
set -u

missing=
need() { missing="$missing $1"; }

# A compiler counts when it compiles: a clang without the C++ library would pass a look for its name.
compiles() { # compiles LANGUAGE COMPILER FLAGS...
    language=$1
    shift
    printf '%s\nint main(void) { return 0; }\n' "$probe" | "$@" -x "$language" - -o /dev/null >/dev/null 2>&1
}

has_libclang() {
    for folder in "${LIBCLANG_PATH:-}" "$(llvm-config --libdir 2>/dev/null)" /usr/lib/llvm-*/lib \
        /usr/lib/*-linux-gnu* /usr/lib /usr/lib64 /usr/local/lib; do
        [ -n "$folder" ] || continue
        [ -f "$folder" ] && return 0
        for file in "$folder"/libclang.so* "$folder"/libclang-[0-9]*.so*; do
            [ -e "$file" ] && return 0
        done
    done
    { ldconfig -p || /sbin/ldconfig -p; } 2>/dev/null | grep -Eq 'libclang(-[0-9.]+)?\.so'
}

has_clang() {
    [ -n "${CLANG_PATH:-}" ] && return 0
    command -v clang >/dev/null 2>&1 && return 0
    for file in /usr/bin/clang-[0-9]*; do [ -x "$file" ] && return 0; done
    return 1
}

has_roots() {
    for file in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt \
        /etc/ssl/ca-bundle.pem /etc/ssl/cert.pem; do
        [ -n "$file" ] && [ -s "$file" ] && return 0
    done
    return 1
}

# Where Vulkan's headers are, as CMake looks for them.
vulkan_headers() {
    for folder in "${VULKAN_SDK:+$VULKAN_SDK/include}" /usr/local/include /usr/include; do
        [ -n "$folder" ] && [ -f "$folder/vulkan/vulkan.hpp" ] && echo "$folder/vulkan" && return 0
    done
    return 1
}

has_spirv_headers() {
    for folder in "${VULKAN_SDK:-}" /usr/local /usr; do
        for file in "$folder"/share/cmake/SPIRV-Headers/SPIRV-HeadersConfig.cmake \
            "$folder"/lib*/cmake/SPIRV-Headers/SPIRV-HeadersConfig.cmake; do
            [ -n "$folder" ] && [ -f "$file" ] && return 0
        done
    done
    return 1
}

vulkan=
for feature in $(printf '%s' "$*" | tr ',' ' '); do
    [ "$feature" = vulkan ] && vulkan=1
done

# llama.cpp says so only after minutes, and CMake would remember the old headers.
new_vulkan_headers() {
    [ -n "$vulkan" ] || return 0
    headers=$(vulkan_headers) && grep -q VK_EXT_layer_settings "$headers/vulkan_core.h" && return 0
    echo "ragonite: the Vulkan headers in ${headers:-/usr/include} are too old: llama.cpp needs those of 2024 or newer" >&2
    echo "ragonite: Debian 13 has newer ones; elsewhere unpack the SDK of vulkan.lunarg.com, set VULKAN_SDK" >&2
    echo "ragonite: to its folder for this processor (x86_64), and run the same command again" >&2
    exit 2
}

probe='#include <stdlib.h>'
compiles c "${CC:-cc}" || need gcc
probe='#include <vector>'
compiles c++ "${CXX:-c++}" -fopenmp || need g++
command -v make >/dev/null 2>&1 || need make
command -v cmake >/dev/null 2>&1 || need cmake
command -v pkg-config >/dev/null 2>&1 || need pkg-config
has_clang || need clang
has_libclang || need libclang-dev
has_roots || need ca-certificates
if [ -n "$vulkan" ]; then
    command -v "${VULKAN_SDK:+$VULKAN_SDK/bin/}glslc" >/dev/null 2>&1 || command -v glslc >/dev/null 2>&1 || need glslc
    vulkan_headers >/dev/null || need libvulkan-dev
    has_spirv_headers || need spirv-headers
fi

if [ -z "$missing" ]; then
    new_vulkan_headers
    exit 0
fi

by_hand() {
    echo "ragonite: $1" >&2
    echo "ragonite: these packages are missing:$missing" >&2
    echo "ragonite: run this line, then the same command again:" >&2
    echo "    sudo apt-get update && sudo apt-get install -y --no-install-recommends$missing" >&2
    exit 2
}

command -v apt-get >/dev/null 2>&1 || by_hand "there is no apt-get here; other systems name the packages differently"

if [ "$(id -u)" = 0 ]; then
    as_root() { env DEBIAN_FRONTEND=noninteractive "$@"; }
elif ! command -v sudo >/dev/null 2>&1; then
    by_hand "packages can be installed by root only, and there is no sudo"
elif sudo -n true 2>/dev/null || [ -t 0 ]; then
    as_root() { sudo env DEBIAN_FRONTEND=noninteractive "$@"; }
else
    by_hand "sudo asks for a password, and there is no terminal to ask on"
fi

echo "ragonite: installing system packages:$missing" >&2
# An interrupted installation is finished first: apt-get refuses to work on top of it. What cannot be finished
# for want of a package that was not unpacked yet, --fix-broken does below.
as_root dpkg --configure -a || echo "ragonite: an interrupted installation is being repaired" >&2
as_root apt-get -o DPkg::Lock::Timeout=300 -q update ||
    echo "ragonite: the package lists could not be renewed, the old ones are used" >&2
# shellcheck disable=SC2086 # one word for each package
as_root apt-get -o DPkg::Lock::Timeout=300 -q --fix-broken install -y --no-install-recommends $missing ||
    by_hand "the packages could not be installed"
new_vulkan_headers
