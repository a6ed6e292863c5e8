"""Writes a page on a campaign's findings, most severe first; docs/torch.md with --markdown.

The page is self-contained: the progress of the hunts, and each root cause with its program,
timeline, notes and script. The command reads folders of findings and campaign.jsonl in DIR, at any
depth, and runs nothing. It names unreadable files on stderr and in the page, and then exits with 2.
"""

from pathlib import Path

from slotfuzz import console, report
from slotfuzz.errors import UserError
from slotfuzz.finding import finding
from slotfuzz.paths import shown
from slotfuzz.report import exports
from slotfuzz.report.markdown import markdown
from slotfuzz.report.recognized import recognized

EXAMPLE = "./slotfuzz report repro -o report.html"


def add_arguments(parser) -> None:
    """The options of report."""
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE",
                        help="DIR/report.html by default")
    parser.add_argument("--baseline", type=Path, metavar="DIR",
                        help="count the root causes of the findings in DIR, at any depth, that the"
                             " campaign found")
    parser.add_argument("--markdown", action="store_true",
                        help="print docs/torch.md, the findings on torch by release")
    parser.add_argument("--sarif", type=Path, metavar="FILE", help="write SARIF 2.1.0 as well")
    parser.add_argument("--junit", type=Path, metavar="FILE", help="write JUnit XML as well")


def run(args, output) -> int:
    """Writes the report; 0 also with findings in it, 2 if a file could not be read."""
    for folder in (args.folder, args.baseline):
        if folder and not folder.is_dir():
            raise UserError(f"no such folder: {folder}")
    found = report.collect(args.folder.resolve())
    baseline = report.collect(args.baseline.resolve()) if args.baseline else None
    unreadable = found.unreadable
    exports.write(found, args.sarif, args.junit)
    if args.markdown:
        output.text(markdown(found.root, found.entries))
    else:
        # These imports take longer than all others together.
        from slotfuzz.report.page import page

        path = args.output or args.folder / "report.html"
        finding.check_writable(path.absolute().parent)
        text, unreadable = page(found)
        finding.write_file(path, text)
        output.text(f"{len(found.entries)} findings: {shown(path)}")
    known = recognized(found.entries, baseline.entries) if baseline else None
    if baseline and known:
        output.text(known.text)
        unreadable = [*unreadable, *baseline.unreadable]
    for place, why in unreadable:
        console.say(f"could not read {place}: {why}")
    output.document([{"folder": shown(entry.folder), **entry.record.plain(), "tier": entry.tier,
                      **({"root_cause": known.cause_of(entry)} if known else {})}
                     for entry in [*found.entries, *found.unreproduced]])
    return 2 if unreadable else 0
