"""Builds without CUDA, or with a CUDA version that the driver lacks, are rejected for GPUs."""

from __future__ import annotations

import pytest

from ciguard.errors import ProvisioningError
from ciguard.targets import IndexPackage, cpu_builds, parse_target
from ciguard.targets.cuda_builds import cuda_extra, refuse_cpu_builds, refuse_unusable_builds


@pytest.mark.parametrize(
    ("text", "package"),
    [
        ("tensorflow-cpu==2.21.0@cuda", "tensorflow-cpu==2.21.0"),
        ("keras==3.15.1 + tf_nightly.cpu@cuda", "tf-nightly-cpu"),
        ("torch==2.13.0+cpu@cuda", "torch==2.13.0+cpu"),
        ("./torch-2.13.0+cpu-cp311-cp311-linux_x86_64.whl@cuda", "torch-2.13.0+cpu"),
        ("./tensorflow_cpu-2.21.0-cp311-cp311-linux_x86_64.whl@cuda", "tensorflow_cpu"),
    ],
)
def test_a_package_built_for_cpus_only_is_rejected_by_name(text: str, package: str) -> None:
    with pytest.raises(ProvisioningError) as caught:
        refuse_cpu_builds(parse_target(text))

    assert f"{package}" in str(caught.value)
    assert "built for CPUs only" in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["tensorflow==2.21.0@cuda", "torch==2.13.0+cu130@cuda", "torch<3@cuda", "current[torch]@cuda"],
)
def test_a_package_with_cuda_is_accepted(text: str) -> None:
    target = parse_target(text)

    refuse_cpu_builds(target)

    assert cpu_builds(target) == []


@pytest.mark.parametrize(
    ("installed", "message"),
    [
        ({"torch": "2.13.0+cpu"}, r"only torch 2\.13\.0\+cpu,.*write @cpu"),
        ({"torch": "2.15.0", "nvidia-cudnn-cu13": "9.20"}, "CUDA 13 .nvidia-cudnn-cu13.*CUDA 12"),
    ],
)
def test_an_installed_build_that_cannot_use_the_gpu_is_rejected(
    installed: dict[str, str], message: str
) -> None:
    with pytest.raises(ProvisioningError, match=message):
        refuse_unusable_builds(parse_target("torch@cuda"), installed, (12, 8))


def test_an_installed_build_for_an_older_cuda_is_accepted() -> None:
    installed = {
        "torch": "2.13.0+cu126",
        "nvidia-cudnn-cu12": "9.10",
        "torchvision": "not a number",
    }

    refuse_unusable_builds(parse_target("torch@cuda"), installed, (13, 0))


@pytest.mark.parametrize(
    ("text", "extra"),
    [
        ("jax<0.7@cuda", "cuda12"),
        ("jax>=0.8@cuda", "cuda13"),
        ("jax@cuda", "cuda13"),
        ("jax>=0.7.2,<0.9@cuda", "cuda13"),
        ("tensorflow<2.14@cuda", ""),
        ("tensorflow==2.21.0@cuda", "and-cuda"),
    ],
)
def test_a_version_range_gets_the_extra_of_its_releases(text: str, extra: str) -> None:
    target = parse_target(text)
    package = target.packages[0]
    assert isinstance(package, IndexPackage)

    assert cuda_extra(package, target, (13, 0)) == extra
