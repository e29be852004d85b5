"""Environment of workers: no inherited variables, and no folders with secrets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.errors import ProvisioningError
from ciguard.targets import environment, libraries_of, parse_target, worker_device
from ciguard.targets.environment import device_folders, readable_paths, worker_variables

if TYPE_CHECKING:
    from pathlib import Path


def variables_of(text: str, *, cache: Path | None = None) -> dict[str, str]:
    target = parse_target(text)
    return worker_variables(target, libraries_of(target), cache=cache)


def test_a_worker_inherits_no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITHUB_TOKEN", "ghs_secret")

    variables = variables_of("torch==2.13.0")

    assert "ghs_secret" not in variables.values()
    assert variables["PATH"] == "/usr/bin:/bin"
    assert "HOME" not in variables


def test_only_a_cuda_target_sees_a_gpu() -> None:
    assert variables_of("torch")["CUDA_VISIBLE_DEVICES"] == ""
    assert variables_of("torch@cuda:1")["CUDA_VISIBLE_DEVICES"] == "1"
    assert variables_of("torch@cuda:1")["CUDA_DEVICE_ORDER"] == "PCI_BUS_ID"
    assert variables_of("jax")["JAX_PLATFORMS"] == "cpu"
    assert "JAX_PLATFORMS" not in variables_of("jax@cuda")


@pytest.mark.parametrize(
    ("visible", "device", "selected"),
    [
        ("3,5", "cuda:0", "3"),
        ("3, 5", "cuda:1", "5"),
        ("GPU-8932f937,MIG-41b36c1e", "cuda:1", "MIG-41b36c1e"),
    ],
)
def test_a_device_number_is_an_index_into_the_visible_gpus(
    visible: str, device: str, selected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    assert variables_of(f"torch@{device}")["CUDA_VISIBLE_DEVICES"] == selected
    assert worker_device(parse_target(f"torch@{device}")) == "cuda:0"


@pytest.mark.parametrize("visible", ["3", "", "-1", "0,-1,1", "NoDevFiles"])
def test_a_device_beyond_the_visible_gpus_is_an_error_with_device_and_variable(
    visible: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)

    with pytest.raises(ProvisioningError, match=rf"cuda:1 .*CUDA_VISIBLE_DEVICES='{visible}'"):
        variables_of("torch@cuda:1")


def test_a_cpu_target_sees_no_gpu_of_the_job(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,5")

    assert variables_of("torch")["CUDA_VISIBLE_DEVICES"] == ""
    assert worker_device(parse_target("torch")) == "cpu"


def test_a_cuda_target_computes_in_full_precision_and_shares_the_memory_of_its_gpu() -> None:
    variables = variables_of("keras + jax@cuda")

    assert variables["NVIDIA_TF32_OVERRIDE"] == "0"
    assert variables["XLA_PYTHON_CLIENT_PREALLOCATE"] == "false"
    assert variables_of("tensorflow@cuda")["TF_FORCE_GPU_ALLOW_GROWTH"] == "true"
    assert "NVIDIA_TF32_OVERRIDE" not in variables_of("keras + jax")


@pytest.mark.parametrize(
    ("target", "name", "value"),
    [
        ("torch@cuda tf32", "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "1"),
        ("jax@cuda tf32", "JAX_DEFAULT_MATMUL_PRECISION", "tensorfloat32"),
        ("keras + jax@cuda tf32", "JAX_DEFAULT_MATMUL_PRECISION", "tensorfloat32"),
        ("tensorflow@cuda tf32", "TF_FORCE_GPU_ALLOW_GROWTH", "true"),
    ],
)
def test_a_target_in_mode_tf32_computes_with_tf32(target: str, name: str, value: str) -> None:
    variables = variables_of(target)

    assert variables[name] == value
    assert "NVIDIA_TF32_OVERRIDE" not in variables


def test_the_folders_of_cuda_are_readable_with_the_targets_of_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "opt" / "cuda").mkdir(parents=True)
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "opt" / "cuda")
    monkeypatch.setattr(environment, "_CUDA_FOLDERS", (link, tmp_path / "absent"))

    assert device_folders(parse_target("torch@cuda")) == (link, tmp_path / "opt" / "cuda")
    assert device_folders(parse_target("torch")) == ()


def test_keras_uses_the_backend_of_the_target() -> None:
    variables = variables_of("keras==3.15.1 + jax")

    assert variables["KERAS_BACKEND"] == "jax"
    assert variables["JAX_PLATFORMS"] == "cpu"


def test_the_environment_of_a_backend_applies_only_to_its_users() -> None:
    flags = "--xla_backend_optimization_level=1"

    assert variables_of("keras + jax")["XLA_FLAGS"] == flags
    assert "XLA_FLAGS" not in variables_of("jax")
    assert "XLA_FLAGS" not in variables_of("keras + torch")
    assert variables_of("keras + jax XLA_FLAGS=--other")["XLA_FLAGS"] == "--other"


def test_the_variables_of_a_target_override_others() -> None:
    assert variables_of("torch OMP_NUM_THREADS=4")["OMP_NUM_THREADS"] == "4"


def test_a_library_that_compiles_gets_the_cache_folder(tmp_path: Path) -> None:
    assert variables_of("jittor", cache=tmp_path)["JITTOR_HOME"] == str(tmp_path)


def test_hidden_children_of_a_checkout_are_not_readable(tmp_path: Path) -> None:
    for name in (".git", ".env.d", "package", "tests"):
        (tmp_path / "checkout" / name).mkdir(parents=True)

    readable = readable_paths([tmp_path / "checkout"], home=tmp_path / "home")

    assert readable == (tmp_path / "checkout/package", tmp_path / "checkout/tests")


def test_hidden_children_of_the_home_folder_are_not_readable(tmp_path: Path) -> None:
    for name in (".ssh", "work"):
        (tmp_path / name).mkdir()

    assert readable_paths([tmp_path], home=tmp_path) == (tmp_path / "work",)


def test_readable_folders_are_unique_with_links_resolved(tmp_path: Path) -> None:
    (tmp_path / "real" / "inner").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "real")

    readable = readable_paths(
        [tmp_path / "link", tmp_path / "real/inner", tmp_path / "absent"], home=tmp_path / "home"
    )

    assert readable == (tmp_path / "link", tmp_path / "real")


def test_links_out_of_a_checkout_or_to_hidden_children_are_not_readable(
    tmp_path: Path,
) -> None:
    checkout, elsewhere = tmp_path / "checkout", tmp_path / "temporary"
    for folder in (checkout / ".git", checkout / "source", elsewhere):
        folder.mkdir(parents=True)
    (checkout / "outside").symlink_to(elsewhere)
    (checkout / "hidden").symlink_to(".git")
    (checkout / "whole").symlink_to(".")
    (checkout / "inside").symlink_to("source")

    readable = readable_paths([checkout], home=tmp_path / "home")

    assert readable == (checkout / "inside", checkout / "source")
