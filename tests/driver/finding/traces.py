"""Traces of runs as text, and replies with them, for tests of the ownership timeline."""

import re

from slotfuzz.schema import trace
from tests.driver import replies

# The events of a wrap by refcount-bit and by resurrection, for the storage impl 0x10.
TENSOR = """\
> t0 = T.ones(1)
    core/s.cc:1  impl created          impl 0x10  type StorageImpl  bytes 4
    core/t.cc:2  impl created          impl 0x20  type TensorImpl  storage 0x10
    core/w.cc:3  slot written          impl 0x20  wrapper 0x21
    core/w.cc:4  wrapper created       impl 0x20  wrapper 0x21  type Tensor
    observed  impl 0x20  wrapper 0x21  references 1  owners 1  held by  names t0  weak
"""
OBSERVED = """\
    observed  impl 0x20  wrapper 0x21  references 1  owners 1  held by  names t0  weak
"""
WRAP = """\
> s0 = t0.untyped_storage()
    core/w.cc:5  slot read             impl 0x10  wrapper 0x0
    core/w.cc:3  slot written          impl 0x10  wrapper 0x11
{held}    core/w.cc:4  wrapper created       impl 0x10  wrapper 0x11  type UntypedStorage
""" + OBSERVED + """\
    observed  impl 0x10  wrapper 0x11  references {refs}  owners 2  held by t0  names s0  weak
"""
BIT = TENSOR + WRAP.format(
    held="    core/r.cc:9  wrapper held          impl 0x10  wrapper 0x11\n", refs=2)
RESURRECTS = TENSOR + WRAP.format(held="", refs=1)
# A leaf 0x20, its AccumulateGrad 0x30, the node 0x40 of a Function, and its ctx 0x50, which has
# saved the leaf.
FUNCTION = TENSOR.replace("t0 = T.ones(1)", "t0 = T.ones(1).requires_grad_()") + """\
> t1 = fn('save_input').apply(t0)
    core/f.cc:1  ctx created           ctx 0x50  type FnBackward
    core/f.cc:2  reference taken       owner 0x40  owned 0x50  link ctx
    core/a.cc:1  impl created          impl 0x30  type AccumulateGrad
    core/a.cc:2  reference taken       owner 0x30  owned 0x20  link .variable
    core/n.cc:1  impl created          impl 0x40  type FnBackward
    core/n.cc:2  reference taken       owner 0x40  owned 0x30  link .next_functions
    core/v.cc:1  reference taken       owner 0x50  owned 0x20  link saved tensor
"""
REPORT = """\
==1==ERROR: AddressSanitizer: heap-use-after-free on address 0x14 at pc 0x0
READ of size 1 at 0x14 thread T0
    #0 0x1 in reuse core/w.cc:7:1
0x14 is located 4 bytes inside of 16-byte region [0x10,0x1f)
"""


def line_of(text):
    """The engine's form of the line TEXT."""
    on_lane = re.fullmatch(r'lane\((\d), "(.*)"\)', text)
    lane, bare = (int(on_lane[1]), on_lane[2]) if on_lane else (0, text)
    binds = re.findall(r"(\w\d) = ", bare)
    return replies.line(text, lane=lane, bare=bare, binds=binds)


def reply_of(stderr, **words):
    """A reply whose program consists of the echoes in STDERR; clean unless WORDS differ."""
    texts = [line[2:] for line in stderr.splitlines() if line.startswith("> ")]
    lines = [line_of(text) for text in texts if text != trace.RESET]
    return replies.reply(**{"line": len(texts) - 1, "lines": lines, "stderr": stderr, **words})
