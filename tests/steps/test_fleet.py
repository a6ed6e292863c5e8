"""Tests a fleet's build by the fleets' own rules, in a minimal Debian tree as a fleet has it.

The tree has no Python, no compiler and no checkout; everything but /tmp is read-only, and /dev
contains only null. SLOTFUZZ_FLEET names the builds; ci/fleet_nightly.sh names all of them. Without
it, one target is built with a fleet's flags: a build of all targets takes as long as a preset's.
"""

import json
import os
import re
import shutil
import subprocess
import zipfile

import pytest

from slotfuzz.ci import fleet
from slotfuzz.paths import ROOT, build_root
from slotfuzz.subject import catalogue, mutant
from tests.steps.run import run, slotfuzz

FLEET = os.environ.get("SLOTFUZZ_FLEET", "").split()
SANITIZERS = [name for name in FLEET if name in fleet.SANITIZER_FLAGS]
AT_NIGHT = "ci/fleet_nightly.sh builds all targets"
CANARY = next(name for name in catalogue.target_names() if catalogue.must_fail(name))
CLEAN = [*catalogue.fuzzable_targets(), *catalogue.protocol_names()]
# The options of the fleets' runner, and the limits of their bad_build_check.
RUNNER_OPTIONS = {
    "ASAN_OPTIONS": "alloc_dealloc_mismatch=0:allocator_may_return_null=1:"
                    "allocator_release_to_os_interval_ms=500:check_malloc_usable_size=0:"
                    "detect_container_overflow=1:detect_odr_violation=0:detect_leaks=1:"
                    "detect_stack_use_after_return=1:fast_unwind_on_fatal=0:handle_abort=1:"
                    "handle_segv=1:handle_sigill=1:max_uar_stack_size_log=16:print_scariness=1:"
                    "quarantine_size_mb=10:strict_memcmp=1:symbolize=1:use_sigaltstack=1:"
                    "dedup_token_length=3",
    "UBSAN_OPTIONS": "print_stacktrace=1:print_summary=1:silence_unsigned_overflow=1:"
                     "symbolize=1:dedup_token_length=3",
    "TSAN_OPTIONS": "symbolize=1",
}
RUNNER_FLAGS = ("-rss_limit_mb=2560", "-timeout=25")
RUNS = 100
CANARY_RUNS = 100_000
EDGES_MIN = 100
# This takes seconds; the limit is for a busy machine.
AFL_SECONDS = 300
AFL_ASAN_OPTIONS = ("abort_on_error=1:symbolize=0:detect_odr_violation=0:detect_leaks=0:"
                    "detect_stack_use_after_return=0")
CALLS = {"address": {"__asan": (1000, None), "__ubsan": (0, 200)},
         "undefined": {"__asan": (0, 0), "__ubsan": (168, None)}, "thread": {}, "coverage": {}}
# TREE, OUT, SHARED, then the command: OUT is /mnt, SHARED is /tmp.
ENTER = """
tree=$1 out=$2 shared=$3
shift 3
mount --bind "$tree" "$tree"
mount -t proc proc "$tree/proc"
mount -t tmpfs tmpfs "$tree/dev"
: >"$tree/dev/null"
mount --bind /dev/null "$tree/dev/null"
mount --bind "$out" "$tree/mnt"
mount -o remount,bind,ro "$tree/mnt"
mount --bind "$shared" "$tree/tmp"
mount -o remount,bind,ro "$tree"
exec chroot "$tree" env -i --chdir=/mnt "$@"
"""


@pytest.fixture(scope="module", params=SANITIZERS or [None])
def built(request, tmp_path_factory):
    """The sanitizer, and OUT as a fleet gets it, plus the canary, which fleets do not get."""
    if request.param is None:
        pytest.skip(AT_NIGHT)
    out = tmp_path_factory.mktemp("out")
    variables = {"OUT": str(out), "SANITIZER": request.param}
    run(ROOT / "ci" / "fuzz_build.sh", variables=variables)
    assert not (out / CANARY).exists()
    run(ROOT / "ci" / "fuzz_build.sh", CANARY, variables=variables)
    return request.param, out


@pytest.fixture(scope="module")
def tree():
    """A minimal Debian tree, made once for each build folder."""
    if os.geteuid() != 0:
        pytest.skip("only root may make a Debian tree and enter it")
    folder = build_root() / "bare"
    run(ROOT / "ci" / "bare_rootfs.sh", folder)
    assert not (folder / "usr/bin/python3").exists()
    return folder


