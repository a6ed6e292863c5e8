"""Tests of the comparison of two subjects, with invented traces."""

from types import SimpleNamespace

import pytest

from slotfuzz.errors import BrokenError
from slotfuzz.language.program import Line
from slotfuzz.measure import differential
from slotfuzz.measure.differences import RAISED, Reason, differences_of
from slotfuzz.measure.differential import Pair
from slotfuzz.schema.answers import Observation, Observed

OPS = ["make", "write", "read"]


class Table:
    """Ops without operands, one of them a check; the text of a line is its op."""

    ops = {name: {"masked": False, "operands": [], "template": name}
           for name in [*OPS, "check_kept"]}

    def program_text(self, lines):
        return "".join(line.op + "\n" for line in lines)

    def variables(self, line):
        return []

    def simpler(self, line):
        return []

    def fetches(self, line, before):
        return []

    def bound(self, line):
        return set()


class Server:
    """A fake subject. SAYS maps the lines up to a line to its observations, or None for a crash."""

    def __init__(self, says, programs=(), masked=()):
        self.says, self.programs = says, list(programs)
        self.table = Table()
        self.table.ops = {name: {**op, "masked": name in masked} for name, op in Table.ops.items()}
        self.ran, self.seconds = [], set()

    def generate(self, count, seed, ops):
        self.wanted = ops
        return [self.programs.pop(0) for _ in range(count)]

    def parse(self, text):
        return [Line(op, ()) for op in text.split()]

    def observations(self, programs, program_seconds=10):
        assert len(programs) <= differential.BATCH, "more than a server takes at once"
        self.ran += programs
        self.seconds.add(program_seconds)
        self.last = {text: self.trace(text) for text in programs}
        return [Observed(True, self.last[text].index(None), None) if None in self.last[text]
                else Observed(False, len(self.last[text]), "|".join(self.last[text]))
                for text in programs]

    def traces(self, programs):
        """What a line raises stands behind a `!`."""
        return [tuple(seen(*says.partition("!")[::2]) for says in [*self.last[text], ""])
                for text in programs]

    def trace(self, text):
        lines = text.split()
        return [self.says(lines[:i + 1]) for i in range(len(lines))]

    def close(self):
        pass


def seen(text, raised=""):
    return Observation(raised, text)


def plain(lines):
    return f"t0.size = {len(lines)}"


def differs_in(op, observation="t0._version = 1"):
    return lambda lines: plain(lines) + (f"\n{observation}" if lines[-1] == op else "")


def after(op, says):
    """SAYS, but only after a line of OP; `plain` before."""
    return lambda lines: says(lines) if op in lines[:-1] else plain(lines)


def compared(says, programs, reasons=(), core=plain):
    with Pair(Server(core, programs), Server(says), reasons=lambda: list(reasons)) as pair:
        return pair.compare(len(programs), 1, lambda word: None)


def reason(*patterns):
    return Reason("known", "it is so", "P4", patterns)


@pytest.mark.parametrize("core, torch, signature", [
    (seen(""), seen("", "TypeError"), "make: the line raised: nothing / TypeError"),
    (seen("t0 is t0\nt0.size = 1"), seen("t0 is t0\nt0.size = 2"), "make: t.size: * / *"),
    (seen("t0.grad.dtype = float32"), seen("t0.grad.dtype = int64"),
     "make: t.dtype: float32 / int64"),
    (seen("t1 is t1"), seen("t1 is t0"), "make: t is: * / *"),
    (seen("t0.a = 1"), seen("t0.a = 1\nt0.b = 2"), "make: t.b: nothing / *"),
    (seen("t0.grad = t1.grad"), seen("t0.grad = None"), "make: t.grad: * / None"),
])
def test_a_signature_has_op_observation_and_words(core, torch, signature):
    (difference,) = differences_of([core], [torch], ["make"])
    assert difference.signature == signature and difference.line == 0
    assert difference.is_raised_alone == (difference.observation == RAISED)


