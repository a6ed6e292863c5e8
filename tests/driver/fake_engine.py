"""A test double of a target binary: the same command line and protocol, on fake_slotcore.

It knows seven ops. `mutate` is a random program from -seed; coverage is made up.
"""

import ctypes
import io
import json
import os
import random
import re
import signal
import sys
import time
import traceback
from pathlib import Path

EFFECTS = {"enter_hermetic": ["enters_hermetic", "dangles"],
           "exit_hermetic": ["leaves_hermetic"], "tag": ["sets_attribute"]}
OPS = [
    ("ones", ["+t", "n"], "{0} = T.ones({1})"),
    ("wrap", ["*s", "t"], "{0} = {1}.untyped_storage()"),
    ("del", ["-?"], "del {0}"),
    ("tag", ["s", "v"], "{0}.tag = {1}"),
    ("nbytes", ["s"], "{0}.nbytes()"),
    ("enter_hermetic", [], "enter_hermetic()"),
    ("exit_hermetic", [], "exit_hermetic()"),
]
KINDS = [
    {"letter": "s", "name": "storage", "prefix": "s", "values": [], "count": 4,
     "has_names": False, "value_effects": {}},
    {"letter": "t", "name": "tensor", "prefix": "t", "values": [], "count": 4,
     "has_names": False, "value_effects": {}},
    {"letter": "n", "name": "size", "prefix": None, "values": ["1", "0", "4"], "count": 3,
     "has_names": False, "value_effects": {}},
    {"letter": "v", "name": "byte", "prefix": None, "values": ["0", "7"], "count": 2,
     "has_names": False, "value_effects": {}},
]
PLANTED = [
    {"name": "loud", "oracle": "address", "expect": "heap-use-after-free"},
    {"name": "silent", "oracle": "nobody", "expect": "never said"},
]
PRELUDE = [
    {"names": ["enter_hermetic", "exit_hermetic"], "module": "slotcore", "sentence": "fake modes",
     "text": "enter_hermetic, exit_hermetic = T.enter_hermetic, T.exit_hermetic",
     "effects": {"enter_hermetic": ["enters_hermetic"], "exit_hermetic": ["leaves_hermetic"]}},
    {"names": ["Lane"], "module": "", "sentence": "a fake lane",
     "text": "import _thread\nclass Lane:\n    pass", "effects": {}},
    {"names": ["lanes", "lane"], "module": "", "sentence": "runs a line here",
     "text": "lanes = Lane\ndef lane(number, line):\n    exec(line, globals())", "effects": {}},
]
CHECKS = [
    {"contract": "P2", "check": "attributes", "text": "the attribute tag is lost", "planted": [],
     "unplanted": "it is fake"},
]
DESCRIPTION = {
    "target": "storage", "module": "slotcore", "python": "3.11", "kinds": KINDS, "lanes": 3,
    "line_max": 60, "layout": {},
    "starts_threads": False,
    "lane_template": 'lane({0}, "{1}")',
    "prelude": PRELUDE, "planted": PLANTED, "checks": CHECKS,
    "ops": [{"name": name, "operands": operands, "template": template, "needs": "",
             "sentence": f"Fake {name}.", "masked": False, "special": False, "theme": "storage",
             "tier": "underscore" if "hermetic" in name else "public", "rare": False,
             "slow": False, "effects": EFFECTS.get(name, []),
             "attribute": "tag" if name == "tag" else "", "attribute_of_storage": False,
             "plain": name in ("new_storage", "ones")} for name, operands, template in OPS],
}


def words(letter):
    """All operand words of a kind."""
    if letter == "?":
        return words("s") + words("t")
    kind = next(kind for kind in KINDS if kind["letter"] == letter)
    return kind["values"] or [f"{kind['prefix']}{i}" for i in range(kind["count"])]


def parse_line(text):
    """A line as {"text", "op", "operands"}, or None if it is no instance of a template."""
    text = re.sub(r"^with suppress\(\w+\): ", "", text.rstrip())
    on_lane = re.fullmatch(r'lane\(([12]), "(.*)"\)', text)
    whole, text = text, on_lane[2] if on_lane else text
    for name, operands, template in OPS:
        pattern = re.escape(template).replace(r"\{0\}", "(.+?)").replace(r"\{1\}", "(.+?)")
        match = re.fullmatch(pattern, text)
        if match:
            found = list(match.groups())
            if all(word in words(mark.lstrip("=*+-")) for word, mark in zip(found, operands)):
                return {"text": whole, "bare": text, "op": name, "operands": found,
                        "lane": int(on_lane[1]) if on_lane else 0,
                        "binds": [word for word, mark in zip(found, operands)
                                  if mark[0] in "=*+"]}
    return None


def parse(text, frame=()):
    """Lines and the number of dropped ones; blank lines are not counted, comments not named."""
    parsed = [(number, line, parse_line(line)) for number, line in enumerate(text.splitlines(), 1)
              if line.strip()]
    kept = [line for _, _, line in parsed if line]
    named = [{"line": number, "text": line, "why": "no op"} for number, line, op in parsed
             if not op and not line.lstrip().startswith("#")
             and not any(first <= number <= last for first, last in frame)]
    return {"lines": kept, "dropped": len(parsed) - len(kept), "dropped_lines": named[:20],
            "dropped_count": len(named)}


