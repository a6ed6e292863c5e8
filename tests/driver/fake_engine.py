"""A test double of a target binary: the same command line and protocol, on fake_slotcore.

It knows seven ops. `mutate` is a random program from -seed; coverage is made up.
"""

import ctypes
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

from tests.driver.fake_run import run_forked, run_states
from tests.driver.fake_table import DESCRIPTION, OPS, parse, words


def serve():
    """JSON lines, as --serve."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "describe" in request:
            print(json.dumps(DESCRIPTION), flush=True)
        elif "run" in request:
            parsed = parse(request["run"], request.get("frame", ()))
            print(json.dumps({**run_forked(request["run"]),
                              "dropped_lines": parsed["dropped_lines"],
                              "dropped_count": parsed["dropped_count"]}), flush=True)
        elif "states" in request:
            print(json.dumps(run_states(request["states"])), flush=True)
        elif "observations" in request:
            answers = [{"crashed": False, "line": 0, "hash": "0"}] * len(request["observations"])
            print(json.dumps({"programs": answers}), flush=True)
        elif "traces" in request:
            traces = [{"after": [{"raised": "", "seen": ""}] * 2}] * len(request["traces"])
            print(json.dumps({"traces": traces}), flush=True)
        elif "parse" in request:
            print(json.dumps(parse(request["parse"], request.get("frame", ()))), flush=True)
        elif "extend" in request:
            print(json.dumps({"programs": [request["extend"]] * request["count"]}), flush=True)


def contains(program, known):
    """Whether KNOWN's ops are a subsequence of PROGRAM's (renaming is ignored: a double may)."""
    rest = iter([line["op"] for line in program])
    return all(op in rest for op in [line["op"] for line in known])


def fuzz(flags, folders):
    """Random programs until -runs or -max_total_time; a finding is saved and ends the process."""
    choose = random.Random(int(flags.get("seed", 1)))
    known = [parse(path.read_text())["lines"] for path in Path(flags["suppressions"]).glob("*.py")]
    until = time.monotonic() + float(flags.get("max_total_time", 5))
    ring = []
    for number in range(1, int(flags.get("runs", 10 ** 9)) + 1):
        if time.monotonic() > until:
            break
        text = "t0 = T.ones(4)\ns1 = t0.untyped_storage()\n" + "".join(
            random_line(choose) + "\n" for _ in range(12))
        if any(contains(parse(text)["lines"], program) for program in known):
            continue
        ring = [*ring[-255:], text]
        Path(flags["recorder"]).write_text(json.dumps({"count": number, "programs": ring}))
        reply = run_forked(text)
        if reply["outcome"] == "finding":
            sys.stderr.write(reply["stderr"])
            Path(flags["artifact_prefix"], "crash-fake").write_text(text)
            sys.stderr.write(f"stat::number_of_executed_units: {number}\n")
            return 77
        if number % 8 == 0:
            Path(folders[0], f"entry-{number}").write_text(text)
            sys.stderr.write(f"#{number}\tNEW    cov: {number} ft: 9 corp: {number // 8}/9b"
                             " lim: 4 exec/s: 100 rss: 30Mb\n")
            sys.stderr.flush()
    sys.stderr.write(f"stat::number_of_executed_units: {number}\n")
    return 0


def spawn():
    """JSON lines, as --spawn. Returns in a child, with its words."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        errors = os.open(request["errors"], os.O_WRONLY)
        parent, child = os.getpid(), os.fork()
        if child == 0:
            ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG
            if os.getppid() != parent:
                os._exit(0)  # it has died before the signal was asked for
            os.dup2(errors, 2)
            return request["words"]
        os.close(errors)
        print(json.dumps({"pid": child}), flush=True)
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        print(json.dumps({"exit": code}), flush=True)
    sys.exit()


def random_line(choose):
    """An instance of a random op, biased to what makes the bug."""
    _, operands, template = choose.choice(OPS)
    return template.format(*(choose.choice(words(mark.lstrip("=*+-"))[:2]) for mark in operands))


def main(argv):
    """The command line of a target binary."""
    flags, rest = {}, []
    for word in argv:
        if word.startswith("-"):
            key, _, value = word.lstrip("-").partition("=")
            flags[key] = value
        else:
            rest.append(word)
    if "describe" in flags:
        print(json.dumps(DESCRIPTION))
    elif "serve" in flags:
        serve()
    elif "spawn" in flags:
        return main(spawn())
    elif "dump-recorder" in flags:
        print(Path(flags["dump-recorder"]).read_text())
    elif "planted" in flags:
        sys.stderr.write("ERROR: heap-use-after-free, planted\n")
        return 1
    elif rest and Path(rest[0]).is_file():
        return max(run_forked(Path(path).read_text())["exit"] for path in rest)
    else:
        return fuzz(flags, rest)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