def test_the_first_line_and_observation_that_differ_count():
    core = [seen("a.x = 1"), seen("a.x = 1\na.y = 1")]
    torch = [seen("a.x = 1"), seen("a.x = 2\na.y = 2", "TypeError")]
    (difference,) = differences_of(core, [torch[0], seen("a.x = 2\na.y = 2")], ["make"])
    assert (difference.line, difference.observation) == (1, "a.x")
    assert difference.signature.startswith("end: "), "the reset comes after the last line"
    (difference,) = differences_of(core, torch, ["make"])
    assert difference.observation == RAISED and not difference.is_raised_alone
    assert not [*differences_of(core, core, ["make"])]


def test_equal_programs_are_alike():
    result = compared(plain, ["make\nwrite\n", "read\n"])
    assert (result.programs, result.alike, result.lines) == (2, 2, 3)
    assert not result.unexplained and not result.reasons


def test_a_difference_without_reason_is_minimized_and_counted():
    result = compared(differs_in("write"), ["make\nwrite\nread\n", "write\n"])
    (found,) = result.unexplained.values()
    assert (found.text, len(found.programs)) == ("write\n", 2)
    assert (result.programs, result.alike) == (2, 0)
    assert (found.difference.core, found.difference.torch) == ("nothing", "1")


def test_a_difference_that_another_run_shows_otherwise_is_kept_as_it_was(monkeypatch):
    ran = []

    def says(lines):
        return None if ran and lines[-1] == "write" else differs_in("write")(lines)

    minimized = differential.minimize.minimize
    monkeypatch.setattr(differential.minimize, "minimize",
                        lambda *args: ran.append(minimized(*args)) or ran[0])
    ((signature, one),) = compared(says, ["make\nwrite\n"]).unexplained.items()
    assert one.difference.signature == signature and one.text == "write\n"


def test_a_line_with_a_reason_is_dropped_and_the_rest_compared():
    says = after("make", differs_in("write"))
    result = compared(says, ["make\nwrite\nread\nwrite\n"], [reason("write: t._version: *")])
    assert result.reasons == {"known": 1} and result.programs == 1 and not result.unexplained
    assert result.lines == 2 and result.alike == 0
    both = lambda lines: differs_in("read", "t0.x = 1")(lines) + says(lines)  # noqa: E731
    result = compared(both, ["make\nwrite\nread\n"], [reason("write: *")],
                      core=lambda lines: plain(lines) + plain(lines))
    assert len(result.unexplained) == 1, "the line after it is compared as well"


def test_a_crash_of_torch_is_not_compared_and_a_crash_of_the_core_is_a_difference():
    dies = after("make", lambda lines: None if lines[-1] == "write" else plain(lines))
    core = Server(plain, ["make\nwrite\n", "make\n", "read\n"])
    with Pair(core, Server(dies), reasons=lambda: []) as pair:
        result = pair.compare(2, 1, lambda word: None)
    assert (result.crashed, result.programs, result.alike) == (1, 2, 2)
    result = compared(plain, ["make\nread\nwrite\n"], core=dies)
    (found,) = result.unexplained.values()
    assert found.difference.signature == "write: ends the process of core"
    assert found.text == "make\nwrite\n"


def test_a_reason_may_blame_an_earlier_line():
    ran = []

    def says(lines):
        ran.append(lines)
        return after("make", differs_in("write"))(lines)
    blames = Reason("known", "it is so", "P4", ("write: *",), ("make",))
    result = compared(says, ["read\nmake\nwrite\n", "make\nread\n"], [blames])
    assert result.reasons == {"known": 1} and ran[-1] == ["read", "write"]
    assert blames.blames("write: t.x: * / *", ("read", "write")) is None


def test_a_difference_only_after_other_programs_does_not_count():
    seen = []

    def says(lines):
        seen.append(lines)
        return plain(lines) + ("\nt0.x = 1" if len(seen) == 1 else "")
    with Pair(Server(plain, ["make\n"]), Server(says), reasons=lambda: []) as pair:
        seen.clear()
        result = pair.compare(1, 1, lambda word: None)
    assert result.alike == 1 and not result.unexplained and len(seen) == 2


