#!/usr/bin/env bash
# Installs the missing Debian packages of the lists: ci/set_up.sh LIST...
# Progress goes to stderr, a line per step. An error goes to stdout, in one line, with exit 2.
# The output of apt-get goes to a log, whose end goes to stderr when apt-get fails.
set -euo pipefail
lists=("$@")
# Another apt-get may be running, as on a machine that has just started.
readonly kLockSeconds=300 kTailLines=15

refuse() {
  echo "$*"
  exit 2
}

installed() { [[ $(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null) == installed ]]; }

# Prints the packages to install, one per line. Of alternatives it takes the first that is installed
# or that the release offers, so that an older compiler that happens to be installed does not
# replace the newer one.
missing() {
  local line names name
  while IFS= read -r line; do
    [[ -z $line || $line == \#* ]] && continue
    IFS=' |' read -ra names <<<"$line"
    for name in "${names[@]}"; do
      installed "$name" && continue 2
      apt-cache show "$name" >/dev/null 2>&1 && break
    done
    echo "$name"
  done < <(cat "${lists[@]}")
}

# Runs apt-get with its output in the log; shows the end of the log if it fails.
apt() {
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o "DPkg::Lock::Timeout=$kLockSeconds" "$@" >>"$log" 2>&1 </dev/null && return
  tail -n "$kTailLines" "$log" >&2
  return 1
}

command -v dpkg-query >/dev/null ||
  refuse "set-up knows Debian only; install what ${lists[*]} names"
mapfile -t wanted < <(missing)
((${#wanted[@]})) || exit 0
as_root=()
if ((EUID != 0)); then
  sudo -n true 2>/dev/null || refuse "packages are missing; please run:" \
    "sudo apt-get install -y --no-install-recommends ${wanted[*]}"
  as_root=(sudo -n)
fi
log=$(mktemp "${TMPDIR:-/tmp}/slotfuzz-set-up.XXXXXX")
trap 'rm -f "$log"' EXIT
echo "slotfuzz: updating the package lists" >&2
# Packages in a cache can be installed without the network.
apt update || echo "slotfuzz: the package lists could not be updated" >&2
mapfile -t wanted < <(missing)
echo "slotfuzz: installing ${#wanted[@]} packages: ${wanted[*]}" >&2
apt install -y --no-install-recommends "${wanted[@]}" ||
  refuse "apt-get could not install: ${wanted[*]}"
echo "slotfuzz: installed ${#wanted[@]} packages in $SECONDS s" >&2
