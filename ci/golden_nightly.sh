#!/usr/bin/env bash
# The whole golden set: verdict, signature and bucket of each program are what they were.
# Usage: ci/golden_nightly.sh [SUBJECT...]. See tests/golden/golden.py; a change of what is kept
# is recorded anew, and its commit says why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PYTHONPATH=.:harness exec /usr/bin/python3 -m tests.golden.golden check "$@"
