"""Values of parameters that nothing describes."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from ciguard.levels.app.exploration.parameter_reads import form_by_reads, keys_read

if TYPE_CHECKING:
    from ciguard.domain.values import Json


@pytest.mark.parametrize(
    ("source", "form"),
    [
        ("x['a']; x.get('b', 1); y['c']", {"fields": {"a": {"guess": "text"}, "b": {"guess": 0}}}),
        ("if x == 'slow': pass", {"guess": "slow"}),
        ("if 3 < x: pass", {"guess": 3}),
        ("if x in ('a', 'b'): pass", {"guess": "a"}),
        ("if x.mode == 'a': pass", {"stub": "x"}),
        ("if y == 'a': x.save()", {"stub": "x"}),
        ("x(1)", {"stub": "x"}),
        ("x[0]", {"stub": "x"}),
    ],
)
def test_form_follows_what_the_function_reads(source: str, form: Json) -> None:
    body = ast.parse(source).body

    assert form_by_reads("x", body, lambda key: {"guess": 0} if key == "b" else None) == form


def test_keys_are_in_the_order_of_their_reads_without_repetition() -> None:
    body = ast.parse("x['b']\nif x.get('a'):\n    print(x['b'], x.pop('c'))").body

    assert keys_read("x", body) == ("b", "a")
