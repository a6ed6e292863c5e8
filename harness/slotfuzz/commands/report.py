"""Writes one page on what a campaign found, worst first; docs/torch.md with --markdown.

The page is self-contained: each finding with its program, its notes and its script. It reads the
folders of findings in DIR, at any depth, and runs nothing.
"""

from pathlib import Path

from slotfuzz import finding, report
from slotfuzz.errors import UserError
from slotfuzz.paths import shown

EXAMPLE = "./slotfuzz report repro -o report.html"


def add_arguments(parser) -> None:
    """The options of report."""
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE",
                        help="DIR/report.html by default")
    parser.add_argument("--markdown", action="store_true",
                        help="print docs/torch.md: the findings on torch, by release")


def run(args, output) -> int:
    """Reports; 0, since a report of findings is no finding."""
    if not args.folder.is_dir():
        raise UserError(f"no such folder: {args.folder}")
    root = args.folder.resolve()
    entries = report.collect(root)
    if args.markdown:
        output.text(report.markdown(root, entries))
    else:
        path = args.output or args.folder / "report.html"
        finding.check_writable(path.absolute().parent)
        finding.write_file(path, report.page(root, entries))
        output.text(f"{len(entries)} findings: {shown(path)}")
    output.document([{"folder": shown(entry.folder), "reach": entry.reach, **entry.record}
                     for entry in entries])
    return 0
