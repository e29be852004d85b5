"""Statements of docstrings: sentences with their subject, without layout, code and markup."""

from __future__ import annotations

import pytest

from ciguard.announcements.statements import Statement, statements_of
from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord, ParameterRecord

DOCSTRING = """\
pool(x, size=2) -> Tensor

Pools :attr:`x`. Results have
the dtype of ``x``::

    >>> pool(1)
    a line of code.

.. versionchanged:: 2.1
   Sizes are rounded up.

Args:
    x (Tensor): a tensor.
    size: must be positive.

Note:
    Slow.

```python
pool("a fence.")
```

Returns:
    A view of `x`.
"""
RECORD = ApiRecord(
    api="lib.pool",
    kind=CallKind.FUNCTION,
    parameters=(
        ParameterRecord(name="x", doc_type="Tensor", doc="a tensor."),
        ParameterRecord(name="size", doc="must be positive. Not zero."),
    ),
)


def test_sentences_keep_their_subject_and_directive() -> None:
    assert statements_of(RECORD, DOCSTRING) == [
        Statement("x (Tensor)", "x"),
        Statement("a tensor", "x"),
        Statement("must be positive", "size"),
        Statement("Not zero", "size"),
        Statement("Pools x"),
        Statement("Results have the dtype of x"),
        Statement("2.1 Sizes are rounded up", directive="versionchanged"),
        Statement("Slow"),
        Statement("A view of x"),
    ]


def test_without_a_docstring_the_first_paragraph_counts() -> None:
    record = ApiRecord(api="lib.f", kind=CallKind.FUNCTION, parameters=(), doc="Adds. Slowly.")

    assert [item.text for item in statements_of(record, "")] == ["Adds", "Slowly"]


@pytest.mark.parametrize(
    "other",
    ["Pools ``x``, slowly.", "*Pools* x slowly", "Pools\n    `x` slowly!", "pools x (slowly)"],
)
def test_markup_case_and_punctuation_do_not_matter(other: str) -> None:
    record = ApiRecord(api="lib.f", kind=CallKind.FUNCTION, parameters=())
    (statement,) = statements_of(record, other)

    assert statement.words == ("pools", "x", "slowly")


def test_a_deprecation_without_a_text_is_a_statement() -> None:
    record = ApiRecord(api="lib.f", kind=CallKind.FUNCTION, parameters=())

    assert statements_of(record, ".. deprecated:: 2.1") == [
        Statement("2.1", directive="deprecated")
    ]


def test_numpy_sections_of_parameters_and_examples_are_left_out() -> None:
    record = ApiRecord(api="lib.f", kind=CallKind.FUNCTION, parameters=())
    text = (
        "Sorts.\n\nParameters\n----------\nx : array\n    Values.\n\n"
        "Returns\n-------\nA copy.\n\nExamples\n--------\nCode."
    )

    assert [item.text for item in statements_of(record, text)] == ["Sorts", "A copy"]


def test_the_number_of_statements_is_limited() -> None:
    record = ApiRecord(api="lib.f", kind=CallKind.FUNCTION, parameters=())
    text = " ".join(f"Sentence {number}." for number in range(2_000))

    assert len(statements_of(record, "\n\n".join(text.split(". ")))) == 400
