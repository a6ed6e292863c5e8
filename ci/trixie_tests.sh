#!/usr/bin/env bash
# Builds the core in a tree of Debian trixie, whose Python 3.13 has interpreters with their own GIL,
# and runs tests/core there. Usage: ci/trixie_tests.sh [TREE [PRESET...]]
# ci/torch_rootfs.sh makes TREE if it is missing (default build/rootfs-trixie). The presets are
# plain, thread and address (default: plain thread). The script copies the checkout into the tree
# and builds it there, so that build folders of two Pythons do not mix.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
tree=${1:-$root/build/rootfs-trixie}
presets=("${@:2}")
((${#presets[@]})) || presets=(plain thread)

inside() { "$root/ci/in_rootfs.sh" "$tree" "$@"; }

# Files keep their times, so that only changed files are built again.
copy_checkout() {
  rm -rf "$tree/slotfuzz/source"
  mkdir -p "$tree/slotfuzz/source"
  (cd "$root" && git ls-files -co --exclude-standard -z |
    while IFS= read -r -d '' file; do [[ -e $file ]] && printf '%s\0' "$file"; done |
    tar --null -T - -cf -) | tar -xf - -C "$tree/slotfuzz/source"
}

configure() {
  local preset=$1 compiler
  compiler=$(inside bash -c 'ls /usr/bin/clang++-[0-9]* | sort -V | tail -1')
  inside cmake -S /slotfuzz/source -B "/slotfuzz/$preset" --preset "$preset" -Wno-dev \
    --log-level=WARNING "-DCMAKE_CXX_COMPILER=$compiler" >/dev/null
}

build() { inside ninja -C "/slotfuzz/$1" -j2 --quiet "${@:2}" >&2; }

# One test binary for each preservation protocol.
core_tests_of() {
  inside ninja -C "/slotfuzz/$1" -t targets all | sed -n 's/^\(core_tests[a-z_]*\): phony$/\1/p;
    s/^\(core_tests[a-z_]*\): CXX_EXECUTABLE.*/\1/p' | sort -u
}

# Runs the tests of the core; the arguments are environment variables and a Python.
pytest_core() {
  inside env -C /slotfuzz/source "$@" -m pytest -q -rs -p no:cacheprovider tests/core
}

test_preset() {
  local preset=$1 name names
  echo "== $preset"
  configure "$preset"
  mapfile -t names < <(core_tests_of "$preset")
  ((${#names[@]})) || { echo "trixie_tests: no core_tests in $preset" >&2; exit 2; }
  build "$preset" "${names[@]}"
  for name in "${names[@]}"; do inside "/slotfuzz/$preset/$name" --gtest_brief=1; done
  if [[ $preset == plain ]]; then
    build plain slotcore_module
    pytest_core PYTHONPATH=/slotfuzz/plain/python /usr/bin/python3
  else
    build "$preset" slotpython
    pytest_core TSAN_OPTIONS=report_signal_unsafe=0 ASAN_OPTIONS=detect_leaks=0 \
      "/slotfuzz/$preset/slotpython"
  fi
}

[[ -e $tree/.slotfuzz-complete ]] || "$root/ci/torch_rootfs.sh" trixie "$tree" >&2
copy_checkout
for preset in "${presets[@]}"; do test_preset "$preset"; done