def test_equal_observations_in_unequal_texts_are_a_harness_error():
    with pytest.raises(BrokenError):
        [*differences_of([seen("a.x = 1\n")], [seen("a.x = 1")], ["make"])]


def test_the_benchmark_fails_without_a_reason(monkeypatch, tmp_path):
    from slotfuzz.measure import benchmark

    module = benchmark.load("differential")
    monkeypatch.setattr(module, "ROOT", tmp_path)
    monkeypatch.setenv("SLOTFUZZ_BUILD", str(tmp_path / "build"))
    (tmp_path / "binary").touch()
    torch = SimpleNamespace(edition="torch 2.6.0", target=lambda name: tmp_path / "binary")
    monkeypatch.setattr(module.subject, "resolve", lambda *words, **more: torch)
    for says, failed in ((plain, False), (differs_in("write"), True)):
        core = Server(plain, ["make\nwrite\n"])
        core.table.description = {"prelude": [{
            "names": ["observe"], "module": "", "sentence": "it",
            "text": "def observe(names):\n    return 1", "effects": {}}]}
        monkeypatch.setattr(module.differential, "servers", lambda one: (core, Server(says)))
        args = SimpleNamespace(python=None, rootfs=None, runs=1, seed=1)
        measured = module.measure(args)
        assert measured.failed == failed
        page = (tmp_path / "repro" / "torch-2.6.0" / "differences.md").read_text()
        assert ("write: t._version" in page) == failed
    scripts = sorted((tmp_path / "build" / "bench" / "differences").iterdir())
    assert [path.name for path in scripts] == ["0-slotcore.py", "0-torch.py"]
    assert "import torch as T" in scripts[1].read_text() and "write\n" in scripts[1].read_text()


def test_a_program_whose_traces_a_killed_server_has_lost_runs_again():
    torch = Server(differs_in("write"), ["make\nwrite\n"])
    traces = torch.traces
    torch.traces = lambda texts: traces(texts) if torch.ran.count(texts[0]) > 1 else [()]
    reasons = [reason("write: *")]
    with Pair(Server(plain, ["make\nwrite\n"]), torch, reasons=lambda: reasons) as pair:
        ((found,),) = pair.differences(["make\nwrite\n"])
    assert found.signature.startswith("write: ") and torch.ran.count("make\nwrite\n") == 2


def test_servers_of_torch_share_the_programs():
    """Each is compared once, with the trace of the server that ran it."""
    texts = ["make\n" * count + "write\n" for count in range(1, 9)]
    torches = [Server(after("make", differs_in("write"))) for _ in range(2)]
    with Pair(Server(plain, texts), *torches, reasons=lambda: []) as pair:
        ran = [len(one.ran) for one in torches]
        found = pair.differences(texts)
    assert [one.line for (one,) in found] == [*range(1, 9)]
    shares = [set(one.ran[begin:]) for one, begin in zip(torches, ran, strict=True)]
    assert all(shares) and not shares[0] & shares[1] and shares[0] | shares[1] == set(texts)


def test_a_reason_that_comes_while_it_runs_counts_for_all_programs(monkeypatch):
    monkeypatch.setattr(differential, "BATCH", 2)
    table, said = [], []

    def say(sentence):
        said.append(sentence)
        if len(said) == 2:
            table.append(reason("write: *"))
    programs = ["make\nwrite\n", "make\nmake\nwrite\n", "make\nwrite\nwrite\n", "read\n"]
    says = lambda lines: differs_in("read", "t0.x = 1")(lines) + after(  # noqa: E731
        "make", differs_in("write"))(lines).removeprefix(plain(lines))
    with Pair(Server(plain, programs), Server(says), reasons=lambda: table) as pair:
        result = pair.compare(4, 1, say)
    assert [*result.unexplained] == ["read: t.x: nothing / *"], said
    assert len(result.unexplained["read: t.x: nothing / *"].programs) == 1
    assert result.programs == 4 and result.reasons == {"known": 3}
