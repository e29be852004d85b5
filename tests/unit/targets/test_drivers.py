"""Detection of the NVIDIA driver without initialising a GPU."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.errors import ProvisioningError
from ciguard.targets import drivers, parse_target
from ciguard.targets.drivers import (
    cuda_of_driver,
    driver_version,
    make_device_files,
    oldest_driver,
    required_cuda,
)

if TYPE_CHECKING:
    from pathlib import Path

OPEN = (
    "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.03  Release Build  "
    "(dvs-builder@U22-I3-B17-03-5)  Tue Jun  2 07:42:29 UTC 2026\n"
    "GCC version:  gcc version 12.3.0 (Ubuntu 12.3.0-1ubuntu1~22.04)\n"
)
CLOSED = (
    "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.104.05  Sat Aug 19 01:15:15 UTC 2023\n"
    "GCC version:  gcc version 11.4.0 (Ubuntu 11.4.0-1ubuntu1~22.04)\n"
)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a machine without a driver; tests add files of a driver to it."""
    monkeypatch.setattr(drivers, "VERSION_FILE", tmp_path / "version")
    monkeypatch.setattr(drivers, "WSL_PROGRAMS", tmp_path / "wsl")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    return tmp_path


def write_program(folder: Path, script: str) -> None:
    folder.mkdir()
    path = folder / "nvidia-smi"
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)


@pytest.mark.parametrize(
    ("text", "version"),
    [(OPEN, "580.159.03"), (CLOSED, "535.104.05"), ("", None), ("GCC version: 12.3.0\n", None)],
    ids=["open module", "closed module", "empty", "another text"],
)
def test_the_driver_version_comes_from_the_kernel_module(
    machine: Path, text: str, version: str | None
) -> None:
    (machine / "version").write_text(text, "utf-8")

    assert driver_version() == version


@pytest.mark.parametrize("folder", ["bin", "wsl"])
def test_the_driver_version_comes_from_nvidia_smi_without_a_kernel_module(
    machine: Path, folder: str
) -> None:
    arguments = machine / "arguments"
    write_program(machine / folder, f'echo "$@" > {arguments}; echo 560.35.03; echo 560.35.03')

    assert driver_version() == "560.35.03"
    assert arguments.read_text("utf-8") == "--query-gpu=driver_version --format=csv,noheader\n"


@pytest.mark.parametrize(
    "script",
    [
        "echo NVIDIA-SMI has failed because it could not communicate; exit 9",
        "echo No devices were found",
        "echo 560.35.03; exit 6",
        "true",
    ],
)
def test_a_failing_nvidia_smi_means_no_driver(machine: Path, script: str) -> None:
    write_program(machine / "bin", script)

    assert driver_version() is None


def test_an_nvidia_smi_that_times_out_means_no_driver(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drivers, "_QUERY_LIMIT_S", 0.1)
    write_program(machine / "bin", "exec /bin/sleep 60")

    assert driver_version() is None


@pytest.mark.parametrize(
    ("version", "cuda"),
    [
        ("610.12", (13, 0)),
        ("580.65.06", (13, 0)),
        ("575.51.03", (12, 8)),
        ("570.26", (12, 8)),
        ("565.57.01", (12, 0)),
        ("525.60.13", (12, 0)),
        ("520.61.05", (11, 0)),
        ("450.80.02", (11, 0)),
        ("440.33", None),
    ],
)
def test_a_driver_supports_the_newest_cuda_of_its_branch(
    version: str, cuda: drivers.Cuda | None
) -> None:
    assert cuda_of_driver(version) == cuda


@pytest.mark.parametrize(("major", "branch"), [(11, 450), (12, 525), (13, 580)])
def test_the_oldest_driver_of_a_cuda_version_is_known(major: int, branch: int) -> None:
    assert oldest_driver(major) == branch


def test_the_required_cuda_of_a_target_is_the_newest_that_the_driver_supports(
    machine: Path,
) -> None:
    (machine / "version").write_text(OPEN, "utf-8")

    assert required_cuda(parse_target("torch@cuda")) == (13, 0)


def test_a_missing_driver_is_an_error_with_target_searched_files_and_remedy(
    machine: Path,
) -> None:
    with pytest.raises(ProvisioningError) as caught:
        required_cuda(parse_target("torch==2.13.0@cuda"))

    for part in ("'torch==2.13.0@cuda'", str(machine / "version"), "nvidia-smi", "write @cpu"):
        assert part in str(caught.value)


def test_an_old_driver_is_an_error_with_a_sufficient_version(machine: Path) -> None:
    (machine / "version").write_text(CLOSED.replace("535.104.05", "390.157"), "utf-8")

    with pytest.raises(ProvisioningError, match=r"390\.157 is too old\. Install driver 450"):
        required_cuda(parse_target("torch==2.13.0@cuda"))


@pytest.mark.parametrize(
    ("present", "is_created"),
    [(("control",), True), (("control", "unified"), False), ((), False)],
    ids=["not yet", "there", "no driver"],
)
def test_missing_device_files_are_created_if_the_driver_is_loaded(
    machine: Path, monkeypatch: pytest.MonkeyPatch, present: tuple[str, ...], *, is_created: bool
) -> None:
    for name in present:
        (machine / name).touch()
    monkeypatch.setattr(drivers, "CONTROL", machine / "control")
    monkeypatch.setattr(drivers, "UNIFIED_MEMORY", machine / "unified")
    (machine / "bin").mkdir()
    program = machine / "bin" / "nvidia-modprobe"
    program.write_text(f'#!/bin/sh\necho "$@" > {machine}/arguments\n', "utf-8")
    program.chmod(0o755)

    make_device_files()

    arguments = machine / "arguments"
    assert arguments.exists() is is_created
    assert not is_created or arguments.read_text() == "-u -c=0\n"
