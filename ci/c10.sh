#!/usr/bin/env bash
# Builds the c10 subject on the libtorch that is installed, and hunts on it.
# Usage: ci/c10.sh [--root TREE] [--planted] [SECONDS [SCENARIO...]], or [--root TREE] --build
# With --root it runs in a tree of ci/torch_rootfs.sh, whose libtorch is another release. Otherwise
# it runs here, which needs Debian's libtorch-dev. For each scenario: schedules on fibres under
# ThreadSanitizer and under AddressSanitizer, then real threads under ThreadSanitizer. Prints a line
# for each, with the folder of a finding's crash file and report. With --planted, it runs the
# scenario claim on a copy of the slot's header with a bug: the claim is a check and then a store.
# A run without a finding then fails. With --build it only builds.
# Exit codes: 0 no finding (or the planted one), 1 findings (or no planted one), 2 no start.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tree=
if [[ ${1-} == --root ]]; then
  tree=${2:?ci/c10.sh: --root takes a tree}
  shift 2
fi
building_only=
if [[ ${1-} == --build ]]; then
  building_only=--build
  shift
fi
planted=()
if [[ ${1-} == --planted ]]; then
  planted=(--planted)
  shift
fi
seconds=${1:-20}
scenarios=("${@:2}")
out=${SLOTFUZZ_C10_OUT:-$root/build/c10}
readonly stack_flags="-fno-omit-frame-pointer -gline-tables-only"

refuse() { echo "c10: $*" >&2; exit 2; }

# In a tree: copy the sources, and run this script again inside of the tree.
if [[ -n $tree ]]; then
  mkdir -p "$tree/slotfuzz/c10/ci"
  cp "$root"/ci/c10.sh "$tree/slotfuzz/c10/ci/"
  (cd "$root" && tar -cf - targets/c10 harness core/c10) | tar -xf - -C "$tree/slotfuzz/c10"
  exec "$root/ci/in_rootfs.sh" "$tree" /slotfuzz/c10/ci/c10.sh ${building_only:+--build} \
    "${planted[@]}" "$seconds" "${scenarios[@]}"
fi

compiler() {
  local name
  for name in clang++-19 clang++-14 clang++; do
    command -v "$name" && return
  done
  refuse "no clang++ is installed"
}

# The slot's header with a bug, in a folder that the compiler searches first.
plant() {
  local header=core/impl/PyObjectSlot.h
  [[ -e /usr/include/c10/$header ]] || header=core/TensorImpl.h
  local copy=$out/include/c10/$header
  mkdir -p "$(dirname "$copy")"
  sed 's/pyobj_interpreter_\.compare_exchange_strong(/[this](auto\& old, auto* mine, auto) {\
          old = pyobj_interpreter_.load();\
          if (old == nullptr) pyobj_interpreter_.store(mine);\
          return old == nullptr;\
        }(/' "/usr/include/c10/$header" >"$copy"
  ! cmp -s "$copy" "/usr/include/c10/$header" || refuse "$header has no claim to plant a bug in"
}

# ThreadSanitizer must not instrument the scheduler (harness/interleave/fibre/schedule.cc).
build() {
  local sanitizer=$1 folder=$out/$1 cxx source flags
  cxx=$(compiler)
  mkdir -p "$folder/objects"
  flags=(-std=c++20 -O1 $stack_flags -Wall -Wextra -Wpedantic -Werror
    -Wno-gnu-zero-variadic-macro-arguments "-I$root")
  [[ -z ${planted[*]} ]] || flags+=("-isystem$out/include")
  for source in "$root"/targets/c10/*.cc; do
    "$cxx" "${flags[@]}" -fsanitize="$sanitizer",fuzzer-no-link -c "$source" \
      -o "$folder/objects/$(basename "$source").o"
  done
  local without=$sanitizer
  [[ $sanitizer == thread ]] && without=
  for source in "$root"/harness/interleave/fibre/{fibre,schedule}.cc; do
    "$cxx" "${flags[@]}" ${without:+-fsanitize=$without} -c "$source" \
      -o "$folder/objects/$(basename "$source").o"
  done
  "$cxx" -fsanitize="$sanitizer",fuzzer "$folder"/objects/*.o -lc10 -o "$folder/c10"
}

found=0
# Prints one line; the report of a finding is beside its crash file.
attempt() {
  local label=$1 scenario=$2 code=0
  shift 2
  local folder=$out/findings/$scenario-$label
  rm -rf "$folder" && mkdir -p "$folder"
  (cd "$folder" && "$@" >report.txt 2>&1) || code=$?
  local runs
  if ((code == 0)); then
    runs=$(grep -aoE 'number_of_executed_units: [0-9]+|"runs": [0-9]+' "$folder/report.txt" |
      grep -oE '[0-9]+$' || true)
    echo "$scenario $label: clean, ${runs:-no} runs"
    [[ -n $runs ]] || { echo "c10: nothing ran; see $folder/report.txt" >&2; exit 2; }
  else
    found=1
    echo "$scenario $label: finding, $(grep -a -m1 '^c10: ' "$folder/report.txt" ||
      grep -a -m1 'SUMMARY: ' "$folder/report.txt" || tail -1 "$folder/report.txt"), in $folder"
  fi
}

[[ -e /usr/include/c10/core/TensorImpl.h ]] ||
  refuse "libtorch has no headers here: apt-get install libtorch-dev"
if [[ -n ${planted[*]} ]]; then
  out=$out/planted
  mkdir -p "$out"
  plant
  scenarios=(claim)
fi
for sanitizer in address thread; do
  build "$sanitizer" || refuse "the build under -fsanitize=$sanitizer failed"
done
[[ -z $building_only ]] || exit 0
if ((${#scenarios[@]} == 0)); then
  mapfile -t scenarios < <("$out/address/c10" --describe |
    grep -oE '"name": "[^"]+"' | cut -d'"' -f4)
fi
# A run on fibres prints its schedule after a report, and then stops the fuzzer.
export TSAN_OPTIONS=halt_on_error=0 ASAN_OPTIONS=detect_stack_use_after_return=0
fuzz=(-max_total_time="$seconds" -max_len=64 -seed=1 -print_final_stats=1)
if [[ -n ${planted[*]} ]]; then
  blind=0
  for sanitizer in thread address; do
    found=0
    attempt "$sanitizer" claim "$out/$sanitizer/c10" --scenario=claim "${fuzz[@]}"
    ((found)) || blind=1
  done
  exit "$blind"
fi
for scenario in "${scenarios[@]}"; do
  for sanitizer in thread address; do
    attempt "$sanitizer" "$scenario" "$out/$sanitizer/c10" "--scenario=$scenario" "${fuzz[@]}"
  done
  attempt free-threads "$scenario" env TSAN_OPTIONS=halt_on_error=1 "$out/thread/c10" \
    "--scenario=$scenario" "--threads=$seconds" --seed=1
done
exit "$found"
