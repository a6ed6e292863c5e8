"""A test double of the module slotcore, in Python, with one bug: `del` in hermetic mode.

A storage's wrapper that is deleted in hermetic mode leaves a stale slot; the next wrap writes a
report in AddressSanitizer's words and ends the process. SLOTCORE_TRACE=1 prints trace lines.
"""

import os
import sys

REPORT = """\
=================================================================
==4242==ERROR: AddressSanitizer: heap-use-after-free on address 0x{read:x} at pc 0x5555 bp 0x7ffc
READ of size 8 at 0x{read:x} thread T0
    #0 0x55d0a1 in slotcore::wrap(slotcore::StorageImpl*) core/python/storage.cc:137:9
    #1 0x55d0a2 in _PyEval_EvalFrameDefault Python/ceval.c:1:2

0x{read:x} is located 16 bytes inside of 64-byte region [0x{begin:x},0x{end:x})
freed by thread T0 here:
    #0 0x55d0a3 in free (/bin/storage+0x1)
    #1 0x55d0a4 in slotcore::storage_dealloc(_object*) core/python/storage.cc:278:5

previously allocated by thread T0 here:
    #0 0x55d0a5 in malloc (/bin/storage+0x2)
    #1 0x55d0a6 in slotcore::new_wrapper(slotcore::StorageImpl*) core/python/storage.cc:84:3

SUMMARY: AddressSanitizer: heap-use-after-free core/python/storage.cc:137:9 in slotcore::wrap
"""
IMPL = 0x55FD8DA3C340
depth = 0


def trace(place, event, fields):
    """One trace line, in the core's format."""
    if os.environ.get("SLOTCORE_TRACE"):
        sys.stderr.write(f"    {place:<28} {event:<21}  {fields}\n")


class UntypedStorage:
    """A wrapper of a tensor's storage."""

    def __init__(self, size, owner=None):
        self.size, self.owner, self.address = size, owner, 0x7F73EA8B1C10 + id(self) % 4096 * 64
        trace("core/python/storage.cc:84", "wrapper created",
              f"impl {IMPL:#x}  wrapper {self.address:#x}")

    def __del__(self):
        if self.owner is None:
            return
        if depth:
            trace("core/python/storage.cc:278", "wrapper freed",
                  f"wrapper {self.address:#x}  slot of {IMPL:#x} still holds it")
            self.owner.stale = self.address
        else:
            self.owner.slot_tag = getattr(self, "tag", None)

    def nbytes(self):
        """The size in bytes."""
        if self.size == 0:
            raise RuntimeError("empty")
        return self.size


class Tensor:
    """Owns a storage."""

    def __init__(self, size):
        self.size, self.stale = size, None

    def untyped_storage(self):
        """Wraps the storage; with a stale slot, the process ends as under AddressSanitizer."""
        if self.stale:
            trace("core/python/storage.cc:137", "slot read", f"wrapper {self.stale:#x}")
            begin = self.stale - 16
            sys.stderr.write(REPORT.format(read=self.stale, begin=begin, end=begin + 64))
            sys.stderr.flush()
            os._exit(1)
        return UntypedStorage(self.size, self)


def ones(size):
    """Makes a tensor."""
    return Tensor(size)


def enter_hermetic():
    """Enters hermetic mode."""
    global depth
    depth += 1


def exit_hermetic():
    """Leaves hermetic mode."""
    global depth
    if not depth:
        raise RuntimeError("not in hermetic mode")
    depth -= 1


def hermetic():
    """The block form, which no fake program uses."""
    raise NotImplementedError
