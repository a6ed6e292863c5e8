#!/usr/bin/env bash
# The nightly run: long hunts, pruned corpora, coverage, interleavings, mutants, a report.
# Usage: ci/nightly.sh [BUDGET_SECONDS] [--out DIR]. See docs/ci.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONPATH=harness${PYTHONPATH:+:$PYTHONPATH}
exec /usr/bin/python3 -m slotfuzz.scripts.nightly "$@"
