from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.knowledge.mining import (
    ParameterText,
    TextSource,
    dependencies,
    extract,
    generation_order,
    prediction,
    shipped_rules,
)
from ciguard.knowledge.mining.files import LEARNED_LIBRARIES, KnowledgeFileError

BOOK = shipped_rules("tensorflow")


def text(description: str = "", **changes: object) -> ParameterText:
    fields: dict[str, object] = {
        "library": "tensorflow",
        "api": "tf.f",
        "parameter": "x",
        "description": description,
        "parameters": ("x", "y", "data_format"),
    }
    return ParameterText(**{**fields, **changes})  # type: ignore[arg-type]


def values_by_field(text: ParameterText) -> dict[str, list[str]]:
    line = prediction(text, extract(text, BOOK))
    return {key: value for key, value in line.items() if isinstance(value, list) and value}


def test_constraints_of_all_sentences_are_merged() -> None:
    parameter_text = text(
        "A `Tensor`. Must be one of the following types: `float32`, `float64`. "
        "4-D with shape `[batch, height, width, channels]`."
    )

    assert values_by_field(parameter_text) == {
        "dtype": ["float32", "float64"],
        "structure": ["tensor"],
        "ndim": ["4"],
        "shape": ["[batch,height,width,channels]"],
    }


def test_each_constraint_names_its_sentence_and_rule() -> None:
    parameter_text = text("Ignored. Must have the same type as `y`.")

    dtype = next(c for c in extract(parameter_text, BOOK) if c.field == "dtype")

    assert dtype.values == ("&y",)
    assert dtype.source is TextSource.DESCRIPTION
    assert dtype.sentence == "Must have the same type as `y`."
    assert dtype.rule.support > 1


def test_constraints_are_extracted_from_the_documented_type_and_the_default() -> None:
    assert "int" in values_by_field(text(default="3"))["dtype"]
    declared = text(doc_type="int or tuple of ints, optional")
    assert {c.field for c in extract(declared, shipped_rules("torch"))} >= {"structure"}


@pytest.mark.parametrize(
    "library",
    [*LEARNED_LIBRARIES, "torch", "tensorflow", "tensorflow-cpu", "keras", "jax", "jittor"],
)
def test_ciguard_ships_rules_for_every_library(library: str) -> None:
    assert shipped_rules(library).constraints(["TYPE", "D_TYPE"])


def test_an_unknown_library_is_rejected_with_a_suggestion() -> None:
    with pytest.raises(KnowledgeFileError, match="Did you mean 'tensorflow'"):
        shipped_rules("tensorflwo")


@pytest.mark.parametrize("library", ["../rules", "", "a/b", "."])
def test_a_library_name_with_a_path_is_rejected(library: str) -> None:
    with pytest.raises(KnowledgeFileError, match="letters, digits"):
        shipped_rules(library)


@given(st.text(max_size=400), st.text(max_size=80), st.none() | st.text(max_size=40))
def test_constraints_can_be_extracted_from_any_documentation(
    description: str, doc_type: str, default: str | None
) -> None:
    for constraint in extract(text(description, doc_type=doc_type, default=default), BOOK):
        assert constraint.values


@pytest.mark.parametrize("filler", ["A `Tensor`. ", "(", "x" * 50 + " ", "the size of ", "漢。"])
def test_a_hundred_kilobytes_of_documentation_take_less_than_five_seconds(filler: str) -> None:
    start = time.perf_counter()

    extract(text(filler * (100_000 // len(filler))), BOOK)

    assert time.perf_counter() - start < 5.0


def test_dependencies_are_read_from_references_and_sizes() -> None:
    constraints_by_parameter = {
        "x": extract(text("A `Tensor`."), BOOK),
        "y": extract(text("A `Tensor`. Must have the same type as `x`."), BOOK),
    }

    needs = dependencies(constraints_by_parameter)

    assert needs == {"x": frozenset(), "y": frozenset({"x"})}
    assert generation_order(needs) == ["x", "y"]


@given(st.dictionaries(st.sampled_from("abcdef"), st.frozensets(st.sampled_from("abcdef"))))
def test_the_generation_order_is_complete_with_circular_references(
    needs: dict[str, frozenset[str]],
) -> None:
    order = generation_order(needs)

    assert sorted(order) == sorted(needs)
    for name in order:
        for other in needs[name] & set(needs):
            follows = order.index(other) < order.index(name)
            assert follows or other == name or _is_in_cycle(name, other, needs)


def _is_in_cycle(start: str, end: str, needs: dict[str, frozenset[str]]) -> bool:
    """Return whether a cycle explains that a parameter comes before one that it depends on."""
    reached, todo = {start}, [start]
    while todo:
        for other in needs.get(todo.pop(), frozenset()) & set(needs) - reached:
            reached.add(other)
            todo.append(other)
    return any(start in needs[name] or name in needs[name] for name in reached) or end in reached
