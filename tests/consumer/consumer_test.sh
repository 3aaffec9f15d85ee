#!/usr/bin/env bash
# Installs resmem to a scratch prefix and builds a stranger's project against it, once through
# find_package and once through pkg-config.  The core must need libhwy and libxxhash and nothing
# else: it is configured where CMake and pkg-config find no other package, and what was linked is
# looked at.  A report must not need the libraries of models and text.
set -euo pipefail
build=$1 source=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
fail() { echo "consumer_test: $*" >&2; exit 1; }

cmake --install "$build" --prefix "$scratch/prefix" >/dev/null
for file in bin/resmem share/doc/resmem/LICENSE share/bash-completion/completions/resmem \
            share/zsh/site-functions/_resmem share/fish/vendor_completions.d/resmem.fish \
            share/man/man1/resmem.1 share/man/man1/resmem-tune.1 libexec/resmem/resmem-get-runtime; do
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

# needs PROGRAM LIBRARIES: fails where it links others than these and the compiler's.
needs() {
  local extra
  extra=$(readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' |
          grep -vE "^($2|libstdc\\+\\+|libm|libgcc_s|libc|ld-linux.*)\\.so" || true)
  [ -z "$extra" ] || fail "$1 links $extra, but needs $2 only"
}
needs "$scratch/cmake/consumer" 'libhwy|libxxhash'
needs "$scratch/consumer" 'libhwy|libxxhash'

# The prefix that was installed to is the one that pkg-config tells.
told=$(realpath "$(pkg-config --variable=includedir resmem)")
[ "$told" = "$(realpath "$scratch/prefix/include")" ] || fail "resmem.pc names $told"

# A report needs libpng, with zlib below it, and none of the libraries for models and text.
hidden='LibLZMA;JPEG;Protobuf;protobuf;ONNX;zstd'
cmake -S "$source" -B "$scratch/report" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
      -DRESMEM_HIDDEN="$hidden" -DCOMPONENT=report >/dev/null
cmake --build "$scratch/report" >/dev/null
"$scratch/report/report_consumer" "$scratch/page.html"
grep -q '<html' "$scratch/page.html" || fail "no page was written"
needs "$scratch/report/report_consumer" 'libhwy|libxxhash|libpng16|libz'

unset PKG_CONFIG_LIBDIR
cmake -S "$source" -B "$scratch/lm" -G Ninja -DCMAKE_PREFIX_PATH="$scratch/prefix" \
      -DCOMPONENT=lm >/dev/null
cmake --build "$scratch/lm" >/dev/null
"$scratch/lm/lm_consumer"
