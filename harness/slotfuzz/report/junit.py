"""Findings as JUnit XML, which CI systems list as failed tests.

It has one test case for each target of a hunt, so that nobody takes an empty report for a clean
one, and one test case for each finding.
"""

from xml.etree import ElementTree

from slotfuzz.finding import places
from slotfuzz.hunt.series import Campaign
from slotfuzz.schema.campaign import End

# XML cannot represent other control characters, and a sanitizer's report may contain any byte.
ALLOWED = ("\t", "\n", "\r")


def text(found: list[places.Found], hunts: list[Campaign]) -> str:
    """The document: a suite for each hunt, and one with all findings."""
    root = ElementTree.Element("testsuites", name="slotfuzz")
    for hunt in hunts:
        _add_suite(root, _hunted(hunt))
    if found:
        _add_suite(root, _findings(found))
    cases = list(root.iter("testcase"))
    root.attrib |= _counts(cases)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode", xml_declaration=True) + "\n"


def _hunted(hunt: Campaign) -> ElementTree.Element:
    """A case for each target; each case is an error if the hunt did not do its work."""
    start, end = hunt.start, hunt.end
    suite = ElementTree.Element(
        "testsuite", name=f"hunt {start.subject} {start.sanitizer}, seed {start.seed}",
        timestamp=start.started.partition("+")[0])
    problem = _problem(end)
    seconds = end.seconds if end else 0
    for target in start.targets:
        case = ElementTree.SubElement(
            suite, "testcase", name=f"hunt {target}", time=str(seconds),
            classname=f"slotfuzz.{start.subject}.{start.sanitizer}")
        if problem:
            ElementTree.SubElement(case, "error", message=problem)
        if end:
            ElementTree.SubElement(case, "system-out").text = (
                f"{end.programs} programs on all targets of this hunt;"
                f" {len(end.new)} findings are new, {end.known} known, {end.old} old,"
                f" {end.unreproduced} not reproduced")
    return suite


def _problem(end: End | None) -> str:
    """The reason why a hunt does not count as done, or an empty string."""
    if end is None:
        return "the hunt did not end"
    if not end.programs:
        return "the hunt ran no program"
    return end.trouble or ("the hunt was interrupted" if end.interrupted else "")


def _findings(found: list[places.Found]) -> ElementTree.Element:
    suite = ElementTree.Element("testsuite", name="findings")
    for one in found:
        record = one.record
        case = ElementTree.SubElement(
            suite, "testcase", name=record.id if record else one.folder.name, time="0",
            classname=f"slotfuzz.{record.subject}.{record.target}" if record else "slotfuzz")
        if one.first:
            case.attrib |= {"file": places.from_workspace(one.first.file),
                            "line": str(one.first.line)}
        if one.aside:
            ElementTree.SubElement(case, "skipped", message=one.aside)
            continue
        kind = record.signature if record else ""
        failure = ElementTree.SubElement(case, "failure", type=_clean(kind),
                                         message=_clean(one.title))
        failure.text = _clean("\n".join([*one.program, "", one.report]))
    return suite


def _add_suite(root: ElementTree.Element, suite: ElementTree.Element) -> None:
    suite.attrib |= _counts(list(suite.iter("testcase")))
    root.append(suite)


def _counts(cases: list[ElementTree.Element]) -> dict[str, str]:
    def having(tag):
        return str(sum(case.find(tag) is not None for case in cases))

    return {"tests": str(len(cases)), "failures": having("failure"), "errors": having("error"),
            "skipped": having("skipped"),
            "time": str(round(sum(float(case.get("time")) for case in cases), 3))}


def _clean(words: str) -> str:
    return "".join(letter if letter in ALLOWED or " " <= letter < "\ud800" or
                   "\ue000" <= letter <= "\ufffd" or letter > "\uffff" else "?" for letter in words)
