"""Writes a failing interleaving as one C++ file, which needs nothing but the checkout.

The file contains the threads' programs and the schedule. It runs them as often as asked, prints the
table, and exits with 1 if any run failed.
"""

from pathlib import Path

from slotfuzz.finding import finding
from slotfuzz.interleave.rows import table_text
from slotfuzz.paths import shown
from slotfuzz.schema import schedules
from slotfuzz.subject import build

FLAGS = "-std=c++20 -O1 -g"
SCHEDULER = "build/{fibre,schedule}.o"

TEMPLATE = """\
// {title}
//
{how}
// Exits with 1 if a run fails. Each schedule byte is a choice: 0 continues the current thread or
// reads the newest store; k chooses the k-th next thread or the k-th older store.
{table}
#include <cstdio>
#include <cstdlib>

#include "harness/interleave/{header}"
#include "harness/interleave/scenarios/scenario_{protocol}.h"
#include "harness/interleave/command/symbols.h"

using namespace slotfuzz::interleave;

int main(int count, char** arguments) {{
  const int times = count > 1 ? std::atoi(arguments[1]) : 1;
  Plan plan;
  plan.threads = {threads};
  plan.shape = {shape};  // {shape_name}
{ops}
  const Schedule schedule{{{schedule}}};
  ProgramOf<{scenario}Scenario<{policy}>, Plan> program(plan.threads, plan);
  {runner}
  int failed = 0;
  for (int i = 0; i < times; ++i) {{
    const auto failure = {call};
    if (!failure) continue;
    if (failed++ > 0) continue;
    auto rows = failure->trace;
    number_addresses(&rows);
    std::printf("%s\\n%s\\n", table_of(rows).c_str(),
                words_of(failure->contract, failure->message).c_str());
  }}
  std::printf("failed %d of %d\\n", failed, times);
  return failed > 0;
}}
"""


def write(folder: Path, row: dict, chosen: str) -> Path:
    """Writes FOLDER/<protocol>-<subject>-<engine>.cc; returns its path."""
    finding.check_writable(folder)
    name = f"{row['protocol']}-{chosen.replace(':', '-')}-{row['engine']}.cc"
    finding.write_file(folder / name, text_of(row, chosen, shown(folder / name)))
    return folder / name


def text_of(row: dict, chosen: str, name: str) -> str:
    """The program's text for a failed ROW of the command."""
    schedule = bytes.fromhex(row["failure"]["schedule"])
    threads, shape, programs = _plan(schedule[2:])
    fibres = row["engine"] == "fibres"
    failure = row["failure"]
    return TEMPLATE.format(
        title=f"{row['protocol']} on {chosen}: {schedules.words_of(failure)}",
        how=_how(chosen, name, fibres), table=_table(failure["table"]),
        header="compiled/fibres_run.h" if fibres else "explore/explore.h",
        protocol=row["protocol"], threads=threads, shape=shape, shape_name=row["shape"],
        ops=_ops(programs, row["programs"]), scenario=row["protocol"].capitalize(),
        schedule=", ".join(str(byte) for byte in bytes.fromhex(failure["schedule_bytes"])),
        policy="FibresPolicy" if fibres else "ModelPolicy",
        runner="FibresRun runner;" if fibres else "Execution execution;",
        call=("runner.replay(program, schedule, true)" if fibres
              else "replay(program, schedule, execution).failure"))


def _plan(data: bytes) -> tuple[int, int, list[list[int]]]:
    threads, shape, at, programs = data[0], data[1], 2, []
    for _ in range(threads):
        length = data[at]
        programs.append(list(data[at + 1:at + 1 + length]))
        at += 1 + length
    return threads, shape, programs


def _ops(programs: list[list[int]], names: str) -> str:
    lines = []
    for thread, (program, words) in enumerate(zip(programs, names.split(";"))):
        calls = "".join(f" plan.add({thread}, {op});" for op in program)
        lines.append(f" {calls}  // thread {thread}: {words.replace(',', ', ')}")
    return "\n".join(lines)


def _how(chosen: str, name: str, fibres: bool) -> str:
    """Comment lines with the commands that build and run it, for bash in a checkout's root."""
    compiler = Path(build.compiler()).name
    include, steps = "-I.", ["mkdir -p build"]
    _, _, mutant = chosen.partition(":")
    if mutant:
        include = "-Ibuild/mutated -I."
        steps.append(f"ci/apply_mutant.sh . mutants/{mutant}.patch build/mutated")
    here, flags = "harness/interleave", FLAGS
    rest = f"{here}/model/*.cc {here}/explore/explore*.cc {here}/command/symbols.cc"
    if fibres:
        steps += scheduler_steps(compiler)
        flags += " -fsanitize=thread"
        rest += f" {here}/compiled/fibres_run.cc {SCHEDULER}"
    else:
        rest += f" {here}/fibre/fibre.cc"
    steps.append(f"{compiler} {flags} {include} {name} {rest} -o build/failing")
    steps.append(("TSAN_OPTIONS=suppress_equal_stacks=0:suppress_equal_addresses=0 " if fibres
                  else "") + "build/failing 100")
    return "\n".join(f"// {step}" for step in steps)


def scheduler_steps(compiler: str, checks: str = "") -> list[str]:
    """The commands that compile SCHEDULER with the flags CHECKS.

    ThreadSanitizer must not instrument the scheduler, which is not part of the threads it runs.
    """
    return [f"{compiler} {FLAGS}{checks} -I. -c harness/interleave/fibre/{stem}.cc"
            f" -o build/{stem}.o" for stem in ("fibre", "schedule")]


def _table(rows: list[dict]) -> str:
    if not rows:
        return "//"
    return "//\n" + "\n".join(f"//   {line}".rstrip() for line in table_text(rows).splitlines())
