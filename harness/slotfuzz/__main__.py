"""Entry point of `python3 -m slotfuzz`; the launcher ./slotfuzz calls it."""

import sys

from slotfuzz.cli import main

sys.exit(main())
