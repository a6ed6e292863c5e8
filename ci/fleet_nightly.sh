#!/usr/bin/env bash
# The fleet test for the builds that are not in ./slotfuzz test: the other sanitizers, and AFL++.
# Usage: ci/fleet_nightly.sh, as root. See docs/fleets.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
./slotfuzz targets >/dev/null # sets up what is missing
export SLOTFUZZ_FLEET="undefined thread coverage afl" SLOTFUZZ_STEPS=1 PYTHONPATH=harness
exec /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider tests/steps/test_fleet.py
