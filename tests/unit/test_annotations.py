from __future__ import annotations

import inspect

import pytest

import ciguard.annotations as language


def test_star_import_binds_the_documented_public_names_only() -> None:
    scope: dict[str, object] = {}
    exec("from ciguard.annotations import *", scope)

    public = {
        name
        for name, item in vars(language).items()
        if getattr(item, "__module__", "").startswith(f"{language.__name__}.")
    }
    assert set(scope) - {"__builtins__"} == public == set(language.__all__)
    assert all(map(inspect.getdoc, map(scope.get, language.__all__)))


def test_arg_with_an_uncalled_constraint_function_raises() -> None:
    with pytest.raises(
        language.AnnotationError, match=r"ints is a function, not a constraint; write ints\(\)"
    ):
        language.arg("n", language.ints)
    with pytest.raises(language.AnnotationError, match=r"bools\(\)"):
        language.lists(language.bools)
    language.arg("fn", len)
