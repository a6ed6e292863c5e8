"""The core's own reader of descriptions, where a core is built: it and ours must agree.

The core has fewer types of elements and fewer dimensions than PyTorch; what only these refuse is
not compared.
"""

import json
import re
import subprocess
from pathlib import Path

from slotfuzz.errors import BrokenError
from slotfuzz.inputs.strict_json import DescError
from slotfuzz.paths import build_root
from slotfuzz.subject.sanitizers import SANITIZERS

READ = """\
import sys
import slotcore as T
try:
    T._meta.loads(sys.stdin.read())
except ValueError as error:
    print(error)
"""
ERROR = re.compile(r'^"([^"]*)": (.*)$', re.DOTALL)
# The core has no such type of elements, or not so many dimensions.
BEYOND = re.compile(r"/tensors/\d+/(dtype|(size|stride)/\d+)$")


def python() -> Path | None:
    """An interpreter with a built core, the fastest first; None if none is built."""
    presets = dict.fromkeys(["plain", *(one.preset for one in SANITIZERS.values())])
    paths = [build_root() / preset / "slotpython" for preset in presets]
    return next((path for path in paths if path.exists()), None)


def refusal(text: str) -> DescError | None:
    """Why the core's reader refuses TEXT; None if it does not, or if no core is built."""
    if not (interpreter := python()):
        return None
    ended = subprocess.run([interpreter, "-c", READ], input=text, capture_output=True, text=True,
                           check=False)
    if ended.returncode:
        raise BrokenError(f"{interpreter} cannot read a description: {ended.stderr[-200:]}")
    said = ended.stdout.strip()
    match = ERROR.match(said)
    if said and not match:
        raise BrokenError(f"the core's reader says {json.dumps(said)}")
    return DescError(match[1], match[2]) if match else None


def check(text: str) -> None:
    """BrokenError if the core refuses TEXT, which our reader takes, for what it has in common."""
    error = refusal(text)
    if error and not BEYOND.search(error.pointer):
        raise BrokenError(f"the core's reader refuses the description: {error}")
