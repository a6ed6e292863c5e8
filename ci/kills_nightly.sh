#!/usr/bin/env bash
# SIGKILL for random processes of hunts: nothing may be lost, and no kill may become a finding.
# Usage: ci/kills_nightly.sh [KILLS]. See bench/kills.py.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
exec ./slotfuzz bench kills --runs "${1:-200}"
