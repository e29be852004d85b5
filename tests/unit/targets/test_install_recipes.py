"""What is installed for a target, what its key depends on, and the routes it is installed on."""

from __future__ import annotations

import platform
import zipfile
from typing import TYPE_CHECKING

import pytest

from ciguard.errors import ProvisioningError
from ciguard.targets import parse_target
from ciguard.targets.recipe import recipe_of
from ciguard.targets.routes import Route, routes

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

CPU_WHEEL = "torch-2.13.0+cpu-py3-none-any.whl"


def write_wheel(path: Path, content: str) -> None:
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr("torch/__init__.py", content)


def routes_of(text: str, links: Sequence[Path] = ()) -> list[Route]:
    return list(routes(recipe_of(parse_target(text)), [str(link) for link in links]))


def test_the_key_is_readable_and_names_the_interpreter() -> None:
    key = recipe_of(parse_target("torch==2.13.0")).key

    assert key.startswith(f"torch-2.13.0-cpu-py{platform.python_version()}-")


def test_the_key_depends_on_what_is_installed_and_on_nothing_else() -> None:
    texts = ["torch==2.13.0", "torch==2.13.1", "torch==2.13.0@cuda", "torch==2.13.0 python3.10"]
    same = ["torch==2.13.0 A=1", "torch == 2.13.0"]

    keys = [recipe_of(parse_target(text)).key for text in texts]

    assert len(set(keys)) == len(texts)
    assert {recipe_of(parse_target(text)).key for text in same} == {keys[0]}
    assert (
        recipe_of(parse_target("torch@cuda:0")).key == recipe_of(parse_target("torch@cuda:1")).key
    )


def test_the_key_follows_the_content_of_a_wheel(tmp_path: Path) -> None:
    path = tmp_path / "torch-2.14.0-py3-none-any.whl"
    write_wheel(path, "__version__ = '1'")
    before = recipe_of(parse_target(str(path))).key
    write_wheel(path, "__version__ = '2'")

    after = recipe_of(parse_target(str(path))).key

    assert before != after


def test_a_rebuilt_wheel_with_the_same_content_keeps_its_key(tmp_path: Path) -> None:
    keys = set()
    for folder in ("a", "b"):
        (tmp_path / folder).mkdir()
        path = tmp_path / folder / "torch-2.14.0-py3-none-any.whl"
        write_wheel(path, "__version__ = '1'")
        keys.add(recipe_of(parse_target(str(path))).key)

    assert len(keys) == 1


def test_a_missing_wheel_is_an_error_that_names_target_and_file(tmp_path: Path) -> None:
    text = str(tmp_path / "torch-2.14.0-py3-none-any.whl")

    with pytest.raises(ProvisioningError, match=r"target .*torch-2\.14\.0.* cannot be read"):
        recipe_of(parse_target(text))


def test_companions_fit_the_version() -> None:
    assert recipe_of(parse_target("torch==2.13.0")).companions == ("numpy",)
    assert recipe_of(parse_target("torch==2.2.0")).companions == ("numpy", "numpy<2")


def test_what_has_no_builds_per_device_comes_from_the_index() -> None:
    (route,) = routes_of("tensorflow-cpu==2.12.0")

    assert route.requirements == ("tensorflow-cpu==2.12.0",)
    assert route.arguments == ()


def test_a_cpu_target_takes_the_cpu_wheel_beside_the_index_first(tmp_path: Path) -> None:
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
def test_a_wheel_of_another_version_interpreter_or_package_is_passed_over(
    tmp_path: Path, wheel: str
) -> None:
    (tmp_path / wheel).touch()

    first, *_ = routes_of("torch==2.13.0", [tmp_path])

    assert first.arguments == ("--torch-backend", "cpu")


def test_a_cuda_target_never_takes_a_cpu_wheel(tmp_path: Path) -> None:
    (tmp_path / CPU_WHEEL).touch()

    first, last = routes_of("torch==2.13.0@cuda", [tmp_path])

    assert first.arguments == ("--torch-backend", "auto")
    assert "torch!=2.13.0+cpu" in first.requirements
    assert "torch!=2.13.0+cpu" in last.requirements


def test_the_backend_of_keras_gets_its_cpu_build_too(tmp_path: Path) -> None:
    (tmp_path / CPU_WHEEL).touch()

    first, *_ = routes_of("keras==3.15.1 + torch", [tmp_path])

    assert set(first.requirements) == {"keras==3.15.1", "torch==2.13.0+cpu", "numpy"}
