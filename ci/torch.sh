#!/usr/bin/env bash
# Installs Debian's PyTorch and hunts on it. Usage: ci/torch.sh [SECONDS [TREE]]
# With TREE, which ci/torch_rootfs.sh made, hunts on the PyTorch of that release instead. The hunt
# should find something, so its exit code 1 is a success here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
installed() {
  dpkg-query -W -f '${db:Status-Status}' python3-torch 2>/dev/null | grep -q '^installed$'
}
if [[ -z ${2-} ]] && ! installed; then
  as_root=()
  ((EUID == 0)) || as_root=(sudo -n)
  "${as_root[@]}" apt-get install -y -qq --no-install-recommends python3-torch >&2
fi
code=0
./slotfuzz hunt --subject torch ${2:+--rootfs "$2"} --seconds "${1:-60}" \
  --out build/torch-findings || code=$?
((code <= 1))
