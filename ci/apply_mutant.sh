#!/usr/bin/env bash
# Applies a seeded bug: copies the files that PATCH touches from CHECKOUT to ROOT and patches the
# copies.
# Usage: apply_mutant.sh CHECKOUT PATCH ROOT
set -euo pipefail
checkout=$1 patch=$2 root=$3
sed -n 's|^+++ b/\([^[:space:]]*\).*|\1|p' "$patch" | while read -r file; do
  mkdir -p "$root/$(dirname "$file")"
  cp "$checkout/$file" "$root/$file"
  touch "$root/$file"
done
patch --directory="$root" --strip=1 --fuzz=0 --quiet --no-backup-if-mismatch <"$patch"
