#!/bin/bash -eu
# A fleet's `compile` runs this. The images have CPython 3.11 in /usr/local, with its library.
SLOTFUZZ_PYTHON=/usr/local/bin/python3 exec "$SRC/slotfuzz/ci/fuzz_build.sh"
