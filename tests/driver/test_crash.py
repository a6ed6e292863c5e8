"""Where a script crashes: the frames below the signal's, and a real crash in a real process."""

import shutil
from dataclasses import replace

import pytest

from slotfuzz import crash, signature

TRACE = """\
[vm:1:0:1] Caught signal 11 (Segmentation fault: address not mapped)
 3  /lib/x86_64-linux-gnu/libtorch_python.so.2.6(_Z23THPFunction_sequence_nrP7_objectS0_+0xa8) [0x7f]
/lib/x86_64-linux-gnu/libffi.so.8(ffi_call+0xcd)[0x7f0ded76eb0d]
/usr/lib/python3.11/lib-dynload/_ctypes.cpython-311-x86_64-linux-gnu.so(+0xa40f)[0x7f0ded78d40f]
/usr/bin/python3(_PyEval_EvalFrameDefault+0x96a)[0x5028aa]
/lib/x86_64-linux-gnu/libffi.so.8(+0x7110) [0x7f0ded76f110]
/lib/x86_64-linux-gnu/libc.so.6(+0x3c050) [0x7f0deda9c050]
/lib/x86_64-linux-gnu/libc10.so.1.13(_ZN3c1011StorageImpl3endEv.cold+0x7) [0x7f0decbe3b87]
/lib/x86_64-linux-gnu/libtorch_python.so.1.13(+0x6c)[0x7f0decbd192c]
/lib/x86_64-linux-gnu/libtorch_python.so.1.13(_ZN5torch8autograd3runEP7_objectS2_+0x6c)[0x7f0decb]
/usr/bin/python3[0x54184f]
/usr/bin/python3(PyObject_Vectorcall+0x2c)[0x5132ec]
"""


def test_frames_below_the_signal_are_those_of_the_crash():
    names = signature.functions(crash.demangled(crash.frames_of(TRACE)))
    assert names == ("c10::StorageImpl::end", "torch::autograd::run")


def test_a_script_that_told_nothing_has_no_stack():
    assert crash.frames_of("") == crash.frames_of("Traceback (most recent call last):\n") == ""


@pytest.mark.parametrize("line, called", [
    ("ctypes.string_at(8)", "strlen"), ("os.abort()", "abort"), ("pass", None),
])
def test_a_script_that_crashes_tells_where(fake_subject, tmp_path, line, called):
    script = tmp_path / "repro.py"
    script.write_text(f"import ctypes, os\n{line}\n")
    plain = replace(fake_subject, module="json", script_python=shutil.which("python3", path="/bin"))
    text = crash.stack(plain, script)
    assert (called in text or "libc.so" in text) if called else text == ""
