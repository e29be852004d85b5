"""Changes of documentation: signature, defaults and sentences of two versions."""

from __future__ import annotations

import pytest
from announcement_examples import documented

from ciguard.announcements import ApiDocumentation, documented_changes
from ciguard.domain.records import ParameterKind, ParameterRecord

X = ParameterRecord(name="x")


def words_of(base: ApiDocumentation, head: ApiDocumentation) -> list[str]:
    return [change.words for change in documented_changes(base, head)]


def test_equal_documentation_has_no_changes() -> None:
    assert words_of(documented("Pools. Slow."), documented("Slow.\n\nPools.")) == []


def test_a_similar_sentence_replaces_the_other() -> None:
    base, head = (
        documented("Returns the sum of all."),
        documented("Returns the mean of all. Keeps NaN."),
    )

    assert words_of(base, head) == [
        "the documentation changed from “Returns the sum of all” to “Returns the mean of all”",
        "the documentation now also says “Keeps NaN”",
    ]
    assert words_of(head, base)[-1] == "the documentation no longer says “Keeps NaN”"


def test_sentences_of_two_parameters_do_not_replace_each_other() -> None:
    base = documented("", X, ParameterRecord(name="a", doc="must be positive"))
    head = documented(
        "", ParameterRecord(name="x", doc="must be positive."), ParameterRecord(name="a")
    )

    assert words_of(base, head) == [
        "the documentation of `x` now also says “must be positive”",
        "the documentation of `a` no longer says “must be positive”",
    ]


def test_changes_of_the_signature() -> None:
    base = documented(
        "",
        X,
        ParameterRecord(name="size", default="1"),
        ParameterRecord(name="old"),
        ParameterRecord(name="mode"),
    )
    head = documented(
        "",
        X,
        ParameterRecord(name="size", default="2"),
        ParameterRecord(name="mode", kind=ParameterKind.KEYWORD_ONLY),
        ParameterRecord(name="new"),
    )

    assert words_of(base, head) == [
        "the default of `size` changed from 1 to 2",
        "the parameter `old` was removed",
        "`mode` must be passed by keyword",
        "the parameter `new` was added",
    ]


@pytest.mark.parametrize(
    ("before", "after", "is_changed"),
    [
        ("int | str | None", "int", True),
        ("int | my_int", "int", True),
        ("Optional[int]", "None | int", False),
        ("typing.Union[int, Tuple[int, str]]", "Tuple[int, str] | int", False),
        ("list[int | str]", "list[int]", True),
        ("", "int", False),
        ("int", "", False),
    ],
)
def test_a_type_changed_if_its_members_differ(before: str, after: str, *, is_changed: bool) -> None:
    base, head = (
        documented("", X, ParameterRecord(name="dim", annotation=hint)) for hint in (before, after)
    )
    expected = [f"the type of `dim` changed from “{before}” to “{after}”"]

    assert words_of(base, head) == (expected if is_changed else [])


def test_signatures_of_different_sources_are_not_compared() -> None:
    base = documented("", X, ParameterRecord(name="old"))

    assert words_of(base, documented("", X, source="stub")) == []


def test_a_parameter_is_not_removed_if_any_keyword_is_taken() -> None:
    rest = ParameterRecord(name="rest", kind=ParameterKind.VAR_KEYWORD)

    assert words_of(documented("", X, ParameterRecord(name="old")), documented("", X, rest)) == []


def test_changed_words_are_those_of_one_sentence_only() -> None:
    (change,) = documented_changes(
        documented("Must be >= 0 or None."), documented("Must be > 0 or None.")
    )

    assert change.changed_words == {">", ">="}
