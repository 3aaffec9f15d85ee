#!/usr/bin/env bash
# Installs resmem to a scratch prefix and builds a stranger's project against it, once through
# find_package and once through pkg-config.  The core must need libhwy and libxxhash and nothing
# else: it is configured where CMake and pkg-config find no other package, and what was linked is
# looked at.
set -euo pipefail
build=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "consumer_test: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
for file in bin/resmem share/doc/resmem/LICENSE share/bash-completion/completions/resmem \
            share/zsh/site-functions/_resmem share/fish/vendor_completions.d/resmem.fish; do
  [ -s "$scratch/prefix/$file" ] || fail "$file was not installed"
done

# A machine that has only the two: pkg-config sees their files alone.
mkdir "$scratch/pc"
for module in libhwy libxxhash; do
  cp "$(pkg-config --variable=pcfiledir $module)/$module.pc" "$scratch/pc/"
done
libdir=$(dirname "$(find "$scratch/prefix" -name resmem.pc)")
export PKG_CONFIG_LIBDIR=$scratch/pc:$libdir
hidden='ZLIB;LibLZMA;PNG;JPEG;Protobuf;protobuf;ONNX;zstd'
cmake -S "$source" -B "$scratch/cmake" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
      -DRESMEM_HIDDEN="$hidden" >/dev/null
cmake --build "$scratch/cmake" >/dev/null
"$scratch/cmake/consumer" "$scratch/a.resmem"

# shellcheck disable=SC2046  # the flags are words
g++ -std=c++20 "$source/consumer.cc" -o "$scratch/consumer" \
  $(pkg-config --static --cflags --libs resmem)
"$scratch/consumer" "$scratch/b.resmem"

for program in "$scratch/cmake/consumer" "$scratch/consumer"; do
  extra=$(readelf -d "$program" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
          grep -vE '^(libhwy|libxxhash|libstdc\+\+|libm|libgcc_s|libc|ld-linux.*)\.so' || true)
  [ -z "$extra" ] || fail "$program links $extra, but the core needs libhwy and libxxhash only"
done

# The prefix that was installed to is the one that pkg-config tells.
told=$(realpath "$(pkg-config --variable=includedir resmem)")
[ "$told" = "$(realpath "$scratch/prefix/include")" ] || fail "resmem.pc names $told"

unset PKG_CONFIG_LIBDIR
cmake -S "$source" -B "$scratch/report" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
      -DWITH_REPORT=ON >/dev/null
cmake --build "$scratch/report" >/dev/null
"$scratch/report/report_consumer"
