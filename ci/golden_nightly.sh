#!/usr/bin/env bash
# Checks the whole golden set: the verdict, signature and bucket of each program have not changed.
# Usage: ci/golden_nightly.sh [SUBJECT...]. See tests/golden/golden.py; a change of what is kept
# is recorded again, and its commit says why.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
PYTHONPATH=.:harness exec /usr/bin/python3 -m tests.golden.golden check "$@"
