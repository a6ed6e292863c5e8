"""Runs programs, prints what happened line by line, and judges them.

Subject and sanitizer come from the file's header unless given. A line that matches no op is an
error, since the rest of a failing program may be clean.
"""

from pathlib import Path

from slotfuzz import options
from slotfuzz.engine.server import Server
from slotfuzz.errors import UserError
from slotfuzz.evidence import signature
from slotfuzz.finding import contract, explain
from slotfuzz.schema.answers import Reply

EXAMPLE = "./slotfuzz replay repro/*/repro.py --subject core"
TIMES_MAX = 1_000_000


def add_arguments(parser) -> None:
    """The options of replay."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE",
                        help="a program, or a folder of programs")
    options.add_subject(parser, of_file=True)
    options.add_target_of_file(parser)
    options.add_skip_unknown(parser)
    parser.add_argument("--times", type=int, default=1, metavar="N", help="runs of each program")


def run(args, output) -> int:
    """Replays; 1 if any run is a finding."""
    if not 1 <= args.times <= TIMES_MAX:
        raise UserError(f"--times must be 1 to {TIMES_MAX}")
    servers, results = {}, []
    try:
        for path in options.program_files(args.files):
            text = options.read_program(path)
            wish = options.meant(args, path, text)
            if wish not in servers:
                servers[wish] = Server(options.resolve(args, wish, False), wish.target, trace=True)
            results.append(_replay(args, servers[wish], path, text, output))
    finally:
        for server in servers.values():
            server.close()
    output.document(results)
    return 1 if any(result["findings"] for result in results) else 0


def _replay(args, server: Server, path: Path, text: str, output) -> dict:
    replies = [server.run(text)]
    options.check_lines(args, path, server, replies[0])
    replies += [server.run(text) for _ in range(args.times - 1)]
    findings = [reply for reply in replies if reply.is_finding]
    reply = (findings or replies)[0]
    words = signature.of_reply(reply) if findings else None
    skipped = reply.dropped_count
    output.text(f"# {path} on {server.subject.name}, {server.subject.sanitizer}"
                + f"; {skipped} lines match no op and were skipped" * bool(skipped))
    output.text(explain.annotated(reply))
    if args.times > 1:
        output.text(f"{len(findings)} of {args.times} runs are findings")
    return {
        "file": str(path), "subject": server.subject.name, "sanitizer": server.subject.sanitizer,
        "target": server.target, "outcome": reply.outcome,
        "kind": words.kind if words else "",
        "contract": contract.contract_of(reply) if findings else "", "check": reply.check,
        "signature": words.text if words else "",
        "verdict": words.verdict if words else "", "line": _line(reply),
        "message": reply.message, "lines": len(reply.lines), "skipped": skipped,
        "times": args.times, "findings": len(findings),
    }


def _line(reply: Reply) -> int | None:
    """The number, from 1, of the failing line; None if the program is clean or fails at its end."""
    return reply.line + 1 if reply.is_finding and not reply.is_at_end else None
