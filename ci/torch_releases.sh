#!/usr/bin/env bash
# Runs each script of repro/torch-* in the PyTorch of each tree, and writes `fails_in`.
# Usage: ci/torch_releases.sh TREE [TREE...], with trees of ci/torch_rootfs.sh. See docs/ci.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONPATH=harness${PYTHONPATH:+:$PYTHONPATH}
exec /usr/bin/python3 -m slotfuzz.scripts.torch_releases "$@"
