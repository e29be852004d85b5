"""Parsing and checking of devices."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from ciguard.libraries.in_target import devices

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("device", "parsed"),
    [("cpu", ("cpu", "0")), ("cuda", ("cuda", "0")), ("cuda:3", ("cuda", "3"))],
)
def test_a_device_has_a_kind_and_an_index(device: str, parsed: tuple[str, str]) -> None:
    assert devices.parse(device) == parsed


def test_a_cpu_always_exists() -> None:
    devices.require("cpu", "torch")


def test_an_unknown_kind_of_device_is_rejected_by_name() -> None:
    with pytest.raises(RuntimeError, match=r"'abacus:1' is absent.*torch"):
        devices.require("abacus:1", "torch")


@pytest.mark.parametrize(("value", "is_allowed"), [(None, True), ("0", False), ("1", True)])
def test_tf32_is_allowed_unless_the_environment_forbids_it(
    monkeypatch: pytest.MonkeyPatch, value: str | None, *, is_allowed: bool
) -> None:
    monkeypatch.delenv("NVIDIA_TF32_OVERRIDE", raising=False)
    if value is not None:
        monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", value)

    assert devices.allows_tf32() is is_allowed


DRIVER = """
#include <cstddef>
#include <cstdlib>
extern "C" {
int cuInit(unsigned flags) { return atoi(getenv("ERROR")); }
int cuDeviceGet(int *device, int number) { *device = number; return 0; }
int cuDeviceTotalMem_v2(size_t *size, int device) { *size = (size_t)80 << 30; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device) {
    *value = attribute == 20 ? atoi(getenv("MODE")) : -1;
    return 0;
}
}
"""


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of a driver whose first call ends with $ERROR, in compute mode $MODE."""
    folder = tmp_path_factory.mktemp("driver")
    (folder / "driver.cc").write_text(DRIVER, encoding="utf-8")
    argv = ["g++", "-shared", "-fPIC", "-o", "libcuda.so.1", "driver.cc"]
    subprocess.run(argv, check=True, cwd=folder)
    return folder


def memory_or_error(driver: Path, *, mode: int = 0, error: int = 0, mps: Path) -> str:
    program = "from ciguard.libraries.in_target import devices; print(devices.total_memory())"
    variables = {"LD_LIBRARY_PATH": str(driver), "MODE": str(mode), "ERROR": str(error)}
    environment = {**os.environ, **variables, "CUDA_MPS_PIPE_DIRECTORY": str(mps)}
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stdout.strip() or done.stderr.strip().splitlines()[-1]


def test_memory_is_that_of_the_device(driver: Path, tmp_path: Path) -> None:
    assert memory_or_error(driver, mps=tmp_path) == str(80 << 30)


@pytest.mark.parametrize(("mode", "name"), [(2, "prohibited"), (3, "exclusive-process")])
def test_device_for_one_process_is_a_clear_error(
    driver: Path, tmp_path: Path, mode: int, name: str
) -> None:
    message = memory_or_error(driver, mode=mode, mps=tmp_path)

    assert message.startswith(f"RuntimeError: the GPU is in {name} mode")
    assert "nvidia-smi -c DEFAULT" in message


def test_exclusive_mode_under_the_multi_process_service_is_usable(
    driver: Path, tmp_path: Path
) -> None:
    (tmp_path / "control").touch()

    assert memory_or_error(driver, mode=3, mps=tmp_path) == str(80 << 30)


@pytest.mark.parametrize(("error", "remedy"), [(304, "confinement"), (100, "no device"), (1, "1")])
def test_driver_that_refuses_to_start_gives_its_number_and_a_remedy(
    driver: Path, tmp_path: Path, error: int, remedy: str
) -> None:
    message = memory_or_error(driver, error=error, mps=tmp_path)

    assert f"error {error}" in message
    assert remedy in message
