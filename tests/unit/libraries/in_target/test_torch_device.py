"""The device of torch: found by its driver's files and torch's build, without starting CUDA."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from ciguard.libraries.in_target import devices
from ciguard.libraries.torch.in_target.adapter import TorchAdapter

if TYPE_CHECKING:
    from pathlib import Path


def adapter(*, is_built: bool) -> Any:
    """Return an adapter of a torch whose `torch.cuda`, which starts CUDA, cannot be touched."""
    torch = SimpleNamespace(
        __version__="2.13.0",
        backends=SimpleNamespace(cuda=SimpleNamespace(is_built=lambda: is_built)),
    )
    made: Any = TorchAdapter()
    made._torch = torch
    return made


@pytest.fixture
def driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "nvidiactl"
    monkeypatch.setattr(devices, "_DRIVER_FILES", (str(file),))
    return file


@pytest.mark.parametrize("visible", ["0", "GPU-8932f937", "MIG-41b36c1e"])
def test_a_device_is_found_without_starting_cuda(
    driver: Path, monkeypatch: pytest.MonkeyPatch, visible: str
) -> None:
    driver.touch()
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    adapter(is_built=True)._check_device("cuda:0")


def test_a_build_for_cpus_and_a_missing_driver_are_errors_with_the_device(driver: Path) -> None:
    with pytest.raises(RuntimeError, match=r"'cuda:0' is absent: no NVIDIA driver for torch"):
        adapter(is_built=True)._check_device("cuda:0")

    driver.touch()
    with pytest.raises(RuntimeError, match=r"'cuda:0' is absent: torch 2\.13\.0 has no CUDA"):
        adapter(is_built=False)._check_device("cuda:0")
