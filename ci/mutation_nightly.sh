#!/usr/bin/env bash
# The mutation score of some mutants that rules make of the core, by default 200: another choice
# each day, since all of them take more than a day. Usage: ci/mutation_nightly.sh [SAMPLE]. See
# docs/detection.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec ./slotfuzz bench mutation --sample "${1:-200}" --seed "$(date +%Y%j)"
