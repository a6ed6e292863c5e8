"""Reading takes memory in proportion to a text, whatever it is (M6): the peak of a new process.

nlohmann's lexer keeps the token that it reads twice, in buffers that double, and the allocator
keeps their former places: that is six times a text which is one string.
"""

import subprocess
import sys

import pytest
import slotcore as T

MEBIBYTE = 1 << 20
READ = """\
import sys
import slotcore as T
def memory(name):
    lines = open("/proc/self/status").read().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(name)).split()[1])
text = open(sys.argv[1]).read()
open("/proc/self/clear_refs", "w").write("5")  # the peak is that from here on
before = memory("VmRSS")
try:
    T._meta.loads(text)
    outcome = "read"
except ValueError:
    outcome = "refused"
print(outcome, memory("VmHWM") - before)
"""
HEAD = '{"format":"slotfuzz-meta","version":2,'
STORAGE = '"storages":[{"id":0,"nbytes":8}],'
PLAIN = '{"id":%d,"dtype":"bool","size":[1],"stride":[1],"storage":0,"version_group":%d}'
ENVIRONMENT = r'"shape_env":"slotfuzz-shape-env 1\nsymbol 4 0 dynamic\ninput s0 t0.size(0)\n",'


def rows(row, count):
    return ",".join(row % ((i,) * row.count("%d")) for i in range(count))


def document(tensors, rest="", roots="[0]"):
    return f'{HEAD}{STORAGE}"tensors":[{tensors}],{rest}"roots":{roots}}}'


ALL = f"[{','.join(map(str, range(40_000)))}]"
# (text, bytes of expressions, what the reader does)
TEXTS = {
    "rows that are read": (document(rows(PLAIN, 40_000), roots=ALL), 0, "read"),
    "rows that no root leads to": (document(rows(PLAIN, 40_000)), 0, "refused"),
    "roots": (document('{"id":0}', roots="[" + "0," * 2_000_000), 0, "refused"),
    "dimensions": (document('{"id":0,"size":[' + "1," * 2_000_000), 0, "refused"),
    # A little more than 8 MiB: each buffer that doubles has just done so.
    "bytes": (f'{HEAD}"storages":[{{"id":0,"nbytes":0,"data":"{"00" * (4 * MEBIBYTE + 9)}"}}]', 0,
              "refused"),
    "a name": (HEAD + '"' + "a" * 4_000_000 + '":1}', 0, "refused"),
    "a string that is no expression": (
        document('{"id":0,"size":["' + "s0*" * 1_000_000 + 's0"]}'), 3_000_000, "refused"),
    "expressions": (document(
        rows('{"id":%d,"dtype":"bool","size":["s0"],"stride":[1],"storage":0,"version_group":%d}',
             40_000), ENVIRONMENT, ALL), 2 * 40_000, "read"),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_takes_memory_in_proportion(name, tmp_path):
    text, expressions, expected = TEXTS[name]
    (tmp_path / "text.json").write_text(text)
    ended = subprocess.run([sys.executable, "-c", READ, tmp_path / "text.json"], check=True,
                           capture_output=True, text=True)
    outcome, used = ended.stdout.split()
    assert outcome == expected
    assert int(used) <= 7 * len(text) + 100 * expressions + MEBIBYTE
