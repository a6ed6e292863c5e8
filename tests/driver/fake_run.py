"""How the fake engine runs programs: in this process, in a child, or many in one child."""

import io
import json
import os
import sys
import traceback

from tests.driver.fake_table import parse


def execute(text, report):
    """Runs a program in this process; REPORT gets the reply as far as it is known.

    The state that it leads to; None if a line was a finding.
    """
    import fake_slotcore

    names = {"T": fake_slotcore, "enter_hermetic": fake_slotcore.enter_hermetic,
             "exit_hermetic": fake_slotcore.exit_hermetic,
             "lane": lambda number, text: exec(text, names)}
    reply = {"outcome": "clean", "kind": "", "contract": "", "check": "", "line": 0, "message": "",
             "object": "", "asserts": [], "implies": [], "keeps": False, "serial": None,
             "signal": 0, "exit": 0, "stderr": "", **parse(text)}
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
