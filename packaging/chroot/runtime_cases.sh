#!/usr/bin/env bash
# Every way that ONNX Runtime is missing, installed, found or refused, in a clean system with resmem installed:
#   runtime_cases.sh LIBRARY      as root; the right libonnxruntime.so.1.  Leaves it installed for the system.
set -euo pipefail
right=$1
fail() { echo "runtime_cases.sh: $*" >&2; exit 1; }
useradd --create-home someone
home=$(getent passwd someone | cut -d: -f6)
place=/usr/lib/resmem/libonnxruntime.so.1
scratch=$(mktemp -d)
chmod 755 "$scratch"
cp "$right" "$scratch/right.so" && chmod 644 "$scratch/right.so"
head -c 1000000 "$right" >"$scratch/cut.so"
printf '\037\213 no package' >"$scratch/cut.tgz"
chmod 644 "$scratch"/*

# as USER WORD...: without any variable but the path, in a folder that everybody may enter
as() {
  local user=$1
  shift
  (cd / && setpriv --reuid "$user" --regid "$(id -g "$user")" --clear-groups env -i PATH=/usr/bin:/bin "$@")
}
# refuses EXIT TEXT COMMAND...: the exit code, and one sentence that holds TEXT
refuses() {
  local exit=$1 text=$2 found=0
  shift 2
  "$@" >"$scratch/out" 2>"$scratch/words" || found=$?
  [ "$found" = "$exit" ] || fail "$*: exit $found, not $exit: $(cat "$scratch/words")"
  [ "$(grep -c '^error: ' "$scratch/words")" = 1 ] || fail "$*: not one error: $(cat "$scratch/words")"
  tail -n 1 "$scratch/words" | grep -qF -- "$text" || fail "$*: does not say '$text': $(cat "$scratch/words")"
}
uses() {  # USER PATH
  as "$1" resmem runtime info | grep -q "^used  *$2, version " || fail "$1 does not use $2: $(as "$1" resmem runtime info 2>&1)"
}

refuses 3 'resmem runtime install' as someone resmem runtime info
refuses 1 'apt-get install npm' as someone resmem runtime install
refuses 1 'cannot be written' as someone resmem runtime install --system --from "$scratch/right.so"
refuses 1 'cannot be written' as nobody resmem runtime install --from "$scratch/right.so"
refuses 1 'SHA-256 differs' as someone resmem runtime install --from "$scratch/cut.so"
refuses 1 'not the pinned package' as someone resmem runtime install --from "$scratch/cut.tgz"
refuses 1 'cannot be read' as someone resmem runtime install --from "$scratch/missing.tgz"
[ -z "$(find / -xdev -name 'libonnxruntime*' ! -path '/packages/*')" ] || fail "a refused file was installed"

# For one user, who is told by the system's list and not by HOME.
as someone resmem runtime install --from "$scratch/right.so" >/dev/null || fail "not installed for a user"
own=$(echo "$home"/.cache/resmem/onnxruntime-*/libonnxruntime.so.1)
uses someone "$own"
refuses 3 'resmem runtime install' as nobody resmem runtime info
cp "$scratch/cut.so" "$own"
refuses 3 "resmem runtime install" as someone resmem runtime info
as someone resmem runtime install --from "$scratch/right.so" >/dev/null || fail "a broken one is not replaced"
uses someone "$own"
chmod go+w "$own"
refuses 3 'others may write it' as someone resmem runtime info
rm "$own"

# For all.
resmem runtime install --system --from "$scratch/right.so" >/dev/null || fail "not installed for the system"
for user in someone nobody resmem; do uses $user $place; done
cp "$scratch/cut.so" $place
refuses 3 'resmem runtime install' as someone resmem runtime info
resmem runtime install --system --from "$scratch/right.so" >/dev/null || fail "a broken one is not replaced"
uses resmem $place
refuses 3 'no such file' as someone env RESMEM_ONNXRUNTIME=/nowhere.so resmem runtime info
rm -r "$scratch"
userdel --remove someone 2>/dev/null
