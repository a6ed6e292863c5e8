"""Records what slotfuzz says of some 2,000 programs of corpora, and compares that with today.

    PYTHONPATH=.:harness python3 -m tests.golden.golden record CORPORA SUBJECT..   adds rows
    PYTHONPATH=.:harness python3 -m tests.golden.golden check [SUBJECT..]          exit 1: changed

Without SUBJECT it checks all that are here, and names those that are not, such as another torch.

A row of programs.jsonl has a subject, a target, a program, and what came of it: the kind of the
verdict, its signature, and the number of its bucket among those of its subject, in the order of the
rows. The words of a dedup key are free to change; which findings share a bucket is not.
"""

import json
import random
import sys
from pathlib import Path

from slotfuzz.engine.server import Server
from slotfuzz.errors import UserError
from slotfuzz.evidence import signature
from slotfuzz.language.program import lines_of
from slotfuzz.subject import mutant, subject
from slotfuzz.triage import cases
from slotfuzz.triage.buckets import Buckets

ROWS = Path(__file__).resolve().parent / "programs.jsonl"
LINES_MAX = 25
FINDINGS_MAX, CLEAN_MAX = 110, 25
CORE_CLEAN_MAX = 250
TORCH_TARGET = "tensor"


class NotHereError(Exception):
    """The golden set has another release of a subject than this machine."""


def rows(name: str | None = None) -> list[dict]:
    """The rows, or those of the subject NAME."""
    found = [json.loads(line) for line in ROWS.read_text().splitlines()] if ROWS.exists() else []
    return [row for row in found if name in (None, row["subject"])]


class Judged:
    """What slotfuzz says of programs of one subject, in the order in which it is asked."""

    def __init__(self, server: Server):
        self._server, self._groups, self._numbers = server, Buckets(), {}

    def row(self, text: str) -> dict:
        """The verdict, signature and bucket of the program TEXT."""
        reply = self._server.run(text)
        if not reply.is_finding:
            return {"verdict": reply.outcome, "signature": "", "bucket": None}
        words = signature.of_reply(reply)
        keys = cases.keys_of(self._server, reply, words, lines_of(reply))
        folder = self._groups.folder(keys) or Path(str(len(self._numbers)))
        self._groups.add(folder, keys, is_new=False)
        bucket = self._numbers.setdefault(folder, len(self._numbers))
        return {"verdict": reply.kind, "signature": words.text, "bucket": bucket}


def server_of(name: str, target: str) -> Server:
    """A server of the subject NAME; of torch it must be the release that NAME states."""
    chosen = subject.resolve(name.split()[0], None, [target], with_python=False)
    told = chosen.edition or chosen.name
    if told != name:
        raise NotHereError(f"the golden set has {name}, here is {told}")
    return Server(chosen, target)


def check(kept: list[dict]) -> list[dict]:
    """The rows of KEPT, all of one subject, that have changed: each with what is said NOW."""
    changed = []
    for target in sorted({row["target"] for row in kept}):
        with server_of(kept[0]["subject"], target) as server:
            judged = Judged(server)
            for row in (one for one in kept if one["target"] == target):
                now = judged.row(row["program"])
                if now != {key: row[key] for key in now}:
                    changed.append({**row, "now": now})
    return changed


def record(corpora: Path, name: str) -> None:
    """Adds rows of the subject NAME: programs of CORPORA/<target>/ that end twice in the same."""
    header = mutant.read_header(name.partition(":")[2]) if name.startswith("mutant:") else None
    targets = [header.target] if header else [TORCH_TARGET] if name.startswith("torch") else sorted(
        folder.name for folder in corpora.iterdir())
    clean_max = CORE_CLEAN_MAX if name == "core" else CLEAN_MAX
    for target in targets:
        programs = sorted({path.read_text() for path in (corpora / target).iterdir()})
        programs = [text for text in programs if 0 < len(text.splitlines()) <= LINES_MAX]
        random.Random(name + target).shuffle(programs)
        findings = clean = 0
        with server_of(name, target) as server, server_of(name, target) as other, \
                open(ROWS, "a", encoding="utf-8") as out:
            judged, again = Judged(server), Judged(other)
            for text in programs:
                before = other.run(text)
                is_clean = not before.is_finding
                if clean >= clean_max if is_clean else findings >= FINDINGS_MAX:
                    continue
                if not is_clean and signature.of_reply(before) != signature.of_reply(
                        server.run(text)):
                    continue
                row = judged.row(text)
                if row != again.row(text):
                    raise SystemExit(f"{name}: two runs differ: {text}")
                findings, clean = findings + (not is_clean), clean + is_clean
                out.write(json.dumps({"subject": name, "target": target, "program": text, **row})
                          + "\n")
        print(f"{name} {target}: {findings} findings, {clean} clean", flush=True)


def is_here(name: str) -> bool:
    """Whether this machine has the subject NAME: any but another release of torch."""
    try:
        server_of(name, rows(name)[0]["target"]).close()
    except (UserError, NotHereError):
        return False
    return True


def main(words: list[str]) -> int:
    """The command line of this file."""
    if words[:1] == ["record"]:
        for name in words[2:]:
            record(Path(words[1]), name)
        return 0
    wanted = words[1:] or sorted({row["subject"] for row in rows()})
    missing = [name for name in wanted if not rows(name) or not is_here(name)]
    changed = [one for name in wanted if name not in missing for one in check(rows(name))]
    looked_at = sum(len(rows(name)) for name in wanted if name not in missing)
    print(f"{looked_at} rows of {len(wanted) - len(missing)} subjects checked,"
          f" {len(changed)} changed")
    for name in missing:
        print(f"not checked, because it is not here: {name}, {len(rows(name))} rows")
    for one in changed:
        print(json.dumps(one))
    return 1 if changed else 2 if missing and words[1:] else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
