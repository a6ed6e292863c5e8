#!/usr/bin/env bash
# Builds every target as OSS-Fuzz and ClusterFuzzLite expect them: $OUT holds binaries, seeds,
# options and everything that they need where nothing is installed.
# Usage: ci/fuzz_build.sh [TARGET...] [--mutant ID]. See docs/fleets.md.
# SLOTFUZZ_PYTHON is the interpreter to embed, by default the system's. This script sets up nothing
# first: a fleet's image has what its Dockerfile installs.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export PYTHONPATH=$root/harness
exec "${SLOTFUZZ_PYTHON:-/usr/bin/python3}" -m slotfuzz.scripts.fuzz_build "$@"
