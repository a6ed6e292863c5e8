"""The pytest plug-in: `pytest --slotfuzz-target storage --slotfuzz-seconds 20`.

Each program in corpus/TARGET/ and each finding of TARGET in repro/ becomes a test that replays it.
A hunt of that many seconds is one more test. Without --slotfuzz-target the plug-in collects nothing
and imports nothing.
"""

import contextlib
import itertools
import secrets
from pathlib import Path
from types import SimpleNamespace

import pytest


class Failed(Exception):
    """A failure of a test, with the text for the report."""


def pytest_addoption(parser):
    """--slotfuzz-*."""
    group = parser.getgroup("slotfuzz", "programs and hunts of slotfuzz")
    group.addoption("--slotfuzz-target", metavar="TARGET",
                    help="collect the programs of TARGET; `slotfuzz targets` lists targets")
    group.addoption("--slotfuzz-seconds", type=float, default=0.0, metavar="N",
                    help="collect a hunt of N seconds as well")
    group.addoption("--slotfuzz-subject", default="core", metavar="SUBJECT",
                    help="core (the default), core:resurrect, mutant:ID or torch")
    group.addoption("--slotfuzz-sanitizer", metavar="NAME",
                    help="address, thread, debugpy or none; by default the subject chooses")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session, config, items):
    """Adds our tests to those that pytest has collected; -k and -m apply to all of them."""
    target = config.getoption("slotfuzz_target")
    if not target:
        return
    from slotfuzz.errors import UserError
    from slotfuzz.subject.catalogue import check_target

    try:
        check_target(target)
    except UserError as error:
        raise pytest.UsageError(str(error)) from error
    items += session.genitems(Target.from_parent(session, name=f"slotfuzz-{target}",
                                                 nodeid=f"slotfuzz-{target}", target=target))


class Target(pytest.Collector):
    """The tests of one target, which share a subject and a fork server."""

    def __init__(self, target: str, **words):
        super().__init__(**words)
        self.target = target
        self._subject = self._error = self._server = None

    def collect(self):
        """The programs in the user's folders and in ours, and the hunt."""
        from slotfuzz.paths import ROOT

        places = {self.config.rootpath.resolve(): "", ROOT.resolve(): "slotfuzz/"}
        for place, mark in reversed(places.items()):
            for path in _programs(place, self.target):
                # pytest would read a dot in the name as the end of a module name.
                name = path.parent if path.name == "repro.py" else path.with_suffix("")
                yield ProgramItem.from_parent(self, name=f"{mark}{name.relative_to(place)}",
                                              program=path)
        if self.config.getoption("slotfuzz_seconds") > 0:
            yield HuntItem.from_parent(self, name="hunt")

    def subject(self):
        """The built subject. A failed build is not repeated for each test."""
        from slotfuzz.subject import packages, subject

        if self._error:
            raise self._error
        if self._subject is None:
            try:
                with self._uncaptured():
                    packages.ensure()
                    self._subject = subject.resolve(
                        self.config.getoption("slotfuzz_subject"),
                        self.config.getoption("slotfuzz_sanitizer"), [self.target])
            except Exception as error:
                self._error = error
                raise
        return self._subject

    def server(self):
        """The fork server, which ends with the session."""
        from slotfuzz.engine.server import Server

        if self._server is None:
            self._server = Server(self.subject(), self.target, trace=True)
            self.config.add_cleanup(self._server.close)
        return self._server

    def hunt(self):
        """Hunts for the given time or until the first new finding; returns plan and result."""
        from slotfuzz.hunt import hunt
        from slotfuzz.hunt.plan import Plan, check_folders
        from slotfuzz.paths import findings_root

        plan = Plan(self.subject(), [self.target], findings_root(),
                         self.config.getoption("slotfuzz_seconds"), seed=secrets.randbits(30) + 1,
                         stop_when=lambda judged: True)
        check_folders(plan.out, plan.corpus)
        with self._uncaptured():
            return plan, hunt.run(plan)

    @contextlib.contextmanager
    def _uncaptured(self):
        """Disables capturing, since builds and hunts take long and print their progress."""
        capture = self.config.pluginmanager.getplugin("capturemanager")
        with capture.global_and_fixture_disabled() if capture else contextlib.nullcontext():
            yield


class _Item(pytest.Item):
    """A test that fails with our own text."""

    def reportinfo(self):
        """The name without a line number, since the test is not a function in a file."""
        return self.path, None, self.nodeid

    def repr_failure(self, excinfo, style=None):
        """Our text without the Python stack, which says nothing about the program."""
        from slotfuzz.errors import MachineError, UserError

        if isinstance(excinfo.value, (Failed, MachineError, UserError)):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)


class ProgramItem(_Item):
    """Replays one program file; fails with the annotated trace and the verdict."""

    def __init__(self, program: Path, **words):
        super().__init__(**words)
        self.program = program

    def runtest(self):
        """Skips a program with ops that the subject lacks, since some of its lines did not run."""
        from slotfuzz import options
        from slotfuzz.finding import explain

        server = self.parent.server()
        reply = server.run(options.read_program(self.program))
        if reply.is_finding:
            raise Failed(f"{self.program} on {server.subject.name}, {server.subject.sanitizer}\n"
                         f"{explain.annotated(reply)}")
        whys = {line.why for line in reply.dropped_lines}
        if whys == {"masked"}:
            pytest.skip(f"{server.subject.name} lacks ops of {reply.dropped_count} lines")
        options.check_lines(SimpleNamespace(skip_unknown=False), self.program, server, reply)


class HuntItem(_Item):
    """Hunts; fails with the findings, or if no program ran."""

    def runtest(self):
        """Hunts; findings are written as the command `hunt` does."""
        plan, result = self.parent.hunt()
        crashes = [*result.new, *result.known, *result.unreproduced]
        found = [f"{judged.signature}\n  {judged.folder}\n{judged.text}" for judged in crashes]
        if found or result.trouble or not result.programs:
            raise Failed("\n".join([f"{result.programs} programs, seed {plan.seed}", *found,
                                    *filter(None, [result.trouble])]))


def _programs(place: Path, target: str) -> list[Path]:
    """The program files of TARGET in PLACE: seeds, and scripts of findings."""
    from slotfuzz.finding import finding

    scripts = (path for path in (place / "repro").glob("*/repro.py")
               if (record := finding.read(path.parent)) and record.target == target)
    return sorted(itertools.chain((place / "corpus" / target).glob("*.py"), scripts))
