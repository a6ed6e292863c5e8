#!/usr/bin/env bash
# Installs Debian's PyTorch and hunts on it. Usage: ci/torch.sh [SECONDS]
# A finding is what we look for, so exit code 1 of the hunt is a success here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
if ! dpkg-query -W -f '${db:Status-Status}' python3-torch 2>/dev/null | grep -q '^installed$'; then
  as_root=()
  ((EUID == 0)) || as_root=(sudo -n)
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends python3-torch >&2
fi
code=0
./slotfuzz hunt --subject torch --seconds "${1:-60}" --out build/torch-findings || code=$?
((code <= 1))
