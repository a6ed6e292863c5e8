#!/usr/bin/env bash
# Runs every program of 4 threads of 2 operations of the protocols, each under every schedule of the
# model. The tests have 3 threads. This takes up to an hour and prints a line of JSON for each set
# of operations.
# Usage: interleavings_nightly.sh [SECONDS_PER_PROGRAM]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
seconds=${1:-600}
build=${SLOTFUZZ_BUILD:-build}
./slotfuzz interleave --describe >/dev/null # builds the targets

every() { # protocol, shape, operations
  "$build/plain/targets/$1" --every-program=2 --threads=4 --shape="$2" --ops="$3" \
    --seconds="$seconds"
}

every claim alone wrap,check,own,die
every claim one wrap,check,own,die
every claim two wrap,check,own,die
every claim three wrap,check,own,die
every disarm slots destruct,disarm,name,incref
every counts locks lock,decref,weak_drop,unwrap
every counts owners decref,wrap,unwrap
every counts owners share,unshare,decref
every counts wrapped decref,unwrap,own
every counts mixed lock,decref,unwrap
every counts bare decref,unique,lock
every counts lent adopt,borrow,decref
every ending references defer,run,end
every accumulator known get,drop
every gradient some add,take
every saved node unpack,release,use,drop
