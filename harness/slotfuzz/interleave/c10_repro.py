"""Writes a finding on the c10 subject as a C++ file, and finds a known program for it.

The known programs in targets/c10/repro need nothing but libtorch. The first lines of each say which
scenario and failures it shows (`Shows:`), and which sentence of a header documents the failure
(`Documented:`). The file written here contains the input's bytes and needs the checkout.
"""

import re
from pathlib import Path

from slotfuzz.finding import finding
from slotfuzz.interleave.interleave_repro import FLAGS, SCHEDULER, scheduler_steps
from slotfuzz.paths import ROOT, shown
from slotfuzz.subject import build

REPROS = ROOT / "targets" / "c10" / "repro"
SHOWS = re.compile(r"^// Shows: ([\w-]+): (.+)$", re.MULTILINE)
DOCUMENTED = re.compile(r"^// Documented: (\S+): (.+)$", re.MULTILINE)
BUILD = re.compile(r"^//   (clang\+\+ .+)$", re.MULTILINE)
BYTES_PER_LINE = 16

TEMPLATE = """\
// {title}
//
{how}
// Fails as the finding does; exits with 0 if the installed libtorch does not have the bug.
{threads}
#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main() {{
  char program[] = "c10";
  char scenario[] = "--scenario={scenario}";
  char explain[] = "--explain";
  char* words[] = {{program, scenario, explain, nullptr}};
  char** arguments = words;
  int count = 3;
  LLVMFuzzerInitialize(&count, &arguments);
  // The threads' programs, then the schedule.
  const uint8_t input[] = {{
{data}
  }};
  return LLVMFuzzerTestOneInput(input, sizeof(input));
}}
"""


def known(scenario: str, kind: str, headers: Path) -> dict:
    """The known program that fails with KIND, and the sentence in HEADERS that documents it.

    The sentence must be in the headers of the installed release: a failure that the headers no
    longer mention is no longer documented.
    """
    for path in sorted(REPROS.glob("*.cc")):
        text = path.read_text()
        for name, kinds in SHOWS.findall(text):
            if name == scenario and kind.startswith(tuple(kinds.split(", "))):
                return {"known": shown(path), "known_build": _command(text, path),
                        "documented": _documented(text, headers)}
    return {"known": "", "known_build": "", "documented": ""}


def _command(text: str, path: Path) -> str:
    """The command in the file that builds and runs it, adapted to the checkout's root."""
    line = BUILD.search(text)
    if not line:
        return ""
    out = f"build/{path.stem}"
    words = line[1].replace(path.name, shown(path)).replace(f"-o {path.stem}", f"-o {out}")
    return words.replace(f"./{path.stem}", out).replace("clang++", Path(build.compiler()).name)


def _documented(text: str, headers: Path) -> str:
    place = DOCUMENTED.search(text)
    if not place or not (headers / place[1]).exists():
        return ""
    comment = " ".join(re.findall(r"//+ ?(.*)", (headers / place[1]).read_text(errors="replace")))
    sentences = re.split(r"(?<=\.)\s+", re.sub(r"\s+", " ", comment))
    found = [sentence for sentence in sentences if place[2] in sentence]
    return f"{place[1]}: {found[0]}" if found else ""


def write(folder: Path, row: dict) -> Path:
    """Writes FOLDER/c10-<scenario>-<sanitizer>.cc; returns its path."""
    finding.check_writable(folder)
    path = folder / f"c10-{row['protocol']}-{row['sanitizer']}.cc"
    finding.write_file(path, text_of(row, shown(path)))
    return path


def text_of(row: dict, name: str) -> str:
    """The program's text for a finding of the command."""
    failure = row["failure"]
    data = bytes.fromhex(failure["input"])
    lines = [", ".join(f"0x{byte:02x}" for byte in data[at:at + BYTES_PER_LINE])
             for at in range(0, max(len(data), 1), BYTES_PER_LINE)]
    return TEMPLATE.format(
        title=f"{row['protocol']} on an installed libtorch: {failure['message']}",
        how=_how(name, row["sanitizer"]), scenario=row["protocol"],
        threads="".join(f"//   thread {number}: {' '.join(words) or 'nothing'}\n"
                        for number, words in enumerate(failure["threads"])),
        data=",\n".join(f"      {line or '0x00'}" for line in lines))


def _how(name: str, sanitizer: str) -> str:
    """Comment lines with the commands that build and run it, for bash in a checkout's root."""
    compiler = Path(build.compiler()).name
    checks = "-fsanitize=thread"
    if sanitizer != "thread":
        checks = "-fsanitize=address,undefined -fno-sanitize-recover=all"
    steps = ["mkdir -p build"]
    steps += scheduler_steps(compiler, "" if sanitizer == "thread" else f" {checks}")
    steps.append(f"{compiler} {FLAGS} {checks} -I. {name} targets/c10/*.cc"
                 f" {SCHEDULER} -lc10 -o build/failing")
    steps.append(("TSAN_OPTIONS=halt_on_error=0 " if sanitizer == "thread" else
                  "ASAN_OPTIONS=detect_stack_use_after_return=0 ") + "build/failing")
    return "\n".join(f"// {step}" for step in steps)
