"""Settings that disable ThreadSanitizer, and the advice for each."""

import pytest

from slotfuzz.errors import BrokenError, MachineError
from slotfuzz.measure import doctor
from slotfuzz.subject import tools
from tests.driver.conftest import write_program


@pytest.mark.parametrize("limit, bits, release, words", [
    (None, 28, 14, []),
    (None, 32, 19, []),
    (None, 32, 14, ["sysctl vm.mmap_rnd_bits=28"]),
    (1 << 30, 28, 19, ["ulimit -H -v unlimited"]),
    (1 << 30, 32, 14, ["ulimit -H -v unlimited", "sysctl vm.mmap_rnd_bits=28"]),
])
def test_each_reason_says_what_to_set(limit, bits, release, words):
    reasons = tools.blind_reasons(limit, bits, release)
    assert len(reasons) == len(words)
    assert all(word in reason for word, reason in zip(words, reasons))


@pytest.mark.parametrize("bits, noticed", [("32\n", True), ("28\n", False), ("what\n", False)])
def test_the_kernels_setting_is_read(bits, noticed, tmp_path, monkeypatch):
    (tmp_path / "bits").write_text(bits)
    monkeypatch.setattr(tools, "MMAP_RND_BITS", tmp_path / "bits")
    monkeypatch.setattr(tools.build, "compiler",
                        lambda: str(write_program(tmp_path / "clang", "echo clang version 14\n")))
    assert any("mmap_rnd_bits" in reason for reason in tools.blindness()) == noticed


@pytest.mark.parametrize("sanitizer, error", [("thread", MachineError), ("address", BrokenError)])
def test_a_binary_that_cannot_start_is_a_machine_error_only_under_tsan(
        sanitizer, error, fake_subject, monkeypatch):
    import dataclasses

    write_program(fake_subject.target("storage"), "echo FATAL: unexpected memory mapping >&2\n")
    monkeypatch.setattr(doctor, "blindness", lambda: ["set: this"])
    monkeypatch.setattr(doctor.subject, "resolve", lambda *words, **more: dataclasses.replace(
        fake_subject, sanitizer=sanitizer))
    monkeypatch.setattr(doctor.catalogue, "default_target", lambda: "storage")
    with pytest.raises(error, match="set: this" if error is MachineError else "no JSON"):
        doctor.plant_all([sanitizer])
