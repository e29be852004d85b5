from __future__ import annotations

import re

import pytest

from ciguard.planning.gpu_changes import GPU_WORDS, gpu_reasons
from ciguard.planning.pins import PackagePin, requirement_pin
from ciguard.planning.upgrades import Revision
from ciguard.planning.uses import Usage


def _reasons(
    paths: tuple[str, ...] = (),
    naming: tuple[str, ...] = (),
    revisions: tuple[Revision, ...] = (),
    usage: Usage | None = None,
) -> list[str]:
    return list(gpu_reasons(paths, naming, revisions, usage or Usage()))


def _revision(base: str, head: str) -> Revision:
    return Revision(path="requirements.txt", base=_pins(base), head=_pins(head))


def _pins(text: str) -> tuple[PackagePin, ...]:
    pins = [requirement_pin(line, 1) for line in text.split()]
    assert all(pins)
    return tuple(pin for pin in pins if pin)


@pytest.mark.parametrize(
    "path",
    [
        "csrc/add.cu",
        "csrc/add.cuh",
        "csrc/ops.cu.cc",
        "csrc/ops.cpp",
        "csrc/ops.hip",
        "csrc/a\nb.h",
        "ops/fast.pyx",
        "CMakeLists.txt",
        "cmake/Kernels.cmake",
        "BUILD.bazel",
        "tools/Makefile",
        "wheels/ops-1.0-cp311-cp311-linux_x86_64.whl",
        "model/gpu/sampler.py",
        "docker/cuda.Dockerfile",
        "ops/rocm/launch.py",
    ],
)
def test_a_path_of_native_code_or_with_a_gpu_name_matters(path: str) -> None:
    (reason,) = _reasons((path,))

    assert reason.endswith("may be device code, or part of its build")
    assert reason.isprintable()


@pytest.mark.parametrize(
    "path",
    [
        "train.py",
        "app/relationship.py",
        "ship/cuddle.py",
        "data/a.csv",
        "web/index.html",
        "x.ipynb",
    ],
)
def test_other_paths_do_not_matter(path: str) -> None:
    assert _reasons((path,)) == []


@pytest.mark.parametrize(
    ("base", "head", "named"),
    [
        ("torch==2.12.0", "torch==2.13.0", "torch"),
        ("torch==2.12.0", "numpy", "torch"),
        ("numpy", "numpy keras", "keras"),
        ("nvidia-cublas-cu12==12.8.3", "nvidia-cublas-cu12==12.8.4", "nvidia-cublas-cu12"),
        ("cuda-python==12.9", "cuda-python==13.0", "cuda-python"),
        ("triton==3.6.0", "triton", "triton"),
        ("jax-cuda12-plugin==0.7.0", "jax-cuda13-plugin==0.7.0", "jax-cuda12-plugin"),
        ("jaxlib==0.10.1", "jaxlib==0.10.2", "jaxlib"),
        ("cupy-cuda12x", "cupy-cuda12x>=13", "cupy-cuda12x"),
    ],
)
def test_a_changed_requirement_of_a_library_or_gpu_package_matters(
    base: str, head: str, named: str
) -> None:
    reasons = _reasons(revisions=(_revision(base, head),))

    assert reasons[0] == f"the requirement of {named} differs in requirements.txt"


@pytest.mark.parametrize(
    ("base", "head"),
    [
        ("requests==2.31.0", "requests==2.32.0"),
        ("torch==2.13.0 numpy==1", "torch==2.13.0 numpy==2"),
        ("", "cuddle==1.0"),
    ],
)
def test_a_changed_requirement_of_another_package_does_not_matter(base: str, head: str) -> None:
    assert _reasons(revisions=(_revision(base, head),)) == []


def test_reached_kernels_and_annotated_functions_matter() -> None:
    usage = Usage(kernel_files=("ops/add.py",), annotated_files=("app/model.py",))

    assert _reasons(usage=usage) == [
        "the change reaches ops/add.py, which may contain kernels",
        "the change reaches annotated functions in app/model.py",
    ]


def test_a_changed_line_that_names_a_gpu_matters_except_in_documentation() -> None:
    naming = ("train.py", "docs/install.md")

    assert _reasons(("train.py", "a.py"), naming) == ["changed lines of train.py name a GPU"]


@pytest.mark.parametrize(
    "line",
    [
        "x = x.to('cuda:1')",
        "--extra-index-url https://download.pytorch.org/whl/cu128",
        "torch @ https://a.b/torch-2.13.0%2Bcu128-cp311-cp311-linux_x86_64.whl",
        'jax = { version = "*", extras = ["cuda13"] }',
        "FROM nvidia/cuda:12.8.0-base",
        "find_package(CUDAToolkit)",
        "hipcc -O3 add.cpp",
        "    runs-on: gpu-t4",
        "n_gpus = 2",
        "import triton.language as tl",
    ],
)
def test_lines_that_name_a_gpu_match(line: str) -> None:
    assert re.search(GPU_WORDS, line, re.IGNORECASE)


@pytest.mark.parametrize(
    "line",
    [
        "relationship = membership",
        "device = 'cpu'",
        'keypoints = ["left_hip", "hip"]',
        "torch==2.13.0",
        "barracuda()",
        '"integrity": "sha512-xGpuHipCudaNvcc0Cu128=="',
    ],
)
def test_lines_that_name_no_gpu_do_not_match(line: str) -> None:
    assert not re.search(GPU_WORDS, line, re.IGNORECASE)
