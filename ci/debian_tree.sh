#!/usr/bin/env bash
# Makes a Debian tree with debootstrap. The scripts that source this file define refuse().
# The mirror is the one that this machine's apt is configured for.
readonly keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# The mirror of Debian itself, not the mirror of its security updates.
mirror() {
  apt-get indextargets --format '$(LABEL) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian" { print $2; exit }'
}

check_means() {
  ((EUID == 0)) || refuse "only root may make a tree with devices in it; run it as root"
  command -v debootstrap >/dev/null || refuse "debootstrap is missing: apt-get install debootstrap"
  [[ -r $keyring ]] || refuse "$keyring is missing: apt-get install debian-archive-keyring"
  [[ -n $(mirror) ]] || refuse "apt knows no mirror of Debian: apt-get update, or see sources.list"
}

# Accepts a tree that these scripts made, or an empty folder, and nothing else.
check_tree() {
  local suite=$1 tree=$2 made
  if [[ -e $tree/.slotfuzz-suite ]]; then
    made=$(<"$tree/.slotfuzz-suite")
    [[ $made == "$suite" ]] || refuse "$tree is a tree of $made, not of $suite"
  elif [[ -n $(ls -A "$tree") ]]; then
    refuse "$tree is neither empty nor a tree that this script has begun"
  fi
}

# Usage: bootstrap SUITE TREE [OPTION OF DEBOOTSTRAP...]. debootstrap cannot continue with an
# unfinished tree, so this starts such a tree again.
bootstrap() {
  local suite=$1 tree=$2
  shift 2
  [[ -e $tree/.slotfuzz-bootstrapped ]] && return
  if [[ -e $tree/.slotfuzz-suite ]]; then
    find "$tree" -xdev -mindepth 1 -maxdepth 1 ! -name .slotfuzz-suite -exec rm -rf \
      --one-file-system {} +
  fi
  echo "$suite" >"$tree/.slotfuzz-suite"
  debootstrap --variant=minbase --keyring="$keyring" "$@" \
    "$suite" "$tree" "$(mirror)" >&2 || refuse "debootstrap failed; $tree/debootstrap has its log"
  : >"$tree/.slotfuzz-bootstrapped"
}
