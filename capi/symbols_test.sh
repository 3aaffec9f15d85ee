#!/bin/sh
# symbols_test.sh LIBRARY HEADER: the library shows what the header declares, and nothing else.
set -eu
export LC_ALL=C
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
nm -D --defined-only "$1" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort >"$scratch/shown"
grep -o 'resmem_[a-z_]*(' "$2" | tr -d '(' | sort -u >"$scratch/named"
# Function names that only a comment has are declared as well.
if ! diff "$scratch/named" "$scratch/shown"; then
  echo "left: only in the header; right: only in the library" >&2
  exit 1
fi
test -s "$scratch/shown"
echo "$(wc -l <"$scratch/shown") functions and no other symbol"
