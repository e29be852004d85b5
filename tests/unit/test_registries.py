"""Registries: built-in items are imported when first needed, others come through entry points."""

from __future__ import annotations

import pytest

from ciguard.errors import RegistrationError, UnknownNameError
from ciguard.registry import Registry


def registry(**built_in: str) -> Registry[object]:
    return Registry("thing", group="ciguard.nothing", accepts=callable, built_in=built_in)


def test_built_in_item_is_imported_by_name() -> None:
    assert registry(dumps="json:dumps").get("dumps")([]) == "[]"  # type: ignore[operator]


def test_built_in_names_keep_their_order() -> None:
    things = registry(second="json:loads", first="json:dumps")
    things.get("first")
    things.register("third", print)

    assert things.names() == ["second", "first", "third"]
    assert [*things.items()] == ["second", "first", "third"]


def test_items_include_later_registrations() -> None:
    things = registry(dumps="json:dumps")
    items = things.items()
    things.register("later", print)

    assert [*items] == ["dumps", "later"]


def test_register_with_the_name_of_an_unloaded_built_in_item_raises() -> None:
    with pytest.raises(RegistrationError, match="registered twice"):
        registry(dumps="json:dumps").register("dumps", print)


@pytest.mark.parametrize("value", ["no_such_module:x", "json:no_such_name"])
def test_get_of_a_built_in_item_that_cannot_be_imported_raises_with_its_name(value: str) -> None:
    with pytest.raises(RegistrationError, match=r"'broken' of ciguard\.nothing cannot be loaded"):
        registry(broken=value).get("broken")


def test_get_of_an_unknown_name_raises_with_a_suggestion() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean 'dumps'"):
        registry(dumps="json:dumps").get("dump")


def test_items_calls_first_before_listing() -> None:
    things: Registry[object] = Registry(
        "thing",
        group="ciguard.nothing",
        accepts=callable,
        first=lambda: things.register("of a level", print),
    )

    assert things.get("of a level") is print
    assert [*things.items()] == ["of a level"]