@pytest.fixture
def box(built, tree, tmp_path):
    """Runs a target in the tree as the fleets' runner does; returns exit code and output."""
    _, out = built

    def enter(target, *words):
        environment = {name: f"{value}:{options_of(out, target, name)}external_symbolizer_path="
                       "/mnt/llvm-symbolizer" for name, value in RUNNER_OPTIONS.items()}
        ended = subprocess.run(
            ["unshare", "--mount", "--propagation", "private", "--pid", "--fork", "--kill-child",
             "sh", "-ec", ENTER, "sh", tree, out, tmp_path,
             *(f"{name}={value}" for name, value in environment.items()),
             "PATH=/mnt:/usr/bin:/bin", "LLVM_PROFILE_FILE=/tmp/%p.profraw",
             f"/mnt/{target}", "--", *RUNNER_FLAGS, *words],
            stdin=subprocess.DEVNULL, capture_output=True, check=False)
        return ended.returncode, ended.stderr.decode(errors="replace")
    return enter


def options_of(out, target, name):
    """The section NAME of the target's .options, joined as the fleets join it."""
    section = f"[{name.removesuffix('_OPTIONS').lower()}]\n"
    _, found, rest = (out / f"{target}.options").read_text().partition(section)
    pairs = rest.partition("\n[")[0].split("\n") if found else []
    return "".join(pair.replace(" ", "") + ":" for pair in pairs if pair)


def unpack(out, target, folder):
    """Unpacks the seeds of a target as the runner does."""
    with zipfile.ZipFile(out / f"{target}_seed_corpus.zip") as archive:
        archive.extractall(folder)
    return len(list(folder.iterdir()))


@pytest.mark.parametrize("target", CLEAN)
def test_fleet_target_starts_runs_and_merges_in_a_bare_tree(target, built, box, tmp_path):
    sanitizer, out = built
    seeds = unpack(out, target, tmp_path / "corpus")
    assert seeds == len(list((ROOT / "corpus" / target).iterdir())) > 0
    code, said = box(target, "-seed=1337", f"-runs={seeds + RUNS}", "/tmp/corpus")
    done = re.search(r"^Done (\d+) runs", said, re.MULTILINE)
    assert code == 0 and done and int(done[1]) >= RUNS, said
    edges = re.search(r"Loaded \d+ modules\s+\((\d+) inline 8-bit counters\)", said)
    assert sanitizer == "coverage" or int(edges[1]) >= EDGES_MIN, said
    (tmp_path / "merged").mkdir()
    code, said = box(target, "-merge=1", "/tmp/merged", "/tmp/corpus")
    assert code == 0 and "MERGE-OUTER: successful in 1 attempt" in said, said
    assert sanitizer == "coverage" or list((tmp_path / "merged").iterdir())


# One target of each kind, since the others have the same object files.
@pytest.mark.parametrize("target", [catalogue.default_target(), catalogue.protocol_names()[0]])
def test_fleet_target_has_one_sanitizer(target, built):
    sanitizer, out = built
    for called, (least, most) in CALLS[sanitizer].items():
        count = int(run("sh", "-c", f"objdump -dC --no-show-raw-insn {out / target} |"
                        f" grep -cE 'call +[0-9a-f]+ <{called}' || true"))
        assert count >= least and (most is None or count <= most), f"{count} calls of {called}"


def test_a_crash_of_a_fleet_comes_back_as_a_script(built, box, tmp_path):
    if built[0] == "coverage":
        pytest.skip("a coverage build reports no crash")
    code, said = box(CANARY, "-seed=1", f"-runs={CANARY_RUNS}", "-artifact_prefix=/tmp/")
    assert code != 0 and f"/targets/programs/{CANARY}.cc:" in said, said
    (crash,) = tmp_path.glob("crash-*")
    (replayed,) = slotfuzz("replay", crash, "--target", CANARY, ok=(1,))
    assert replayed["outcome"] == "finding" and "never_wrap_again" in replayed["signature"]
    script = tmp_path / "repro.py"
    told = slotfuzz("minimize", crash, "--target", CANARY, "--skip-unknown", "-o", script, ok=(1,))
    assert told["one_minimal"] and told["lines"] == 3
    assert told["program"].splitlines()[0] in script.read_text()


