"""Recipes of targets: their packages, their keys, and the routes of installation."""

from __future__ import annotations

import hashlib
import json
import platform
import sys
import sysconfig
import zipfile
from typing import TYPE_CHECKING

import pytest

from ciguard.errors import ProvisioningError
from ciguard.targets import parse_target
from ciguard.targets.drivers import cuda_of_driver
from ciguard.targets.recipe import recipe_of
from ciguard.targets.routes import InstallRoute, routes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from ciguard.targets.drivers import Cuda

CPU_WHEEL = "torch-2.13.0+cpu-py3-none-any.whl"


def write_wheel(path: Path, content: str) -> None:
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("torch/__init__.py", content)


def routes_of(
    text: str, links: Sequence[Path] = (), *, cuda: Cuda | None = None
) -> list[InstallRoute]:
    recipe = recipe_of(parse_target(text), cuda=cuda)
    return list(routes(recipe, [str(link) for link in links]))


def test_the_key_is_readable_and_names_the_interpreter() -> None:
    key = recipe_of(parse_target("torch==2.13.0")).key

    assert key.startswith(f"torch-2.13.0-cpu-py{platform.python_version()}-")


def test_the_key_depends_only_on_the_installed_packages() -> None:
    texts = ["torch==2.13.0", "torch==2.13.1", "torch==2.13.0 python3.10"]
    same = ["torch==2.13.0 A=1", "torch == 2.13.0"]

    keys = [recipe_of(parse_target(text)).key for text in texts]

    assert len(set(keys)) == len(texts)
    assert {recipe_of(parse_target(text)).key for text in same} == {keys[0]}


def test_the_key_of_a_cuda_target_depends_on_the_driver_but_not_on_the_device_number() -> None:
    keys = {
        (text, cuda): recipe_of(parse_target(text), cuda=cuda).key
        for text in ("torch@cuda:0", "torch@cuda:1")
        for cuda in ((12, 0), (12, 8), (13, 0))
    }

    assert len(set(keys.values())) == 3
    assert keys["torch@cuda:0", (13, 0)] == keys["torch@cuda:1", (13, 0)]
    assert "-cuda13.0-py" in keys["torch@cuda:0", (13, 0)]


def test_the_key_of_a_cpu_target_is_stable_between_releases() -> None:
    request = {
        "schema": 1,
        "requirements": ["tensorflow==2.21.0"],
        "companions": [],
        "wheels": [],
        "device": "cpu",
        "python": "3.10",
        "implementation": sys.implementation.name,
        "platform": sysconfig.get_platform(),
    }
    digest = hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()[:12]

    key = recipe_of(parse_target("tensorflow==2.21.0 python3.10")).key

    assert key == f"tensorflow-2.21.0-cpu-py3.10-{digest}"


def test_the_key_depends_on_the_content_of_a_wheel(tmp_path: Path) -> None:
    path = tmp_path / "torch-2.14.0-py3-none-any.whl"
    write_wheel(path, "__version__ = '1'")
    before = recipe_of(parse_target(str(path))).key
    write_wheel(path, "__version__ = '2'")

    after = recipe_of(parse_target(str(path))).key

    assert before != after


def test_the_key_of_a_rebuilt_wheel_with_equal_content_is_unchanged(tmp_path: Path) -> None:
    keys = set()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "torch-2.14.0-py3-none-any.whl"
        write_wheel(path, "__version__ = '1'")
        keys.add(recipe_of(parse_target(str(path))).key)

    assert len(keys) == 1


def test_a_missing_wheel_is_an_error_with_target_and_file(tmp_path: Path) -> None:
    text = str(tmp_path / "torch-2.14.0-py3-none-any.whl")

    with pytest.raises(ProvisioningError, match=r"target .*cannot read the wheel .*torch-2\.14\.0"):
        recipe_of(parse_target(text))


def test_companions_depend_on_the_version() -> None:
    assert recipe_of(parse_target("torch==2.13.0")).companions == ("numpy",)
    assert recipe_of(parse_target("torch==2.2.0")).companions == ("numpy", "numpy<2")


def test_a_package_without_builds_per_device_comes_from_the_index() -> None:
    (route,) = routes_of("tensorflow-cpu==2.12.0")

    assert route.requirements == ("tensorflow-cpu==2.12.0",)
    assert route.arguments == ()


def test_a_cpu_target_prefers_a_local_cpu_wheel(tmp_path: Path) -> None:
    (tmp_path / CPU_WHEEL).touch()
    (tmp_path / "torch-2.13.0-py3-none-any.whl").touch()

    first, second, last = routes_of("torch==2.13.0", [tmp_path])

    assert first.requirements[0] == "torch==2.13.0+cpu"
    assert second.arguments == ("--torch-backend", "cpu")
    assert last.requirements[0] == "torch==2.13.0"
    assert last.arguments == ()


