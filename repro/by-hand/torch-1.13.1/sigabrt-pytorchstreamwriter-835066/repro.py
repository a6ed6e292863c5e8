# SIGABRT in ~PyTorchStreamWriter: OSError: [Errno N] the file fails, torch 1.13.0a0
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^killed by SIGABRT$"
    failed, others = [], []
    for run in range(runs):
        end = subprocess.run([sys.executable, __file__], stderr=subprocess.PIPE, text=True,
                             errors="replace")
        code, said = end.returncode, end.stderr.strip().splitlines()
        said = [line for line in said if "SUMMARY" in line] or said[-2:]
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if code and re.search(stated, f"{end.stderr}\n{how}", re.MULTILINE):
            failed.append((code, said))
        elif code:
            others.append(": ".join([how, *said[-1:]]))
        print(f"\r{run + 1} of {runs} runs, {len(failed)} failed", end="", file=sys.stderr)
        sys.stderr.flush()
    print(file=sys.stderr)
    codes = sorted({code for code, _ in failed})
    print(f"failed {len(failed)} of {runs}, exit codes {codes}")
    for line in failed[0][1] if failed else []:
        print(line)
    for how in sorted(set(others)):
        print(f"{others.count(how)} ended otherwise: {how}")
    sys.exit(1 if failed else 2 if others else 0)

def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
import io
class FailingFile(io.BytesIO):
    failing, left = None, 0
    def fail(self, name):
        if name == self.failing:
            self.left -= 1
            if self.left < 0:
                raise OSError(5, "the file fails")
    def write(self, data):
        self.fail("write")
        return super().write(data)
    def read(self, *size):
        self.fail("read")
        return super().read(*size)
    def readinto(self, buffer):
        self.fail("readinto")
        return super().readinto(buffer)
    def seek(self, *place):
        self.fail("seek")
        return super().seek(*place)
    def tell(self):
        self.fail("tell")
        return super().tell()
    def readline(self, *size):
        self.fail("readline")
        return super().readline(*size)
file_calls = {"save": lambda file: T.save(T.ones(3), file), "load": T.load,
              }
def check_failing_file(call, method, calls_before):
    if in_hermetic():
        return
    file = FailingFile()
    if call.startswith("load"):
        file_calls[call.replace("load", "save")](file)
        file.seek(0)
    file.failing, file.left = method, calls_before
    try:
        file_calls[call](file)
    except (OSError, RuntimeError, EOFError, ValueError):
        return
    except Exception as error:
        raised = type(error).__name__
        assert False, f"P8: {call} with a file whose {method}() raises OSError raises {raised}"

check_failing_file('save', 'write', 0)
