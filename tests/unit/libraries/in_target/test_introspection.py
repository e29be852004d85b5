"""Records of Python objects."""

from __future__ import annotations

import types
from typing import TYPE_CHECKING, Any

from ciguard.domain.records import record_from_json
from ciguard.libraries.in_target import introspection

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


class Doubler:
    """Doubles.

    Args:
        factor (int): how much.
    """

    def __init__(self, factor: int = 2, **options: object) -> None:
        self.factor = factor
        self.options = options

    def forward(self, value: float) -> float:
        """Compute.

        Args:
            value (float): what to double.
        """
        return value * self.factor


def positional(first: int, /, second: str = "x", *rest: int, third: object = print) -> None:
    """Take arguments of every kind."""
    del first, second, rest, third


def test_a_signature_is_converted_to_parameters_of_every_kind() -> None:
    parameters = introspection.from_signature(positional) or []

    assert [(item["name"], item["kind"], item["required"]) for item in parameters] == [
        ("first", "positional_only", True),
        ("second", "positional_or_keyword", False),
        ("rest", "var_positional", False),
        ("third", "keyword_only", False),
    ]
    assert parameters[0]["annotation"] == "int"
    assert parameters[1]["default"] == "'x'"


def test_the_repr_of_a_default_that_varies_by_process_is_left_out() -> None:
    assert introspection.stable_repr(object()) == "..."
    assert introspection.stable_repr(print) == "..."
    assert introspection.stable_repr((1, None)) == "(1, None)"


def test_a_layer_record_describes_construction_and_call() -> None:
    record = introspection.layer_record("a.Doubler", Doubler, call="forward", tags=[])

    assert record["parameters"][0]["doc_type"] == "int"
    assert record["inputs"][0]["name"] == "value"
    assert record["inputs"][0]["doc"] == "what to double."
    assert record_from_json(record).parameters[0].default == "2"


def test_a_function_without_signature_has_no_parameters() -> None:
    assert introspection.from_signature(dict.get) is not None
    assert introspection.from_signature(vars) is None


def test_each_object_is_listed_once_by_its_shortest_name() -> None:
    named_objects = [("a.b.c.f", positional), ("a.b.f", positional), ("a.c.f", positional)]

    assert introspection.canonical(named_objects) == {"a.b.f": positional}


def test_a_walk_enters_each_public_module_once_if_allowed() -> None:
    root, inner, foreign = (types.ModuleType(name) for name in ("root", "root.inner", "numpy"))
    members: dict[Any, dict[str, Any]] = {
        root: {"inner": inner, "alias": inner, "foreign": foreign, "_private": 1, "f": positional},
        inner: {"__all__": ["g"], "g": len, "hidden": 2},
        foreign: {"h": 3},
    }
    for module, names in members.items():
        vars(module).update(names)

    visited = list(
        introspection.walk(root, enter=lambda module, _: module is not foreign, failures=[])
    )

    assert visited == [("root.f", positional), ("root.alias.g", len)]


def test_an_object_that_cannot_be_described_is_skipped_with_a_reason() -> None:
    def describe(api: str, value: object) -> dict[str, Any]:
        if value is None:
            msg = "planted"
            raise RuntimeError(msg)
        return {"api": api}

    records = list(introspection.each([("lib.a", 1), ("lib.b", None), ("lib.c", 2)], describe))

    assert records == [
        {"api": "lib.a"},
        {"skipped": "lib.b", "reason": "RuntimeError: planted"},
        {"api": "lib.c"},
    ]


def test_the_other_names_of_an_object_are_aliases() -> None:
    value = object()
    names = introspection.canonical(
        [("lib.nn.functional.conv", value), ("lib.conv", value), ("lib.other", object())]
    )

    records = list(introspection.each(names, lambda api, _: {"api": api}))

    assert records == [
        {"api": "lib.conv", "aliases": ["lib.nn.functional.conv"]},
        {"api": "lib.other"},
    ]


def test_a_module_that_fails_to_import_is_reported_but_not_a_missing_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "planted_breaks.py").write_text("import planted_no_such_thing\n", "utf-8")
    (tmp_path / "planted_raises.py").write_text("raise OSError('no disk')\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    failures: list[dict[str, Any]] = []

    names = ["json", "planted_absent", "planted_absent.part", "planted_breaks", "planted_raises"]
    imported = [name for name, _ in introspection.modules(names, failures=failures)]

    assert imported == ["json"]
    assert [item["skipped"] for item in failures] == ["planted_breaks", "planted_raises"]
    assert failures[1]["reason"] == "OSError: no disk"


def test_an_attribute_that_raises_is_reported() -> None:
    root = types.ModuleType("lib")
    root.__dict__["__all__"] = ["present", "absent"]
    root.__dict__["present"] = 1
    failures: list[dict[str, Any]] = []

    visited = list(introspection.walk(root, enter=lambda *_: True, failures=failures))

    assert visited == [("lib.present", 1)]
    assert [item["skipped"] for item in failures] == ["lib.absent"]
