#!/usr/bin/env bash
# Makes a Debian tree of another release with its PyTorch, and everything that slotfuzz needs to
# build there. Usage: ci/torch_rootfs.sh bookworm|trixie|sid DIR
# Needs root, debootstrap, and the network that apt-get uses: the mirror is the one that this
# machine's apt is configured for. A second run completes a tree. No mount remains.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
readonly suites="bookworm trixie sid"
# Trixie takes 2500 MiB, and apt's downloads during the installation; the rest is for builds.
readonly kDiskMebibytesMin=8000

refuse() { echo "torch_rootfs: $*" >&2; exit 2; }

. "$root/ci/debian_tree.sh"

check_request() {
  [[ $# -eq 2 ]] || refuse "usage: ci/torch_rootfs.sh ${suites// /|} DIR"
  [[ " $suites " == *" $1 "* ]] || refuse "unknown suite '$1'; there are: $suites"
  check_means
  mkdir -p "$2" || refuse "cannot make $2"
}

check_disk() {
  local tree=$1 free
  free=$(df --output=avail --block-size=1M "$tree" | tail -1)
  if [[ ! -e $tree/.slotfuzz-complete ]] && ((free < kDiskMebibytesMin)); then
    refuse "$tree has $free MiB free; a tree takes up to $kDiskMebibytesMin MiB"
  fi
}

# The time, in seconds, until which the mirror's signed list of a suite is valid; nothing if the
# list does not say.
valid_until() {
  local words
  words=$(inside "$1" /usr/lib/apt/apt-helper download-file \
    "$(mirror)dists/$2/InRelease" /tmp/InRelease >/dev/null 2>&1 &&
    sed -n 's/^Valid-Until: //p; /^SHA256:/q' "$1/tmp/InRelease") || return 0
  [[ -z $words ]] || date -d "$words" +%s
}

# The list of a mirror that is no longer updated has expired, and apt refuses it. Its contents are
# still signed, so this only disables the check of its age.
allow_old_list() {
  local tree=$1 suite=$2 until now
  until=$(valid_until "$tree" "$suite")
  now=$(date +%s)
  [[ -n $until ]] && ((until < now)) || return 0
  echo "torch_rootfs: the mirror's list of $suite is past its date by" \
    "$(((now - until) / 86400)) days; signatures are checked, its age is not" >&2
  printf 'Acquire::Check-Valid-Until "false";\n' >>"$tree/etc/apt/apt.conf.d/91slotfuzz"
}

# apt in the tree uses the same proxy as apt here, and starts no services.
configure_apt() {
  local tree=$1 proxy=$1/etc/apt/apt.conf.d/90proxy
  apt-config dump | grep -iE '^Acquire::(http|https)::.*proxy' >"$proxy" || rm -f "$proxy"
  printf 'APT::Install-Recommends "false";\n' >"$tree/etc/apt/apt.conf.d/91slotfuzz"
  printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
  chmod +x "$tree/usr/sbin/policy-rc.d"
}

inside() { "$root/ci/in_rootfs.sh" "$@"; }

# One package for each line of ci/packages.txt: the first that the release offers. If it offers none
# of the named versions, the package without a version, because sid drops old compilers.
wanted_packages() {
  local tree=$1 line names name offered
  offered=$(inside "$tree" apt-cache pkgnames)
  while IFS= read -r line; do
    [[ -z $line || $line == \#* ]] && continue
    IFS=' |' read -ra names <<<"$line"
    names+=("$(sed -E 's/-[0-9]+//' <<<"${names[0]}")")
    for name in "${names[@]}"; do
      grep -qxF -- "$name" <<<"$offered" && { echo "$name"; continue 2; }
    done
    refuse "this release offers none of: ${names[*]}"
  done < <(cat "$root/ci/packages.txt" - <<<$'python3-torch\nlibtorch-dev')
}

install_packages() {
  local tree=$1 wanted
  inside "$tree" apt-get update -qq >&2 || refuse "apt-get update failed in $tree"
  # An earlier run may have stopped after unpacking packages and before configuring them.
  inside "$tree" dpkg --configure -a >&2 || refuse "dpkg --configure -a failed in $tree"
  wanted=$(wanted_packages "$tree") || exit 2
  mapfile -t wanted <<<"$wanted"
  inside "$tree" apt-get install -y -qq -o Dpkg::Use-Pty=0 "${wanted[@]}" >&2 ||
    refuse "apt-get could not install everything into $tree; run this again to continue"
  inside "$tree" apt-get clean
  : >"$tree/.slotfuzz-complete"
}

report() {
  local tree=$1
  echo "tree     $tree"
  echo "release  $(inside "$tree" bash -c '. /etc/os-release; echo "$PRETTY_NAME"')"
  inside "$tree" /usr/bin/python3 -c "if True:
    import platform, torch
    print('python  ', platform.python_version())
    print('torch   ', torch.__version__)"
  echo "clang    $(inside "$tree" bash -c 'ls /usr/bin/clang++-[0-9]* | tail -1')"
  echo "size     $(du -xsm "$tree" | cut -f1) MiB"
}

check_request "$@"
suite=$1
tree=$(cd "$2" && pwd)
check_tree "$suite" "$tree"
check_disk "$tree"
bootstrap "$suite" "$tree" --include=ca-certificates
configure_apt "$tree"
allow_old_list "$tree" "$suite"
install_packages "$tree"
report "$tree"
