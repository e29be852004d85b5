from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.knowledge.mining.normalise import PLACEHOLDERS, Token, normalise
from ciguard.knowledge.mining.normalise_types import normalise_default, normalise_type

NAMES = ("x", "data", "num_classes")


def words(text: str) -> str:
    return " ".join(token.text for token in normalise(text, NAMES))


def sources(text: str, placeholder: str) -> list[str]:
    return [
        raw for t in normalise(text, NAMES) if t.text == placeholder for raw in t.replaced_texts
    ]


@pytest.mark.parametrize(
    ("text", "form"),
    [
        (
            "A 4-D `Tensor` of shape `[batch, height]`.",
            "a CONSTANT_NUM d D_STRUCTURE of shape SHAPE",
        ),
        ("An int or list of `ints`", "a D_TYPE or D_STRUCTURE of D_TYPE"),
        ("Must have the same type as `x`.", "must have the same type as PARAM"),
        ("Tensor of the same shape as data", "D_STRUCTURE of the same shape as PARAM"),
        ("less than num_classes", "less than PARAM"),
        ("a two-dimensional array", "a CONSTANT_NUM d D_STRUCTURE"),
        ("Float between 0 and 1.", "D_TYPE between CONSTANT_NUM"),
        ("a float >= 0", "a D_TYPE REXPR"),
        ("values with 0 <= p < 1", "values with REXPR"),
        ("the `kernel` matrix", "the ENUM matrix"),
        ("one of `same` or 'valid'", "one of ENUMS"),
        ("`True` by default", "CONSTANT_BOOL by default"),
        ("if `None`, nothing", "if none nothing"),
        ("a name (optional)", "a name ( optional )"),
        ("sizes (N, C, H_in)", "sizes SHAPE"),
        ("can't be inferred", "can t be inferred"),
        ("the :attr:`num_classes` of :class:`~torch.Tensor`", "the PARAM of D_STRUCTURE"),
        ('only `"NHWC"` works', "only ENUM works"),
        ("tuple of <float>", "D_STRUCTURE of D_TYPE"),
        ("the long tail", "the long tail"),
        ("torch.long", "D_TYPE"),
        ("Tuple[int, int]", "D_STRUCTURE SHAPE"),
        ("`data[i]`", "data SHAPE"),
    ],
)
def test_a_sentence_has_the_expected_normal_form(text: str, form: str) -> None:
    assert words(text) == form


def test_a_run_of_one_placeholder_is_joined_with_all_texts() -> None:
    assert sources("one of `a`, 'b' or \"c\"", "ENUMS") == ["a", "b", "c"]
    assert sources("int, float or str", "D_TYPE") == ["int", "float", "string"]


def test_a_set_of_values_in_a_type_becomes_a_choice_without_none() -> None:
    text = "{None, 'float16', 'csr'},optional, default='None'"

    assert normalise_type(text)[:3] == (
        Token("TYPE"),
        Token("ENUMS", ("float16", "csr")),
        Token("optional"),
    )


def test_a_set_of_numbers_becomes_a_number_placeholder() -> None:
    assert normalise("{0, 1}") == (Token("CONSTANT_NUM", ("0", "1")),)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("None", "DEFAULT none"),
        ("<object object>", "DEFAULT none"),
        ("True", "DEFAULT CONSTANT_BOOL"),
        ("-1", "DEFAULT CONSTANT_NUM"),
        ("1e-05", "DEFAULT CONSTANT_FLOAT"),
        ("(1, 1)", "DEFAULT sequence CONSTANT_NUM"),
        ("(0.5,)", "DEFAULT sequence CONSTANT_FLOAT"),
        ("()", "DEFAULT sequence"),
        ("'same'", "DEFAULT text"),
        ("torch.float32", "DEFAULT D_TYPE"),
        ("torch.strided", "DEFAULT object"),
        ("", "DEFAULT text"),
    ],
)
def test_a_default_has_the_expected_normal_form(text: str, form: str) -> None:
    assert " ".join(token.text for token in normalise_default(text)) == form


@given(
    st.text(max_size=300) | st.text(st.sampled_from("`'\"([{<>=0.5-x,D \\é漢\u2019"), max_size=300)
)
def test_any_text_can_be_normalised(text: str) -> None:
    for token in (*normalise(text, NAMES), *normalise_default(text), *normalise_type(text)):
        assert token.text
        assert " " not in token.text
        assert bool(token.replaced_texts) <= (token.text in PLACEHOLDERS | {"text"})


@pytest.mark.parametrize(
    "filler",
    ["(", "[{(", "`", "`a", "'", "'a ", "<", "0<", "0 <= x", "1", "a.", "9-", "é", "{'a',", "_"],
)
def test_a_hundred_kilobytes_of_hostile_text_take_less_than_two_seconds(filler: str) -> None:
    start = time.perf_counter()

    normalise(filler * (100_000 // len(filler)), NAMES)

    assert time.perf_counter() - start < 2.0