@pytest.mark.parametrize(
    "wheel",
    [
        "torch-2.12.0+cpu-py3-none-any.whl",
        "torch-2.13.0+cpu-cp27-cp27mu-linux_x86_64.whl",
        "torchvision-2.13.0-py3-none-any.whl",
        "torch.whl",
    ],
)
def test_a_wheel_of_another_version_interpreter_or_package_is_skipped(
    tmp_path: Path, wheel: str
) -> None:
    (tmp_path / wheel).touch()

    first, *_ = routes_of("torch==2.13.0", [tmp_path])

    assert first.arguments == ("--torch-backend", "cpu")


def test_a_cuda_target_excludes_cpu_wheels(tmp_path: Path) -> None:
    (tmp_path / CPU_WHEEL).touch()

    first, last = routes_of("torch==2.13.0@cuda", [tmp_path], cuda=(13, 0))

    assert "torch!=2.13.0+cpu" in first.requirements
    assert "torch!=2.13.0+cpu" in last.requirements


@pytest.mark.parametrize(
    ("driver", "backends"),
    [
        ("595.45.04", ["cu130"]),
        ("580.159.03", ["cu130"]),
        ("570.86.10", ["cu128", "cu126"]),
        ("535.104.05", ["cu126"]),
        ("470.57.02", ["cu118"]),
    ],
)
def test_a_cuda_target_gets_a_build_that_its_driver_supports(
    driver: str, backends: list[str]
) -> None:
    *backend_routes, last = routes_of("keras==3.15.1 + torch@cuda", cuda=cuda_of_driver(driver))

    assert [route.arguments for route in backend_routes] == [
        ("--torch-backend", backend) for backend in backends
    ]
    assert last.arguments == ()
    assert [route.name for route in backend_routes] == [
        f"the index of {name} builds" for name in backends
    ]


@pytest.mark.parametrize(
    ("text", "driver", "requirements"),
    [
        ("tensorflow==2.21.0@cuda", "580.159.03", ("tensorflow[and-cuda]==2.21.0",)),
        ("tf-nightly@cuda", "535.104.05", ("tf-nightly[and-cuda]",)),
        ("tensorflow==2.12.0@cuda", "580.159.03", ("tensorflow==2.12.0",)),
        ("jax==0.10.2@cuda:1", "580.159.03", ("jax[cuda13]==0.10.2",)),
        ("jax==0.10.2@cuda", "570.86.10", ("jax[cuda12]==0.10.2",)),
        ("jax==0.7.1@cuda", "580.159.03", ("jax[cuda12]==0.7.1",)),
        ("jax@cuda", "580.159.03", ("jax[cuda13]",)),
        ("jax[cuda12-local]==0.10.2@cuda", "580.159.03", ("jax[cuda12-local]==0.10.2",)),
        ("jax[k8s]==0.10.2@cuda", "580.159.03", ("jax[cuda13,k8s]==0.10.2",)),
        ("keras==3.15.1[jax]@cuda", "580.159.03", ("keras==3.15.1", "jax[cuda13]")),
        ("torch==2.13.0@cuda", "580.159.03", ("torch==2.13.0",)),
        ("jittor@cuda", "470.57.02", ("jittor",)),
    ],
)
def test_a_cuda_target_gets_the_extra_that_its_driver_supports(
    text: str, driver: str, requirements: tuple[str, ...]
) -> None:
    recipe = recipe_of(parse_target(text), cuda=cuda_of_driver(driver))

    assert recipe.requirements == requirements


def test_a_wheel_of_a_cuda_target_gets_the_extra_too(tmp_path: Path) -> None:
    path = tmp_path / "my builds" / "jax-0.11.0.dev1-py3-none-any.whl"
    path.parent.mkdir()
    write_wheel(path, "")

    (on_cpu,) = recipe_of(parse_target(f"'{path}'")).wheels
    (on_cuda,) = recipe_of(parse_target(f"'{path}'@cuda"), cuda=(12, 8)).wheels

    assert on_cpu.argument == str(path)
    assert on_cuda.argument == f"jax[cuda12] @ {path.as_uri()}"


def test_a_release_that_needs_a_newer_driver_is_rejected_with_its_version() -> None:
    target = parse_target("jax==0.10.2@cuda")

    with pytest.raises(ProvisioningError, match=r"jax==0\.10\.2 needs CUDA 12.*driver 525"):
        recipe_of(target, cuda=cuda_of_driver("470.57.02"))


def test_the_backend_of_keras_gets_its_cpu_build_too(tmp_path: Path) -> None:
    (tmp_path / CPU_WHEEL).touch()

    first, *_ = routes_of("keras==3.15.1 + torch", [tmp_path])

    assert set(first.requirements) == {"keras==3.15.1", "torch==2.13.0+cpu", "numpy"}
