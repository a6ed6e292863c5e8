#!/usr/bin/env bash
# The gate before a merge: replays the kept programs, fuzzes the difference from BASE, compares with
# BASE.
# Usage: ci/pr.sh BASE [--seconds N] [--seed N] ...; ci/pr.sh -h has all options. See docs/ci.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONPATH=harness${PYTHONPATH:+:$PYTHONPATH}
exec /usr/bin/python3 -m slotfuzz.scripts.pr "$@"
