from __future__ import annotations

import inspect

import pytest

import ciguard.annotations as language


def test_importing_everything_takes_the_language_and_hides_no_other_name() -> None:
    scope: dict[str, object] = {}
    exec("from ciguard.annotations import *", scope)

    own = {
        name
        for name, item in vars(language).items()
        if getattr(item, "__module__", "") == language.__name__ and not name.startswith("_")
    }
    internal = {"F", "notes_of", "is_values", "is_ref"}
    assert set(scope) - {"__builtins__"} == own - internal
    assert all(map(inspect.getdoc, map(scope.get, language.__all__)))


def test_a_kind_of_values_that_is_not_called_is_refused() -> None:
    with pytest.raises(language.AnnotationError, match=r"ints is called .*: ints\(\)"):
        language.arg("n", language.ints)
    with pytest.raises(language.AnnotationError, match=r"bools\(\)"):
        language.lists(language.bools)
    language.arg("fn", len)
