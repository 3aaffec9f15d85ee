#!/usr/bin/env bash
# Installs resmem to a scratch prefix and builds a stranger's project against it, once through
# find_package and once through pkg-config.
set -euo pipefail
build=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
cmake -S "$source" -B "$scratch/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" >/dev/null
cmake --build "$scratch/cmake" >/dev/null
"$scratch/cmake/consumer" "$scratch/a.resmem"

libdir=$(dirname "$(find "$scratch/prefix" -name resmem.pc)")
export PKG_CONFIG_PATH=$libdir
# shellcheck disable=SC2046  # the flags are words
g++ -std=c++20 "$source/consumer.cc" -o "$scratch/consumer" \
  $(pkg-config --define-prefix --static --cflags --libs resmem)
"$scratch/consumer" "$scratch/b.resmem"
