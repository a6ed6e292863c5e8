"""`interleave --subject c10`: prints a row for each model and sanitizer, and each finding."""

from slotfuzz import console
from slotfuzz.errors import UserError
from slotfuzz.interleave import c10, c10_input, c10_repro, rows
from slotfuzz.paths import build_root, shown
from slotfuzz.subject import tools
from slotfuzz.subject.subjects.c10 import Place

SECONDS = 10.0
# Options of the search on the core's protocols, which a hunt on libtorch does not take.
FOREIGN = ("threads", "shape", "programs", "engine", "bound", "executions")
HEAD = ["model", "sanitizer", "runs", "runs/s", "seconds", "verdict"]
REPORT_LINES_MAX = 24


def run(args, output) -> int:
    """Hunts on the installed libtorch; 1 if anything was found, documented or not."""
    for name in FOREIGN:
        if getattr(args, name) is not None:
            raise UserError(f"--{name} is for the core's protocols; --subject c10 has models,"
                            " --seconds, --seed, --schedule, --times, --rootfs, --out")
    seed = _number("--seed", args.seed or "1")
    times = _number("--times", args.times)
    place = Place(args.rootfs.resolve() if args.rootfs else None)
    place.prepare()
    binaries = {sanitizer: place.binary(sanitizer) for sanitizer in c10.SANITIZERS}
    offered = c10.describe(place, binaries["address"])
    if args.describe:
        return _describe(args.models, offered, output)
    names = [one["name"] for one in offered]
    models = c10.check_scenarios(list(dict.fromkeys(args.models)), names)
    for reason in tools.blindness():
        console.say(f"ThreadSanitizer may not work here: {reason}")
    data = None
    if args.schedule:
        if len(models) != 1:
            raise UserError("--schedule is for one model; name it")
        data = c10_input.schedule_bytes(args.schedule, models[0], names)
    ops = {one["name"]: one["ops"] for one in offered}
    targets = [c10.Target(place, binaries[sanitizer], model, ops[model], sanitizer)
               for model in models for sanitizer in c10.SANITIZERS]
    output.text(f"libtorch {place.release()}, its headers in {place.headers()}")

    def ask(target: c10.Target) -> dict:
        row = (c10.hunt(target, args.seconds or SECONDS, seed) if data is None
               else c10.replay(target, data, times))
        if row["failure"]:
            _explain(args, row, output)
        return row

    found = rows.ask_each(targets, ask, output, HEAD, _cells)
    return 1 if any(row["failure"] for row in found) else 0


def _cells(row: dict) -> list:
    return [row["protocol"], row["sanitizer"], row["executions"], row["rate"], row["seconds"],
            _verdict(row)]


def _verdict(row: dict) -> str:
    failure = row["failure"]
    if not failure:
        return row["verdict"]
    kind = "documented" if failure["documented"] else "known" if failure["known"] else "new"
    return f"finding ({kind}): {failure['message']}"


def _explain(args, row: dict, output) -> None:
    """Prints a finding; writes it as a C++ program if its input was saved."""
    failure = row["failure"]
    output.text(f"{row['protocol']} under {row['sanitizer']}: {failure['message']}")
    if failure["documented"]:
        output.text(f"documented, {failure['documented']}")
    for number, words in enumerate(failure["threads"]):
        output.text(f"  thread {number}: {' '.join(words) or 'nothing'}")
    if failure["table"]:
        output.text(rows.table_text(failure["table"]))
    if failure["report"]:
        lines = failure["report"].splitlines()
        cut = [f"({len(lines) - REPORT_LINES_MAX} more lines)"] * (len(lines) > REPORT_LINES_MAX)
        output.text("\n".join(lines[:REPORT_LINES_MAX] + cut))
    if failure["known"]:
        output.text(f"a program that fails alike and needs only libtorch: {failure['known']}\n"
                    f"  {failure['known_build']}")
    if "schedule" not in failure:
        output.text("no input was saved; try again with another --seed\n")
        return
    path = c10_repro.write(args.out or build_root() / "interleave", row)
    failure["program"] = str(path)
    output.text(f"--schedule {failure['schedule']} ({failure['bytes']} bytes of choices:"
                f" {failure['schedule_bytes'] or 'none'})"
                f"\nreplayed: fails {failure['replays_failed']} of {failure['replays']} times;"
                f" as a program: {shown(path)}\n")


def _describe(names: list[str], offered: list[dict], output) -> int:
    chosen = c10.check_scenarios(names, [one["name"] for one in offered])
    documents = [one for one in offered if one["name"] in chosen]
    for one in documents:
        output.text(f"{one['name']}: {one['sentence']}\n  {' '.join(one['ops'])}")
    output.document(documents)
    return 0


def _number(flag: str, text: str) -> int:
    try:
        value = int(text)
    except ValueError as error:
        raise UserError(f"{flag} takes a number, not {text!r}") from error
    if not 0 < value < 1 << 31:
        raise UserError(f"{flag} must be more than 0 and less than 2^31")
    return value
