from __future__ import annotations

import pytest

from ciguard.errors import ProvisioningError
from ciguard.planning.pins import PackagePin, pin_of
from ciguard.planning.upgrades import FileChange, required_targets, upgrades_of


def _pin(text: str) -> PackagePin:
    pin = pin_of(text, 3)
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


def _nothing(requirement: str) -> str:
    pytest.fail(f"asked for {requirement}")


def test_exact_versions_are_held_against_each_other() -> None:
    change = _change("tensorflow-cpu==2.12.0", "tensorflow-cpu==2.21.0")

    found, sentences = upgrades_of([change], {}, _nothing)

    assert [(item.base, item.target) for item in found] == [
        ("tensorflow-cpu==2.12.0", "tensorflow-cpu==2.21.0")
    ]
    assert sentences == []


def test_a_library_that_comes_from_another_package_is_still_the_same_library() -> None:
    found, _ = upgrades_of([_change("tensorflow==2.12.0", "tensorflow-cpu==2.21.0")], {}, _nothing)

    assert (found[0].base, found[0].target) == ("tensorflow==2.12.0", "tensorflow-cpu==2.21.0")


def test_keras_comes_with_the_backend_that_the_project_asks_for() -> None:
    change = _change("keras==3.14.0", "keras==3.15.1")

    with_jax, _ = upgrades_of([change], {"jax": _pin("jax==0.10.2")}, _nothing)
    with_any, _ = upgrades_of([change], {}, _nothing)

    assert with_jax[0].target == "keras==3.15.1 + jax==0.10.2"
    assert with_any[0].base == "keras==3.14.0 + jax"


def test_a_lock_file_says_what_a_range_beside_it_comes_to() -> None:
    changes = [
        _change("torch>=2.12", "torch>=2.13", "pyproject.toml"),
        _change("torch==2.12.0", "torch==2.13.0", "uv.lock"),
    ]

    found, _ = upgrades_of(changes, {}, _nothing)

    assert [(item.base, item.target) for item in found] == [("torch==2.12.0", "torch==2.13.0")]


def test_a_range_is_taken_for_the_newest_release_in_it() -> None:
    newest = {"torch<2.13": "2.12.1", "torch<2.14": "2.13.0"}

    found, sentences = upgrades_of([_change("torch<2.13", "torch<2.14")], {}, newest.__getitem__)

    assert (found[0].base, found[0].target) == ("torch==2.12.1", "torch==2.13.0")
    assert "newest releases" in sentences[0]


def test_where_both_ranges_install_the_same_their_lower_bounds_are_compared() -> None:
    found, sentences = upgrades_of([_change("torch>=2.12", "torch>=2.13")], {}, lambda _: "2.14.0")

    assert (found[0].base, found[0].target) == ("torch==2.12", "torch==2.13")
    assert "lower bounds, since both are 2.14.0" in sentences[0]


def test_without_an_index_lower_bounds_are_compared() -> None:
    def unreachable(_: str) -> str:
        msg = "no route"
        raise ProvisioningError(msg)

    found, sentences = upgrades_of([_change("torch>=2.12", "torch>=2.13")], {}, unreachable)

    assert (found[0].base, found[0].target) == ("torch==2.12", "torch==2.13")
    assert "no route" in sentences[0]


@pytest.mark.parametrize(
    ("base", "head", "said"),
    [
        ("torch==2.12.0", "", "no longer required"),
        ("", "torch==2.12.0", "newly required"),
        ("torch", "torch!=1.0", "come to no two versions"),
    ],
)
def test_a_change_without_two_versions_is_said_and_makes_no_target(
    base: str, head: str, said: str
) -> None:
    found, sentences = upgrades_of([_change(base, head)], {}, lambda _: "2.13.0")

    assert found == []
    assert said in sentences[0]


def test_what_a_project_requires_are_its_targets_and_backends_stand_beside_keras() -> None:
    needs = {"keras": _pin("keras==3.15.1"), "jax": _pin("jax"), "torch": _pin("torch>=2,<3")}

    assert required_targets({"torch": needs["torch"]}) == ["torch<3,>=2"]
    assert required_targets({"keras": needs["keras"], "jax": needs["jax"]}) == [
        "keras==3.15.1 + jax"
    ]


def test_extras_that_bring_cuda_stay_with_the_target() -> None:
    needs = {"tensorflow": _pin("tensorflow[and-cuda,docs]==2.21.0")}

    assert required_targets(needs) == ["tensorflow[and-cuda]==2.21.0"]
