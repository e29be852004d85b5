"""CUDA targets, installed by the real uv for a driver whose version comes from a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from tiny_wheels import write_wheel

from ciguard.errors import ProvisioningError
from ciguard.libraries import LIBRARIES, CudaExtra, Library
from ciguard.targets import Environment, drivers, list_environments, parse_target, provision

EXTRAS = "\n".join(
    f"Provides-Extra: {extra}\nRequires-Dist: {package}; extra == '{extra}'"
    for extra, package in (("cuda12", "tiny_cuda12"), ("cuda13", "tiny_cuda13"))
)


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a machine without a driver; the index has `tiny` with CUDA extras."""
    wheels = tmp_path / "wheels"
    write_wheel(wheels, "tiny", version="1.0", code="__version__ = '1.0'", needs=EXTRAS)
    write_wheel(wheels, "tiny", version="2.0+cpu")
    write_wheel(wheels, "tiny_cuda12", version="1.0")
    write_wheel(wheels, "tiny_cuda13", version="1.0", needs="Requires-Dist: nvidia_tiny_cu13")
    write_wheel(wheels, "nvidia_tiny_cu13", version="1.0")
    write_wheel(wheels, "numpy", version="2.0")
    tiny = Library(
        name="tiny",
        distributions=("tiny",),
        module="tiny",
        adapter=Path("tiny.py"),
        cuda_extras=(
            CudaExtra(name="cuda13", cuda=13, versions=">=1"),
            CudaExtra(name="cuda12", cuda=12, versions=">=1"),
        ),
    )
    LIBRARIES.items()
    monkeypatch.setitem(LIBRARIES._items, "tiny", tiny)
    monkeypatch.setenv("CIGUARD_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("UV_CACHE_DIR", str(tmp_path / "uv"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("UV_FIND_LINKS", str(wheels))
    monkeypatch.setattr(drivers, "VERSION_FILE", tmp_path / "version")
    monkeypatch.setattr(drivers, "WSL_PROGRAMS", tmp_path / "wsl")
    return tmp_path


def install_driver(machine: Path, version: str) -> None:
    text = f"NVRM version: NVIDIA UNIX x86_64 Kernel Module  {version}  Sat Aug 19 01:15:15 UTC\n"
    (machine / "version").write_text(text, "utf-8")


def provisioned(text: str, *, steps: list[str] | None = None) -> Environment:
    return provision(parse_target(text), on_step=(steps if steps is not None else []).append)


def test_a_cuda_target_is_installed_with_the_extra_for_its_driver(machine: Path) -> None:
    install_driver(machine, "550.54.14")
    older = provisioned("tiny==1.0 + numpy@cuda")
    install_driver(machine, "580.159.03")
    newer = provisioned("tiny==1.0 + numpy@cuda")

    assert {name for name in older.packages if "cuda" in name} == {"tiny-cuda12"}
    assert {name for name in newer.packages if "cuda" in name} == {"tiny-cuda13"}
    assert older.root != newer.root
    assert newer.variables["CUDA_VISIBLE_DEVICES"] == "0"


def test_a_wheel_of_a_cuda_target_is_installed_with_its_extra(machine: Path) -> None:
    build = write_wheel(machine / "my builds", "tiny", version="1.1", needs=EXTRAS)
    install_driver(machine, "550.54.14")

    environment = provisioned(f"'{build}' + numpy@cuda:1")

    assert environment.packages["tiny"] == "1.1"
    assert "tiny-cuda12" in environment.packages
    assert environment.variables["CUDA_VISIBLE_DEVICES"] == "1"


@pytest.mark.parametrize("text", ["tiny==1.0 + numpy@cuda", "current@cuda"])
def test_a_missing_driver_is_an_error_before_any_installation(text: str) -> None:
    steps: list[str] = []

    with pytest.raises(ProvisioningError, match="no NVIDIA driver on this machine"):
        provisioned(text, steps=steps)

    assert (steps, list_environments()) == ([], [])


def test_a_device_beyond_the_visible_gpus_is_an_error_before_any_installation(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install_driver(machine, "550.54.14")
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "GPU-8932f937")
    steps: list[str] = []

    with pytest.raises(
        ProvisioningError, match="cuda:1 is not among the 1 GPUs of CUDA_VISIBLE_DEVICES="
    ):
        provisioned("tiny==1.0 + numpy@cuda:1", steps=steps)

    assert steps == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("tiny==2.0+cpu + numpy@cuda", "built for CPUs only"),
        ("tiny>=2 + numpy@cuda", r"the index has only tiny 2\.0\+cpu"),
        ("tiny[cuda13]==1.0 + numpy@cuda", r"needs CUDA 13 \(nvidia-tiny-cu13\)"),
    ],
)
def test_a_build_that_cannot_use_the_gpu_gives_no_environment(
    machine: Path, text: str, message: str
) -> None:
    install_driver(machine, "550.54.14")

    with pytest.raises(ProvisioningError, match=message):
        provisioned(text)

    assert list_environments() == []


def test_folders_of_libraries_are_readable_but_no_home_folder(
    machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (machine / "libraries").mkdir()
    installed = provisioned("tiny==1.0 + numpy")
    monkeypatch.setenv("VIRTUAL_ENV", str(installed.python.parent.parent))
    monkeypatch.setenv(
        "LD_LIBRARY_PATH", f"{machine}/libraries:relative::/:{Path.home().parent}:{machine}/absent"
    )

    readable = provisioned("current").readable

    assert machine / "libraries" in readable
    assert not {Path("/"), Path.home().parent, Path.home()} & set(readable)
