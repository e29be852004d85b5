from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.knowledge.mining.annotations import transferred_labels
from ciguard.knowledge.mining.concrete import FIELDS, instantiate, placeholder_forms
from ciguard.knowledge.mining.normalise import normalise

NAMES = ("x", "values", "n")


@pytest.mark.parametrize(
    ("field", "abstract", "sentence", "values"),
    [
        ("dtype", "D_TYPE", "`int32` or `half`", ("int32", "float16")),
        ("dtype", "bool", "whatever", ("bool",)),
        ("dtype", "&PARAM", "As long as `x`, with the same type as `values`", ("&values",)),
        ("dtype", "&PARAM", "no reference", ()),
        ("structure", "D_STRUCTURE", "a list of tensors", ("list", "tensor")),
        ("structure", "SHAPE", "Shape(tuple), optional", ("tuple",)),
        ("ndim", "CONSTANT_NUM", "a 3-D or 4-D tensor of 7 things", ("3", "4")),
        ("ndim", ">=CONSTANT_NUM", "1-D or higher", (">=1",)),
        ("ndim", "REXPR", "with rank >= 2", (">=2",)),
        ("shape", "SHAPE", "`[0, 1]` and of shape `[n, 2]`", ("[n,2]",)),
        ("shape", "[CONSTANT_NUM]", "a tuple of 2 ints, the 3 axes", ("[2]",)),
        ("shape", "[CONSTANT_NUM]", "of length `1`, `2` or `4`", ("[1]", "[2]", "[4]")),
        ("shape", "[REXPR]", "that has length `>= 4`", ("[>=4]",)),
        ("shape", "&PARAM", "of the same type and shape as `x`", ("[x]",)),
        ("range", "REXPR", "must be >= 0", ("[0,inf)",)),
        ("range", "REXPR", "must be > 0.5", ("(0.5,inf)",)),
        ("range", "REXPR", "at most <= 3", ("(-inf,3]",)),
        ("range", "REXPR", "with 0 <= p < 1", ("[0,1)",)),
        ("range", "REXPR", "unless == 3", ()),
        ("range", "REXPR", "all values <=", ()),
        ("range", "CONSTANT_NUM", "between 0 and 1.5", ("[0,1.5]",)),
        ("range", "SHAPE", "in the range `[0, n)`", ("[0,n)",)),
        ("range", "SHAPE", "in the range [0, inf]", ("[0,inf)",)),
        ("enum", "ENUM", "`same` or 'valid'", ("same", "valid")),
        ("range", "[0,inf)", "any", ("[0,inf)",)),
    ],
)
def test_a_placeholder_is_instantiated_with_the_text_that_it_replaces(
    field: str, abstract: str, sentence: str, values: tuple[str, ...]
) -> None:
    assert instantiate(field, abstract, normalise(sentence, NAMES)) == values


@given(st.text(st.sampled_from("`'\"([{<>=0.5-x,D of in 1é"), max_size=120))
def test_every_placeholder_form_can_be_instantiated_with_any_sentence(sentence: str) -> None:
    tokens = normalise(sentence, NAMES)

    for field in FIELDS:
        for form in placeholder_forms(field):
            assert all(isinstance(value, str) for value in instantiate(field, form, tokens))


def test_a_label_is_transferred_to_the_equivalent_placeholder() -> None:
    tokens = normalise("Must have the same type as `x`", NAMES)

    labels = transferred_labels(tokens, {"dtype": ("&ENUM",)}, {"dtype": ("&x",)})

    assert labels == {("dtype", "&PARAM")}


def test_a_literal_label_is_transferred_unchanged() -> None:
    labels = transferred_labels(
        normalise("Whether to sort"),
        {"dtype": ("bool",), "ndim": ("0",)},
        {"dtype": ("bool",), "ndim": ("0",)},
    )

    assert labels == {("dtype", "bool"), ("ndim", "0")}


def test_a_label_without_concrete_values_is_dropped() -> None:
    assert transferred_labels(normalise("all values"), {"range": ("REXPR",)}, {}) == frozenset()
