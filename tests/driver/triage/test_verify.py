"""Scripts are verified as a user runs them, and with overwritten memory only if that needs it."""

import dataclasses

from slotfuzz.finding import failure
from slotfuzz.subject.sanitizers import SANITIZERS
from slotfuzz.subject.subject import POISON_ENVIRONMENT
from slotfuzz.triage import verify
from tests.driver import replies

CRASHED = replies.reply(kind="signal", signal=11)


class Subject:
    """A subject without a sanitizer."""

    watch = SANITIZERS["none"]

    def plain_environment(self):
        return {}

    def script_environment(self):
        return POISON_ENVIRONMENT


def verified(failing):
    """The result if FAILING says in which environments the script fails, with these environments.
    """
    asked = []

    def once(environment):
        asked.append(environment)
        return verify.Verified(4, 4 * failing(environment), "", failure.Manner(("SIGSEGV",)))
    return verify.by_itself(Subject(), once), asked


def test_a_script_that_fails_by_itself_needs_no_environment():
    result, asked = verified(lambda _: True)
    assert asked == [{}] and result.failed == 4 and result.manner.environment == ()


def test_a_script_that_needs_overwritten_memory_says_so():
    result, asked = verified(bool)
    assert asked == [{}, POISON_ENVIRONMENT] and result.failed == 4
    assert dict(result.manner.environment) == POISON_ENVIRONMENT
    assert result.manner.signals == ("SIGSEGV",)


def test_a_script_that_never_fails_needs_nothing():
    result, _ = verified(lambda _: False)
    assert result.failed == 0 and result.manner.environment == ()


class Forker:
    """Forks that all end well."""

    def learn(self, script):
        pass

    def runs(self, script, count):
        return [(0, "")] * count


def test_if_no_fork_fails_like_a_new_process_all_runs_are_new_processes(tmp_path):
    path = tmp_path / "repro.py"
    path.write_text("import os\nos.kill(os.getpid(), 6)\n")
    result = verify.verify(["/usr/bin/python3", str(path)], tmp_path, {"PATH": "/bin"}, 4, CRASHED,
                           forker=Forker())
    assert result == dataclasses.replace(
        result, runs=4, failed=4, manner=failure.Manner(("SIGABRT",)))
