# BUS in __invoke
# subject: core
# sanitizer: address
# run: ./slotfuzz python repro.py    (or: --check 20)
import os, subprocess, sys
try:
    import slotcore as T
except ImportError:
    print('slotcore is not importable here; run: ./slotfuzz python', __file__, file=sys.stderr)
    sys.exit(2)

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    ends = [subprocess.run([sys.executable, __file__], stderr=subprocess.PIPE, text=True,
                           errors="replace") for _ in range(runs)]
    failed = [end for end in ends if end.returncode]
    codes = sorted({end.returncode for end in ends})
    print(f"failed {len(failed)} of {runs}, exit codes {codes}")
    for end in failed[:1]:
        lines = end.stderr.splitlines()
        print(*[line for line in lines if "SUMMARY" in line] or lines[-2:], sep="\n")
    sys.exit(bool(failed))

enter_hermetic, exit_hermetic, hermetic = T.enter_hermetic, T.exit_hermetic, T.hermetic
import slotcore_c10, sys
sys.setswitchinterval(5e-5)  # a thread that wants the GIL shall have it while the program runs
def Owner(one):
    handle = one._weak_ref()
    try:
        return slotcore_c10.Owner(handle)
    finally:
        one._free_weak_ref(handle)

enter_hermetic()
t0 = T.frombuffer(bytearray(8), dtype=T.uint8)
x0 = Owner(t0)
del t0
x0.drop()
