#!/usr/bin/env bash
# Makes a bare Debian tree, without Python, compiler or checkout, in which a fleet's targets run.
# Usage: ci/bare_rootfs.sh DIR. Needs root and debootstrap; a complete tree is left unchanged.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
suite=bookworm

refuse() { echo "bare_rootfs: $*" >&2; exit 2; }

. "$root/ci/debian_tree.sh"

(($# == 1)) || refuse "usage: ci/bare_rootfs.sh DIR"
check_means
mkdir -p "$1" || refuse "cannot make $1"
check_tree "$suite" "$1"
bootstrap "$suite" "$1"
