"""Runs programs, prints what happened line by line, and judges.

Subject and sanitizer come from the file's header unless given.
"""

from pathlib import Path

from slotfuzz import explain, options, signature
from slotfuzz.engine import Server
from slotfuzz.errors import UserError

EXAMPLE = "./slotfuzz replay repro/*/repro.py --subject core"
TIMES_MAX = 1_000_000


def add_arguments(parser) -> None:
    """The options of replay."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="or a folder of files")
    options.add_subject(parser)
    options.add_target(parser)
    parser.add_argument("--times", type=int, default=1, metavar="N", help="run each N times")


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
            results.append(_replay(servers[wish], path, text, args.times, output))
    finally:
        for server in servers.values():
            server.close()
    output.document(results)
    return 1 if any(result["findings"] for result in results) else 0


def _replay(server: Server, path: Path, text: str, times: int, output) -> dict:
    replies = [server.run(text) for _ in range(times)]
    findings = [reply for reply in replies if reply["outcome"] == "finding"]
    reply = (findings or replies)[0]
    words = signature.of_reply(reply).text if findings else ""
    output.text(f"# {path} on {server.subject.name}, {server.subject.sanitizer}"
                + (f"; {reply['dropped']} lines are none of a program and did not run"
                   if reply["dropped"] else ""))
    output.text(explain.annotated(reply))
    if times > 1:
        output.text(f"{len(findings)} of {times} runs are findings")
    return {
        "file": str(path), "subject": server.subject.name, "sanitizer": server.subject.sanitizer,
        "target": server.target, "outcome": reply["outcome"], "kind": reply["kind"],
        "contract": explain.contract_of(reply) if findings else "", "check": reply["check"],
        "signature": words, "line": reply["line"], "message": reply["message"],
        "lines": len(reply["lines"]), "dropped": reply["dropped"],
        "times": times, "findings": len(findings),
    }
