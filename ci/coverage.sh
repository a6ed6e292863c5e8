#!/usr/bin/env bash
# Which code of the core the corpora reach, and which they never reach.
# Usage: ci/coverage.sh [--out DIR]. See docs/ci.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONPATH=harness${PYTHONPATH:+:$PYTHONPATH}
exec /usr/bin/python3 -m slotfuzz.scripts.coverage "$@"
