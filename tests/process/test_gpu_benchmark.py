"""The plan for machines with a GPU, on the planted device: every line is run, and passes."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from ciguard_planted import device_adapter

sys.path.append(str(Path(__file__).parents[2] / "benchmarks"))

import gpu
import gpu_cases
import gpu_plan
import gpu_rig

from ciguard.libraries import LIBRARIES, Mode
from ciguard.targets import drivers

ARRAY = ["a", "float32", [2], ["k", 1]]
MATRIX = ["a", "float32", [16, 16], ["u", 1, -1.0, 1.0]]
DRIVER = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.03  Tue Jan  7 20:11:19 UTC\n"
NVIDIA_SMI = """\
#!/bin/sh
case "$*" in
  *memory.used*) echo 300 ;;
  *"=driver_version --format"*) echo 580.159.03 ;;
  *) echo "Planted, 580.159.03, 1024 MiB, Default" ;;
esac
"""
SANITIZER = """\
#!/bin/sh
while [ "$1" != 1 ]; do shift; done; shift
"$@"
echo "========= Invalid __global__ write of size 4 bytes"
echo "=========     at far+0x80"
echo "=========     by thread (0,0,0) in block (0,0,0)"
echo "=========     Access to 0x7fb930800000 is out of bounds"
"""


def case(function: str, *arguments: object) -> list[object]:
    return [f"planted.device.{function}", "function", list(arguments or [ARRAY]), [], [], 1]


CALLS = gpu_cases.Calls(
    plain=case("add"),
    faulty=case("asserted"),
    like_cpu=[case("add"), case("product", MATRIX, MATRIX)],
    random=case("draw"),
    greedy=case("take", 10**12),
    endless=case("spin"),
    illegal=case("far"),
    raw="print(100.0)",
    one="planted.device.add",
    product=case("product", MATRIX, MATRIX),
    modes=("graph",),
    start="import planted.device; planted.device.start(64)",
)


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of the programs of a machine with a driver, a sanitizer and a device."""
    for name, text in {"nvidia-smi": NVIDIA_SMI, "compute-sanitizer": SANITIZER}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
        (tmp_path / name).chmod(0o700)
    (tmp_path / "version").write_text(DRIVER, encoding="utf-8")
    monkeypatch.setattr(drivers, "VERSION_FILE", tmp_path / "version")
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setenv("VIRTUAL_ENV", sys.prefix)
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES", raising=False)
    adapter = Path(device_adapter.__file__)
    library = replace(
        LIBRARIES.get("planted"), adapter=adapter, tf32_environment={}, modes={"graph": Mode()}
    )
    monkeypatch.setitem(LIBRARIES._items, "planted", library)
    monkeypatch.setitem(gpu_cases.CALLS, "planted", CALLS)
    return tmp_path


def test_every_line_about_workers_passes_on_the_planted_device(machine: Path) -> None:
    results = machine / "results.json"

    words = ["--libraries", "planted", "--only", "workers,modes,throughput"]
    code = gpu.main([*words, "--json", str(results)])

    lines = json.loads(results.read_text("utf-8"))["lines"]
    assert [line for line in lines if not line["passed"]] == []
    assert code == 0
    names = " ".join(line["name"] for line in lines)
    for part in ("start-up", "blamed", "illegal", "synchronous", "exhaustion", "without end"):
        assert part in names
    for part in (
        "kill -9",
        "sanitizer",
        "as on the CPU",
        "built",
        "tf32",
        "mode graph",
        "throughput",
    ):
        assert part in names
    for part in ("confinement of nothing", "files of the worker, system calls", "little memory"):
        assert part in names


