# the wrapper came back without an attribute that it had (P2)
# contract: P2
# subject: core
# sanitizer: address
# run: ./slotfuzz python repro.py    (or: --check 20)
import gc, os, subprocess, sys
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

s0 = T.UntypedStorage(1)
l0 = [s0]
l0.append(l0)
t0 = T.ones(1)
s1 = t0.untyped_storage()
s1.tag = 0
l0.append(s1)
del l0
del s1
gc.collect()
s0 = t0.untyped_storage()
assert hasattr(s0, 'tag')
