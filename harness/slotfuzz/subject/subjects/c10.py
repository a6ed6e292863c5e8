"""c10: the C++ headers of an installed libtorch, built into a target of their own.

It runs no programs: slotfuzz.interleave hunts its claim, count and disarm code by schedules.
"""

from slotfuzz.subject.capabilities import Capabilities

CAPABILITIES = Capabilities(
    module="", make=None, interleaved=("c10",), is_fuzzed_by_schedule=True,
)