def execute(text, report):
    """Runs a program in this process; REPORT gets the reply as far as it is known.

    The state that it leads to; None if a line was a finding.
    """
    import fake_slotcore

    names = {"T": fake_slotcore, "enter_hermetic": fake_slotcore.enter_hermetic,
             "exit_hermetic": fake_slotcore.exit_hermetic,
             "lane": lambda number, text: exec(text, names)}
    reply = {"outcome": "clean", "kind": "", "contract": "", "check": "", "line": 0, "message": "",
             "object": "", "asserts": [], "signal": 0, "exit": 0, "stderr": "", **parse(text)}
    reply["lines"] = [{**line, "raised": ""} for line in reply["lines"]]
    for index, line in enumerate(reply["lines"]):
        reply["line"] = index
        report(reply)
        if os.environ.get("SLOTCORE_TRACE"):
            sys.stderr.write(f"> {line['text']}\n")
            sys.stderr.flush()
        try:
            exec(line["text"], names)
        except (RuntimeError, NameError, AttributeError) as error:
            line["raised"] = type(error).__name__
        if line["op"] == "tag" and line["operands"][1] == "7" and not line["raised"]:
            name = line["operands"][0]
            reply.update(outcome="finding", kind="assert", contract="P2", check="attributes",
                         message="the attribute tag is lost", object="storage",
                         asserts=[f"assert {name}.tag == 8"])
            report(reply)
            return None
    reply["line"] = len(reply["lines"])
    if os.environ.get("FAKE_BROKEN"):
        reply.update(outcome="finding", kind="assert", contract="P5", check="ledger")
    report(reply)
    return state_of(names)


def state_of(names):
    """All that a later line can depend on, as text."""
    import fake_slotcore

    tensors = [value for value in names.values() if isinstance(value, fake_slotcore.Tensor)]
    state = [str(fake_slotcore.depth)]
    for name, value in sorted(names.items()):
        if isinstance(value, fake_slotcore.Tensor):
            state.append(f"{name} {tensors.index(value)} {value.size} {bool(value.stale)}")
        elif isinstance(value, fake_slotcore.UntypedStorage):
            owner = tensors.index(value.owner) if value.owner in tensors else "gone"
            others = [name for name, other in sorted(names.items()) if other is value]
            state.append(f"{name} {owner} {getattr(value, 'tag', None)} {others}")
    return "; ".join(state)


def run_states(texts):
    """Programs in one child, up to the first finding."""
    import fake_slotcore

    done_in, done_out = os.pipe()
    child = os.fork()
    if child == 0:
        sys.stderr = open(os.devnull, "w")
        for text in texts:
            fake_slotcore.depth = 0
            reply = {}
            state = execute(text, reply.update)
            os.write(done_out, json.dumps({
                "outcome": reply["outcome"], "state": state, "ran": state is not None,
                "crashed": False}).encode() + b"\n")
            if reply["outcome"] == "finding":
                break
        os._exit(0)
    os.close(done_out)
    with os.fdopen(done_in, "rb") as done:
        replies = [json.loads(line) for line in done]
    if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
        replies.append({"outcome": "finding", "state": None, "ran": False, "crashed": True})
    return {"programs": replies}


def run_forked(text):
    """Runs a program in a child, as the real server does."""
    reply_in, reply_out = os.pipe()
    error_in, error_out = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.dup2(error_out, 2)
            sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb", 0), write_through=True)
            execute(text, lambda reply: os.write(reply_out, json.dumps(reply).encode() + b"\n"))
        except SystemExit:
            traceback.print_exc()
        finally:
            os._exit(0)
    os.close(reply_out)
    os.close(error_out)
    with os.fdopen(reply_in, "rb") as replies, os.fdopen(error_in, "rb") as errors:
        last = replies.read().strip().splitlines()[-1]
        stderr = errors.read().decode()
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    reply = json.loads(last)
    reply["stderr"] = stderr
    if code:
        reply.update(outcome="finding", kind="sanitizer", exit=code)
    return reply


def serve():
    """JSON lines, as --serve."""
    print(json.dumps({"ready": True}), flush=True)
    for line in sys.stdin:
        request = json.loads(line)
        if "describe" in request:
            print(json.dumps(DESCRIPTION), flush=True)
        elif "run" in request:
            told = parse(request["run"], request.get("frame", ()))
            print(json.dumps({**run_forked(request["run"]), "dropped_lines": told["dropped_lines"],
                              "dropped_count": told["dropped_count"]}), flush=True)
        elif "states" in request:
            print(json.dumps(run_states(request["states"])), flush=True)
        elif "facts" in request:
            trace = ["the line raised nothing\n", "every name is dropped\n"]
            print(json.dumps({"programs": [{"crashed": False, "line": 0, "hash": "0",
                                            "trace": trace} for _ in request["facts"]]}),
                  flush=True)
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
    known = [parse(path.read_text())["lines"] for path in Path(flags["known"]).glob("*.py")]
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
