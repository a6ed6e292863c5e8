"""Findings as SARIF 2.1.0 (OASIS), which code hosts show beside the changed lines.

Each sentence of docs/contract.md and each oracle is a rule. A result has the rule of its contract
sentence, or else of its oracle. Its locations are the line of the core and the line of the
program. Its message contains the script.
"""

import re
from pathlib import Path

from slotfuzz.finding import contract, places
from slotfuzz.hunt.series import Campaign
from slotfuzz.paths import ROOT
from slotfuzz.subject.sanitizers import SANITIZERS

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
ROOT_ID = "%SRCROOT%"
SENTENCE = re.compile(r"^- \*\*([A-Z]\d+[a-z]?)\b", re.MULTILINE)
# Trace points before the failure; more would hide the important ones.
RELATED_MAX = 10


def document(found: list[places.Found], hunts: list[Campaign]) -> dict:
    """The log: one run, with the results of FOUND and one invocation for each of HUNTS."""
    known = rules(found)
    numbers = {rule["id"]: index for index, rule in enumerate(known)}
    run = {
        "tool": {"driver": {"name": "slotfuzz", "rules": known}},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {
            ROOT_ID: {"description": {"text": "The root of the repository that was checked."}}},
        "results": [_result(one, numbers) for one in found],
    }
    if hunts:
        run["invocations"] = [_invocation(hunt) for hunt in hunts]
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def rules(found: list[places.Found]) -> list[dict]:
    """One rule for each contract sentence, and for each oracle, including the oracles in FOUND."""
    numbers = SENTENCE.findall((ROOT / "docs" / "contract.md").read_text())
    oracles = {oracle for one in SANITIZERS.values() for oracle in one.oracles}
    oracles |= {_oracle(one) for one in found}
    return [_rule(number, *_sentence(number)) for number in numbers] + [
        _rule(_oracle_rule(oracle), f"oracle {oracle}", _about(oracle))
        for oracle in sorted(oracles)]


def _rule(identifier: str, short: str, full: str) -> dict:
    return {"id": identifier, "shortDescription": {"text": short},
            "fullDescription": {"text": full}, "help": {"text": full},
            "defaultConfiguration": {"level": "error"}}


def _sentence(number: str) -> tuple[str, str]:
    """The title and the full text of a contract sentence, without emphasis."""
    text = contract.contract_text(number)
    title = re.match(r"\*\*(.*?)\*\*", text)[1].rstrip(".")
    return f"contract {title}", re.sub(r"\*\*?|`", "", text)


def _about(oracle: str) -> str:
    builds = [name for name, one in SANITIZERS.items() if oracle in one.oracles]
    where = f"It speaks in the builds {', '.join(builds)}." if builds else \
        "It speaks in every build."
    return f"The oracle {oracle} has reported a failure. {where}"


def _oracle_rule(oracle: str) -> str:
    return f"oracle-{oracle}"


def _oracle(found: places.Found) -> str:
    return (found.record.oracle if found.record else "") or "unknown"


def _result(found: places.Found, numbers: dict[str, int]) -> dict:
    record = found.record
    rule = record.contract if record else ""
    if rule not in numbers:
        rule = _oracle_rule(_oracle(found))
    result = {
        "ruleId": rule, "ruleIndex": numbers[rule],
        "level": "error" if record and record.rate else "warning",
        "message": {"text": _message(found)},
        "locations": [_location(place) for place in [*found.core[:1], found.script] if place],
        "relatedLocations": [{"id": index, **_location(place)} for index, place
                             in enumerate(found.core[1:1 + RELATED_MAX], 1)],
        "partialFingerprints": {"slotfuzzSignature/v1": record.signature if record else ""},
        "baselineState": "unchanged" if found.is_old else "new",
        "properties": {name: getattr(record, name) for name in (
            "id", "signature", "oracle", "contract", "subject", "sanitizer", "target", "rate",
            "rate_low", "lines", "seed") if record},
    }
    if found.aside:
        result["suppressions"] = [{"kind": "external", "status": "accepted",
                                   "justification": found.aside}]
    return result


def _message(found: places.Found) -> str:
    rate = found.record.rate if found.record else 0
    rate_words = (f"Fails in {rate:.0%} of fresh processes." if rate
                  else "No fresh process repeats it.")
    return "\n".join([f"{found.title}. {rate_words} The program:", "", *found.program])


def _location(place: places.Place) -> dict:
    file = places.from_workspace(place.file)
    artifact = {"uri": Path(file).as_uri()} if Path(file).is_absolute() else \
        {"uri": file, "uriBaseId": ROOT_ID}
    return {"physicalLocation": {"artifactLocation": artifact,
                                 "region": {"startLine": place.line}},
            "message": {"text": place.what}}


def _invocation(hunt: Campaign) -> dict:
    """The invocation of a hunt. A hunt without an end was killed: it counts as unsuccessful."""
    start, end = hunt.start, hunt.end
    words = [start.subject, start.sanitizer, *start.targets]
    about = {"commandLine": f"slotfuzz hunt {' '.join(start.targets)} --subject"
                            f" {start.subject} --sanitizer {start.sanitizer}"
                            f" --seed {start.seed}",
             "startTimeUtc": start.started.replace("+00:00", "Z"),
             "executionSuccessful": bool(end and end.programs and not end.trouble)}
    if end:
        about["properties"] = {"programs": end.programs, "seconds": end.seconds,
                               "interrupted": end.interrupted}
    problem = "it did not end" if not end else end.trouble or (
        "" if end.programs else "it ran no program")
    if problem:
        about["toolExecutionNotifications"] = [
            {"level": "error", "message": {"text": f"hunt {' '.join(words)}: {problem}"}}]
    return about
