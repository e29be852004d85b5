from __future__ import annotations

import pytest

from ciguard.errors import ProvisioningError
from ciguard.planning.pins import PackagePin, requirement_pin
from ciguard.planning.upgrades import FileChange, required_targets, upgrades_of


def _pin(text: str) -> PackagePin:
    pin = requirement_pin(text, 3)
    assert pin
    return pin


def _change(base: str, head: str, path: str = "requirements.txt") -> FileChange:
    names = [text.split("=")[0].split(">")[0].split("<")[0] for text in (base, head) if text]
    library = {"tensorflow-cpu": "tensorflow"}.get(names[0], names[0])
    return FileChange(
        path=path,
        library=library,
        base=_pin(base) if base else None,
        head=_pin(head) if head else None,
    )


def _no_index(requirement: str) -> str:
    pytest.fail(f"the index was asked for {requirement}")


def test_exact_versions_are_compared() -> None:
    change = _change("tensorflow-cpu==2.12.0", "tensorflow-cpu==2.21.0")

    upgrades, sentences = upgrades_of([change], {}, _no_index)

    assert [(item.base, item.target) for item in upgrades] == [
        ("tensorflow-cpu==2.12.0", "tensorflow-cpu==2.21.0")
    ]
    assert sentences == []


def test_packages_of_one_library_are_compared() -> None:
    upgrades, _ = upgrades_of(
        [_change("tensorflow==2.12.0", "tensorflow-cpu==2.21.0")], {}, _no_index
    )

    assert (upgrades[0].base, upgrades[0].target) == (
        "tensorflow==2.12.0",
        "tensorflow-cpu==2.21.0",
    )


def test_keras_is_combined_with_the_required_backend() -> None:
    change = _change("keras==3.14.0", "keras==3.15.1")

    with_jax, _ = upgrades_of([change], {"jax": _pin("jax==0.10.2")}, _no_index)
    with_any, _ = upgrades_of([change], {}, _no_index)

    assert with_jax[0].target == "keras==3.15.1 + jax==0.10.2"
    assert with_any[0].base == "keras==3.14.0 + jax"


def test_a_lock_file_overrides_a_range() -> None:
    changes = [
        _change("torch>=2.12", "torch>=2.13", "pyproject.toml"),
        _change("torch==2.12.0", "torch==2.13.0", "uv.lock"),
    ]

    upgrades, _ = upgrades_of(changes, {}, _no_index)

    assert [(item.base, item.target) for item in upgrades] == [("torch==2.12.0", "torch==2.13.0")]


def test_a_range_stands_for_its_newest_release() -> None:
    newest = {"torch<2.13": "2.12.1", "torch<2.14": "2.13.0"}

    upgrades, sentences = upgrades_of([_change("torch<2.13", "torch<2.14")], {}, newest.__getitem__)

    assert (upgrades[0].base, upgrades[0].target) == ("torch==2.12.1", "torch==2.13.0")
    assert "newest releases" in sentences[0]


def test_lower_bounds_are_compared_if_both_ranges_have_the_same_newest_release() -> None:
    upgrades, sentences = upgrades_of(
        [_change("torch>=2.12", "torch>=2.13")], {}, lambda _: "2.14.0"
    )

    assert (upgrades[0].base, upgrades[0].target) == ("torch==2.12", "torch==2.13")
    assert "lower bounds, since both requirements resolve to 2.14.0" in sentences[0]


def test_lower_bounds_are_compared_without_a_package_index() -> None:
    def unreachable(_: str) -> str:
        msg = "no route"
        raise ProvisioningError(msg)

    upgrades, sentences = upgrades_of([_change("torch>=2.12", "torch>=2.13")], {}, unreachable)

    assert (upgrades[0].base, upgrades[0].target) == ("torch==2.12", "torch==2.13")
    assert "no route" in sentences[0]


@pytest.mark.parametrize(
    ("base", "head", "message"),
    [
        ("torch==2.12.0", "", "no longer required"),
        ("", "torch==2.12.0", "newly required"),
        ("torch", "torch!=1.0", "do not yield two different versions"),
    ],
)
def test_a_change_without_two_versions_is_reported_without_a_target(
    base: str, head: str, message: str
) -> None:
    upgrades, sentences = upgrades_of([_change(base, head)], {}, lambda _: "2.13.0")

    assert upgrades == []
    assert message in sentences[0]


def test_required_libraries_become_targets_with_backends_beside_keras() -> None:
    needs = {"keras": _pin("keras==3.15.1"), "jax": _pin("jax"), "torch": _pin("torch>=2,<3")}

    assert required_targets({"torch": needs["torch"]}, ()) == ["torch<3,>=2"]
    with_keras = {"keras": needs["keras"], "jax": needs["jax"]}
    assert required_targets(with_keras, ()) == ["keras==3.15.1 + jax"]
    assert required_targets(with_keras, ("keras", "jax")) == ["keras==3.15.1 + jax", "jax"]


def test_cuda_extras_are_part_of_the_target() -> None:
    needs = {"tensorflow": _pin("tensorflow[and-cuda,docs]==2.21.0")}

    assert required_targets(needs, ()) == ["tensorflow[and-cuda]==2.21.0"]