@pytest.mark.skipif("afl" not in FLEET, reason="ci/fleet_nightly.sh has AFL++")
@pytest.mark.skipif(not shutil.which("afl-fuzz"), reason="apt-get install afl++")
def test_afl_finds_a_mutant_by_lines_and_its_crash_becomes_a_script(tmp_path):
    name, out = "hermetic-del-storage", tmp_path / "out"
    run(ROOT / "ci" / "fuzz_build.sh", "--mutant", name,
        variables={"OUT": str(out), "FUZZING_ENGINE": "afl"})
    (tmp_path / "seeds").mkdir()
    (tmp_path / "seeds" / "one.py").write_text("t0 = T.ones(1)\n")
    run("afl-fuzz", "-V", AFL_SECONDS, "-t", "5000+", "-m", "none", "-i", tmp_path / "seeds",
        "-o", tmp_path / "found", "--", out / "storage", variables={
            "AFL_CUSTOM_MUTATOR_LIBRARY": str(out / "lib" / "storage-mutator.so"),
            "AFL_CUSTOM_MUTATOR_ONLY": "1", "AFL_BENCH_UNTIL_CRASH": "1", "AFL_NO_UI": "1",
            "AFL_SKIP_CPUFREQ": "1", "AFL_NO_AFFINITY": "1",
            "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "ASAN_OPTIONS": AFL_ASAN_OPTIONS})
    crash = sorted((tmp_path / "found" / "default" / "crashes").glob("id*"))[0]
    told = slotfuzz("minimize", crash, "--subject", f"mutant:{name}", "--target", "storage",
                    "--skip-unknown", "-o", tmp_path / "repro.py", ok=(1,))
    assert told["one_minimal"] and told["rate"] == 1


@pytest.mark.skipif(not FLEET, reason=AT_NIGHT)
def test_a_deadlock_on_a_fleet_leaves_its_program(tmp_path):
    """If the watchdog exited, the fleet would get a report without an input."""
    name = next(name for name in catalogue.mutant_names()
                if mutant.read_header(name).verdict == "deadlock")
    header = mutant.read_header(name)
    run(ROOT / "ci" / "fuzz_build.sh", "--mutant", name, variables={"OUT": str(tmp_path / "out")})
    seed = tmp_path / "corpus" / "deadlock.py"
    seed.parent.mkdir()
    seed.write_text("\n".join(header.program) + "\n")
    ended = subprocess.run([tmp_path / "out" / header.target, *RUNNER_FLAGS, "--line-seconds=2",
                            "-runs=0", f"-artifact_prefix={tmp_path}/", seed.parent],
                           capture_output=True, check=False)
    assert b"slotfuzz: deadlock" in ended.stderr
    (crash,) = tmp_path.glob("crash-*")
    assert crash.read_text() == seed.read_text()


@pytest.mark.parametrize("target", CLEAN)
def test_a_coverage_build_names_the_lines_of_the_core(target, built, box, tmp_path):
    sanitizer, out = built
    if sanitizer != "coverage":
        pytest.skip("not a coverage build")
    unpack(out, target, tmp_path / "corpus")
    code, said = box(target, "-runs=0", "/tmp/corpus")
    assert code == 0, said
    suffix = fleet.build.compiler().rpartition("clang++")[2]
    profile = tmp_path / "merged.profdata"
    run(f"llvm-profdata{suffix}", "merge", *tmp_path.glob("*.profraw"), "-o", profile)
    told = json.loads(run(f"llvm-cov{suffix}", "export", "-summary-only", out / target,
                          f"-instr-profile={profile}"))
    covered = [row["filename"] for row in told["data"][0]["files"]
               if "/core/" in row["filename"] and row["summary"]["lines"]["covered"]]
    assert covered


ENGINE = """
#include <cstddef>
#include <cstdint>
#include <cstdio>
extern "C" int LLVMFuzzerInitialize(int* count, char*** words);
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
int main(int count, char** words) {
  LLVMFuzzerInitialize(&count, &words);
  std::puts("another engine");
  return LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>("ab"), 2);
}
"""


def test_a_fleet_build_uses_the_compiler_flags_and_engine_that_it_is_given(tmp_path):
    log, compiler = tmp_path / "calls.txt", tmp_path / "compiler++"
    compiler.write_text(f'#!/bin/sh\necho "$@" >>{log}\nexec {fleet.build.compiler()} "$@"\n')
    compiler.chmod(0o755)
    (tmp_path / "engine.cc").write_text(ENGINE)
    run(fleet.build.compiler(), "-c", tmp_path / "engine.cc", "-o", tmp_path / "engine.o")
    target = catalogue.protocol_names()[0]
    run(ROOT / "ci" / "fuzz_build.sh", target, variables={
        "CXX": str(compiler), "CXXFLAGS": "-O0 -DGIVEN_BY_A_FLEET", "CCACHE_DISABLE": "1",
        "LIB_FUZZING_ENGINE": str(tmp_path / "engine.o"), "SANITIZER": "address",
        "FUZZING_ENGINE": "libfuzzer", "ARCHITECTURE": os.uname().machine, "SRC": str(ROOT.parent),
        "WORK": str(tmp_path / "work"), "OUT": str(tmp_path / "out")})
    compiled = [line for line in log.read_text().splitlines() if str(ROOT) in line]
    assert compiled and all("-O0 -DGIVEN_BY_A_FLEET" in line for line in compiled)
    assert not any("-fsanitize" in line for line in compiled)
    assert run(tmp_path / "out" / target) == "another engine\n"


def test_an_unsupported_fleet_build_is_an_error_of_one_line(tmp_path):
    told = subprocess.run([ROOT / "ci" / "fuzz_build.sh"], capture_output=True, text=True,
                          check=False,
                          env={**os.environ, "SANITIZER": "memory", "OUT": str(tmp_path)})
    assert told.returncode == 2 and told.stderr.startswith("slotfuzz: SANITIZER=memory")
    assert told.stderr.count("\n") == 1 and not list(tmp_path.iterdir())
