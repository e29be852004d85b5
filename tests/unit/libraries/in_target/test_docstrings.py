"""Parsing of docstrings in four styles into types and descriptions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.libraries.in_target import docstrings, introspection

GOOGLE = """
    add(input, other, *, alpha=1, out=None) -> Tensor

    Adds :attr:`other`, scaled by :attr:`alpha`,
    to :attr:`input`.

    Args:
        input (Tensor): the input tensor.
        other (Tensor or Number): the tensor or number
            to add to :attr:`input`.
        a, b (int or tuple(int), optional): two at once

    Keyword arguments:
        alpha (Number): the multiplier for :attr:`other`.
        {out}

    Example::

        >>> torch.add(1): not a parameter
"""
NUMPY = """Solve it.

    Parameters
    ----------
    a : (M, N) array_like
        Left-hand side.
    lower, upper : bool, optional
        Which triangle.

    Returns
    -------
    x : ndarray
        Not a parameter.
"""
REST = """Constructs a Var.

    :param data: The data
        to start from.
    :type data: number or list
    :param int size: How many.
    :return: a Var
"""
BRACKETED = """Document:
*
    Absolute value.

    * [in] x(jt.Var): the input, of any shape

    * [in] dim: which one
"""


def test_a_google_section_has_types_and_descriptions_over_several_lines() -> None:
    described = docstrings.parameters(GOOGLE)

    assert described["other"] == (
        "Tensor or Number",
        "the tensor or number to add to :attr:`input`.",
    )
    assert described["alpha"].doc_type == "Number"


def test_names_in_one_item_share_its_type() -> None:
    described = docstrings.parameters(GOOGLE)

    assert described["a"] == described["b"] == ("int or tuple(int), optional", "two at once")


def test_examples_are_not_parsed_as_parameters() -> None:
    assert set(docstrings.parameters(GOOGLE)) == {"input", "other", "a", "b", "alpha"}


def test_a_google_section_without_types_has_descriptions() -> None:
    described = docstrings.parameters(
        "Does.\n\n  Args:\n    x: A `Tensor`.\n    name: A name: short.\n"
    )

    assert described == {"x": ("", "A `Tensor`."), "name": ("", "A name: short.")}


def test_a_numpy_section_ends_at_the_next_section() -> None:
    described = docstrings.parameters(NUMPY)

    assert described == {
        "a": ("(M, N) array_like", "Left-hand side."),
        "lower": ("bool, optional", "Which triangle."),
        "upper": ("bool, optional", "Which triangle."),
    }


def test_rest_fields_of_a_parameter_are_merged() -> None:
    assert docstrings.parameters(REST) == {
        "data": ("number or list", "The data to start from."),
        "size": ("int", "How many."),
    }


def test_bracketed_items_are_parsed_with_and_without_a_type() -> None:
    assert docstrings.parameters(BRACKETED) == {
        "x": ("jt.Var", "the input, of any shape"),
        "dim": ("", "which one"),
    }


def test_the_first_paragraph_excludes_the_signature() -> None:
    expected = "Adds :attr:`other`, scaled by :attr:`alpha`, to :attr:`input`."

    assert docstrings.first_paragraph(GOOGLE) == expected


def test_the_signature_line_has_kinds_and_defaults() -> None:
    parameters = introspection.from_docstring(GOOGLE, "add")

    assert parameters == [
        {"name": "input", "kind": "positional_or_keyword", "required": True},
        {"name": "other", "kind": "positional_or_keyword", "required": True},
        {"name": "alpha", "kind": "keyword_only", "required": False, "default": "1"},
        {"name": "out", "kind": "keyword_only", "required": False, "default": "None"},
    ]


@pytest.mark.parametrize(
    "doc", ["", "Adds two tensors.", "add(input, size...) -> Tensor", "sub(a, b)", "add(a, b"]
)
def test_a_first_line_that_is_not_the_signature_is_ignored(doc: str) -> None:
    assert introspection.from_docstring(doc, "add") is None


PIECES = st.sampled_from(
    [*"abxy(),:*[]=-> \n`'", "Args:\n", "    ", ":param a:", "Parameters\n---\n"]
)


@given(st.lists(PIECES).map("".join))
def test_any_docstring_can_be_parsed(doc: str) -> None:
    described = docstrings.parameters(doc)

    assert all(isinstance(item.doc, str) for item in described.values())
    assert isinstance(docstrings.first_paragraph(doc), str)
    assert introspection.from_docstring(doc, "ab") is None or "ab" in doc


MANUAL = """Split it.

    Args:
        x (jt.Var) \u2013 the array
        other (Tensor)
        sizes (int) or (list(int)): one or many
        dim - which axis
        count of the parts
"""


def test_items_with_dashes_and_several_types_are_parsed() -> None:
    described = docstrings.parameters(MANUAL)

    assert described["x"] == ("jt.Var", "the array")
    assert described["sizes"] == ("int or list(int)", "one or many")
    assert described["dim"].doc.startswith("which axis")
    assert described["other"].doc_type == "Tensor"


def test_a_line_that_begins_with_a_parameter_but_is_not_an_item_is_unparsed() -> None:
    assert docstrings.unparsed_lines(MANUAL, {"x", "sizes", "dim", "other", "count"}) == [
        "count of the parts"
    ]
    assert docstrings.unparsed_lines(MANUAL, {"x", "sizes"}) == []


def test_names_that_only_the_section_has_are_undeclared() -> None:
    # The signature at the top of the docstring has `alpha`.
    assert docstrings.undeclared_parameters(GOOGLE, {"input", "other", "out"}) == ["a", "b"]
    assert docstrings.undeclared_parameters(REST, {"data"}) == ["size"]


def test_parameters_of_a_further_overload_are_not_undeclared() -> None:
    doc = (
        "max(input) -> Tensor\n\nArgs:\n    input: x\n    dim: y\n\n.. function:: max(input, dim)\n"
    )

    assert docstrings.undeclared_parameters(doc, {"input"}) == []


def test_a_signature_nested_too_deeply_is_not_parsed() -> None:
    assert docstrings.parse_arguments("x=" + "(" * 5_000) is None
    assert docstrings.parse_arguments("x=" + "[1," * 500 + "]" * 500) is None
