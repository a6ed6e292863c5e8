#!/usr/bin/env bash
# Builds the targets as OSS-Fuzz and ClusterFuzzLite expect them: binaries and zipped seeds in $OUT.
# Outside of those, OUT defaults to build/fuzz-out. The target that must fail is left out.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
out=${OUT:-build/fuzz-out}
mkdir -p "$out"
for target in $(./slotfuzz targets --json | /usr/bin/python3 -c '
import json, sys
print(*(row["target"] for row in json.load(sys.stdin) if not row["must_fail"]))'); do
  ./slotfuzz ops --target "$target" >/dev/null # builds it
  cp "build/address/targets/$target" "$out/$target"
  /usr/bin/python3 - "corpus/$target" "$out/${target}_seed_corpus.zip" <<'PYTHON'
import sys, zipfile
from pathlib import Path
with zipfile.ZipFile(sys.argv[2], "w", zipfile.ZIP_DEFLATED) as archive:
    for path in sorted(Path(sys.argv[1]).glob("*.py")):
        archive.write(path, path.name)
PYTHON
done
ls -l "$out"
