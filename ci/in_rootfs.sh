#!/usr/bin/env bash
# Runs a command in a tree of ci/torch_rootfs.sh. Usage: ci/in_rootfs.sh TREE COMMAND [WORD...]
# The command sees the tree as its root, with /proc, /sys and /dev. When it ends, these mounts and
# every process that it started are gone. Its environment has only the words of SLOTFUZZ_ROOTFS_ENV
# (NAME=VALUE, separated by blanks).
set -euo pipefail

refuse() { echo "in_rootfs: $*" >&2; exit 2; }

(($# >= 2)) || refuse "usage: ci/in_rootfs.sh TREE COMMAND [WORD...]"
((EUID == 0)) || refuse "only root may enter a tree; run it as root"
[[ -e $1/.slotfuzz-bootstrapped ]] || refuse "$1 is not a tree; make it with ci/torch_rootfs.sh"

# A process id namespace, so that SIGKILL for this script ends every process inside. unshare holds
# back SIGTERM and SIGINT: use `timeout -s KILL`.
exec unshare --mount --propagation private --pid --fork --kill-child -- bash -ec '
  tree=$1
  shift
  mount -t proc proc "$tree/proc"
  mount -t sysfs sysfs "$tree/sys"
  mount --rbind /dev "$tree/dev"
  read -ra extra <<<"${SLOTFUZZ_ROOTFS_ENV-}"
  exec chroot "$tree" env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin "${extra[@]}" "$@"' bash "$@"
