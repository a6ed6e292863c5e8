"""Runs every program of up to N lines over a small op set, and visits each state once.

By default the ops and literals are those of the mutant's minimal program. For another subject, the
ops are those of all mutants of the target, since historic bugs consist of them. Exit code 1 if a
program fails. Each signature is printed with a program that has the fewest lines.
"""

from slotfuzz import console, options
from slotfuzz.engine.server import Server
from slotfuzz.errors import UserError, nearest
from slotfuzz.hunt import enumerate as enumeration
from slotfuzz.language.program import Line
from slotfuzz.subject import catalogue, mutant, registry, subject

EXAMPLE = "./slotfuzz enumerate --subject mutant:hermetic-del-storage --lines 6"
LINES_MAX = 60


def add_arguments(parser) -> None:
    """The options of enumerate."""
    parser.add_argument("--lines", type=int, required=True, metavar="N")
    parser.add_argument("--ops", metavar="OP,OP..", help="names as `./slotfuzz ops` lists them")
    options.add_subject(parser)
    options.add_target(parser, "the target in the mutant's header")


def run(args, output) -> int:
    """Enumerates; 1 if anything fails."""
    if not 1 <= args.lines <= LINES_MAX:
        raise UserError(f"--lines must be 1 to {LINES_MAX}")
    name = args.subject or registry.DEFAULT
    target = args.target or registry.own_target(name) or catalogue.default_target()
    chosen = subject.resolve(name, args.sanitizer, [target], args.python, False)
    with Server(chosen, target) as server:
        ops = _named_ops(server, args.ops) if args.ops else default_ops(server)
        console.say(f"{name}, {target}: programs of {', '.join(ops)}")
        result = enumeration.run(server, ops, args.lines, literals=literals(server),
                                 report=_say_counts)
    output.text(summary(name, target, result))
    output.document(document(name, target, ops, result))
    return 1 if result.findings else 0


def _say_counts(length: enumeration.Length) -> None:
    console.say(f"{length.lines} lines: {length.programs:,} programs, {length.states:,} new states,"
                f" {length.failing:,} failing")


def literals(server: Server) -> frozenset[str]:
    """The literals in the minimal program of the subject's seeded bug; empty without one."""
    if not server.subject.seeded:
        return frozenset()
    return frozenset(word for lines in _programs(server) for line in lines
                     for index, word in enumerate(line.operands)
                     if not server.table.kind(line, index).prefix)


def _programs(server: Server) -> list[list[Line]]:
    """The minimal program of the seeded bug, or those of all mutants of the target."""
    one = server.subject.seeded
    headers = [one] if one else [header for header in map(mutant.read_header,
                                                          catalogue.mutant_names())
                                 if header.target == server.target]
    return [server.parse("\n".join(header.program)) for header in headers]


def default_ops(server: Server) -> list[str]:
    """The ops of `_programs` that the target has; else UserError."""
    used = {line.op for lines in _programs(server) for line in lines}
    ops = [name for name, op in server.table.ops.items() if name in used and not op["masked"]]
    if not ops:
        raise UserError(f"{server.target} has no mutants, whose ops are the default; use --ops")
    return ops


def summary(name: str, target: str, result: enumeration.Result) -> str:
    """The text output."""
    rows = [[length.lines, length.programs, length.states, length.failing]
            for length in result.lengths]
    lines = [console.table(rows, ["lines", "programs", "new states", "failing"])] if rows else []
    for failing in result.findings.values():
        lines.append(f"{len(failing.lines)} lines: {failing.signature}")
        lines += ["    " + line for line in failing.text.splitlines()]
    rate = result.programs / result.seconds if result.seconds else 0
    lines.append(
        f"{name}, {target}: {result.programs:,} programs, {result.states:,} states in"
        f" {result.seconds:.1f} s ({rate:,.0f}/s), {len(result.findings)} signatures"
        + (f", {result.unrepeated} failed only once" if result.unrepeated else "")
        + (", interrupted: the last length is not complete" if result.interrupted else ""))
    return "\n".join(lines)


def document(name: str, target: str, ops: list[str], result: enumeration.Result) -> dict:
    """The JSON output."""
    return {
        "subject": name, "target": target, "ops": ops, "programs": result.programs,
        "states": result.states, "seconds": result.seconds, "interrupted": result.interrupted,
        "unrepeated": result.unrepeated,
        "lengths": [vars(length) for length in result.lengths],
        "findings": [{"signature": failing.signature, "lines": len(failing.lines),
                      "program": failing.text} for failing in result.findings.values()],
    }


def _named_ops(server: Server, words: str) -> list[str]:
    ops = server.table.ops
    names = list(dict.fromkeys(word for word in words.split(",") if word))
    for name in names:
        if name not in ops:
            raise UserError(f"no op {name!r}; {nearest(name, list(ops))}")
        if ops[name]["masked"]:
            raise UserError(f"{server.subject.name} has no {name} in {server.target}")
    if not names:
        raise UserError("--ops names no op")
    return names