@pytest.mark.slow
def test_every_line_about_campaigns_passes_on_the_planted_device(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = machine / "results.json"
    earlier = {"name": "an earlier line", "passed": True, "detail": ""}
    results.write_text(json.dumps({"device": "?", "lines": [earlier]}), encoding="utf-8")
    monkeypatch.setenv("PLANTED_DEVICE", "1")

    words = ["--libraries", "planted", "--only", "campaigns", "--seconds", "45"]
    code = gpu.main([*words, "--json", str(results), "--keep", str(machine / "kept")])

    found = json.loads(results.read_text("utf-8"))
    assert [line for line in found["lines"] if not line["passed"]] == []
    assert code == 0
    assert found["device"].startswith("Planted")
    names = [line["name"] for line in found["lines"]]
    assert names[0] == "an earlier line"
    for part in ("planted aa: no difference", "planted cpu: no difference", "aa: device memory"):
        assert any(part in name for name in names)
    assert found["planted cpu device MiB"]["samples"]
    assert all(found["planted cpu cases"])
    assert set(found["steps"]) == {"planted campaigns aa", "planted campaigns cpu"}
    assert {file.name for file in (machine / "kept").iterdir()} == {
        "planted-aa.tar.gz",
        "planted-cpu.tar.gz",
    }


def test_a_campaign_without_cases_does_not_pass(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = machine / "results.json"
    monkeypatch.setenv("PLANTED_DEVICE", "1")

    words = ["--libraries", "planted", "--only", "campaigns", "--campaigns", "cpu"]
    code = gpu.main([*words, "--seconds", "1", "--json", str(results)])

    lines = json.loads(results.read_text("utf-8"))["lines"]
    failed = [line for line in lines if not line["passed"]]
    assert [line["name"] for line in failed] == [
        "planted cpu: cases ran on both targets, and their arguments could be built"
    ]
    assert "nothing was left for cases" in failed[0]["detail"]
    assert code == 1


def test_a_library_that_is_not_installed_is_left_out(machine: Path) -> None:
    results = machine / "results.json"

    words = ["--libraries", "planted,jax", "--only", "none", "--json", str(results)]
    assert gpu.main(words) == 1  # there is no such part

    found = json.loads(results.read_text("utf-8"))
    assert "planted version" in found
    assert "jax version" not in found
    assert [line["name"] for line in found["lines"] if not line["passed"]] == ["planted none"]

    assert gpu.main(["--libraries", "jax", "--only", "workers"]) == 1


def test_memory_that_grows_to_the_end_is_told_from_a_start() -> None:
    watch = gpu_rig.MemoryWatch()
    watch.samples_mib = [100, 500, 800, 800, 820, 790, 810, 800, 800]
    assert watch.growth_mib == -10

    watch.samples_mib = [100, 200, 300, 400, 500, 600, 700, 800, 1200]
    assert watch.growth_mib == 600

    watch.samples_mib = [100, 900]
    assert watch.growth_mib == 0


def test_lines_are_stored_as_they_come_and_a_repeated_one_replaces_its_forerunner(
    tmp_path: Path,
) -> None:
    file = tmp_path / "results.json"
    first = gpu_rig.Sheet(file)
    first.figures["kernel"] = 6
    first.add("one", passed=False)
    first.add("two", passed=True)
    second = gpu_rig.Sheet(file)
    second.add("one", passed=True)

    found = json.loads(file.read_text("utf-8"))
    assert found["kernel"] == 6
    assert [(line["name"], line["passed"]) for line in found["lines"]] == [
        ("two", True),
        ("one", True),
    ]


def test_steps_go_on_in_the_next_command_where_the_time_of_one_ends(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short, broken, long = (
        gpu_plan.Step("planted", part, seconds=seconds)
        for part, seconds in (("workers", 10), ("modes", 10), ("throughput", 50))
    )
    steps, ran = [short, broken, long], []

    def run(step: gpu_plan.Step) -> None:
        ran.append(step)
        if step is broken:
            msg = "no such mode"
            raise ValueError(msg)

    first = gpu_rig.Sheet(tmp_path / "results.json")
    assert gpu_plan.run_steps(first, steps, run, minutes=0.5) == [long]
    assert ran == [short, broken]
    assert [(line.name, line.passed) for line in first.lines] == [("planted modes", False)]

    second = gpu_rig.Sheet(tmp_path / "results.json")
    assert gpu_plan.run_steps(second, steps, run, minutes=1.0) == []
    assert ran == [short, broken, long]
    assert "1 steps, about 1 minutes" in capsys.readouterr().out

    again = gpu_rig.Sheet(tmp_path / "results.json")
    assert gpu_plan.run_steps(again, steps, run, minutes=None) == []
    assert ran == [*steps, *steps]


@pytest.mark.parametrize(("devices", "campaigns"), [(1, ["aa", "cpu"]), (2, ["aa", "cpu", "two"])])
def test_a_command_that_leaves_steps_says_so(
    machine: Path, capsys: pytest.CaptureFixture[str], devices: int, campaigns: list[str]
) -> None:
    text = NVIDIA_SMI.replace("  *) echo", "  *)" + " echo another;" * (devices - 1) + " echo")
    (machine / "nvidia-smi").write_text(text, encoding="utf-8")
    words = ["--libraries", "planted", "--only", "campaigns", "--minutes", "0.1"]

    assert gpu.main([*words, "--json", str(machine / "results.json")]) == gpu.UNFINISHED
    left = ", ".join(f"planted campaigns {name}" for name in campaigns)
    assert f"{len(campaigns)} steps more: {left}\n" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        gpu.main(words)


def test_the_plan_of_torch_and_jax_takes_half_an_hour_and_no_step_ten_minutes() -> None:
    steps = [
        step
        for library in ("torch", "jax")
        for step in gpu_plan.steps_of(library, gpu.WHAT, ("aa", "cpu"), None)
    ]

    assert sum(step.needed_s for step in steps) <= 30 * 60
    assert max(step.needed_s for step in steps) <= 10 * 60


def test_a_device_that_is_not_there_is_a_clear_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu.main([]) == gpu.NO_DEVICE
    assert "No NVIDIA GPU" in capsys.readouterr().err

    failing = tmp_path / "nvidia-smi"  # as with a driver that does not match its module
    failing.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n", encoding="utf-8")
    failing.chmod(0o700)
    assert gpu.main([]) == gpu.NO_DEVICE
