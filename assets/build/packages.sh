#!/bin/sh
# Installs the system packages the build needs, and only those that are missing.
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

[ -n "$missing" ] || exit 0

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
