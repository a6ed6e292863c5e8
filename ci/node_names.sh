#!/usr/bin/env bash
# Writes ops/node_names.ops: each name that a release of PyTorch gives ctxs and nodes of its graphs.
# Usage: ci/node_names.sh TREE [TREE...], with trees of ci/torch_rootfs.sh. See docs/ci.md.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
export PYTHONPATH=harness${PYTHONPATH:+:$PYTHONPATH}
exec /usr/bin/python3 -m slotfuzz.scripts.node_names "$@"
