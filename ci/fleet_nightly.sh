#!/usr/bin/env bash
# The fleet test for the builds that are not in ./slotfuzz test: each sanitizer, and AFL++.
# Usage: ci/fleet_nightly.sh, as root. See docs/fleets.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
refuse() { echo "fleet_nightly: $*" >&2; exit 2; }
((EUID == 0)) || refuse "a bare tree takes root; run it as root"
command -v afl-fuzz >/dev/null || refuse "afl-fuzz is missing: apt-get install afl++"
export SLOTFUZZ_FLEET="address undefined thread coverage afl"
exec ./slotfuzz test --only test_fleet
