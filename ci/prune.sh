#!/usr/bin/env bash
# Minimizes each corpus that hunts have kept in build/corpus/
# Usage: ci/prune.sh. See docs/ci.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONPATH=harness${PYTHONPATH:+:$PYTHONPATH}
exec /usr/bin/python3 -m slotfuzz.scripts.prune "$@"
