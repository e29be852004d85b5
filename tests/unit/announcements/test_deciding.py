"""Which differences between versions the documentation announces."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from announcement_examples import API, difference, documented

from ciguard.announcements import ApiDocumentation, OtherSources, ReleaseNote, announcement
from ciguard.domain.programs import ProgramCase
from ciguard.domain.records import ParameterKind, ParameterRecord
from ciguard.domain.values import TensorValue, Uniform

if TYPE_CHECKING:
    from ciguard.domain.findings import Finding

X = ParameterRecord(name="x")
PLAIN = documented()


def sized(doc: str, **changes: object) -> ApiDocumentation:
    """Return the documentation of a function whose parameter `size` has a description."""
    return documented("", X, ParameterRecord(name="size", doc=doc, **changes))  # type: ignore[arg-type]


# --- requirements -------------------------------------------------------------------------------


def test_a_refused_value_that_only_the_head_forbids_is_announced() -> None:
    refused = difference("refused", 1, -3, message="negative sizes are an error")

    assert announcement(refused, sized("Size."), sized("Must be positive.")) == (
        "the documentation of `size` now requires: “Must be positive”"
    )
    assert announcement(refused, sized("Must be positive."), sized("Must be positive.")) == ""
    allowed = difference("refused", 1, 3, message="no")
    assert announcement(allowed, sized("Size."), sized("Must be positive.")) == ""


def test_an_accepted_value_that_only_the_base_forbids_is_announced() -> None:
    accepted = difference("accepted", 1, -3, message="negative")

    assert announcement(accepted, sized("Must be positive."), sized("Size.")) == (
        "the documentation of `size` no longer requires: “Must be positive”"
    )


# --- deprecations -------------------------------------------------------------------------------

UNEXPECTED = "pool() got an unexpected keyword argument 'size'"


@pytest.mark.parametrize(
    "docstring",
    [
        "Pools.\n\n.. deprecated:: 2.0\n   Use other.",
        "Pools.\n\nWarning: THIS FUNCTION IS DEPRECATED. It will be removed after 2026.",
        "pool is deprecated in favour of lib.other.",
    ],
)
def test_a_refusal_by_an_api_that_the_base_deprecates_is_announced(docstring: str) -> None:
    refused = difference("refused", 1, message="gone")

    assert announcement(refused, documented(docstring), PLAIN).startswith(
        "the base already declares the API deprecated: “"
    )


@pytest.mark.parametrize("kind", ["values", "dtype", "nan", "accepted"])
def test_a_deprecated_api_still_computes_right(kind: str) -> None:
    base = documented("Pools.\n\n.. deprecated:: 2.0\n   Use other.")

    assert announcement(difference(kind, 1), base, base) == ""


def test_a_deprecated_parameter_announces_only_calls_that_pass_it() -> None:
    base = sized("Deprecated, use `width`.")

    assert announcement(difference("refused", 1, size=2, message=UNEXPECTED), base, base) == (
        "the base already declares `size` deprecated: “Deprecated, use width”"
    )
    assert announcement(difference("refused", 1, message="no"), base, base) == ""
    assert announcement(difference("refused", 1, size=2, message="x is bad"), base, base) == ""


def test_a_deprecated_use_of_another_function_announces_nothing() -> None:
    base = documented("Pools. Passing lists to concatenate is deprecated.")

    assert announcement(difference("refused", 1, message="no"), base, base) == ""


def test_a_warning_of_the_base_announces_a_refusal_if_it_names_the_api_or_an_argument() -> None:
    refused = difference("refused", 1, size=2, message=UNEXPECTED)

    assert announcement(
        refused, PLAIN, PLAIN, OtherSources(warnings=lambda: ["`size` will be removed"])
    ) == ("the base warns that this is deprecated: “`size` will be removed”")
    assert (
        announcement(
            refused, PLAIN, PLAIN, OtherSources(warnings=lambda: ["numpy.bool8 is deprecated"])
        )
        == ""
    )
    assert (
        announcement(
            difference("values", 1),
            PLAIN,
            PLAIN,
            OtherSources(warnings=lambda: ["pool is deprecated"]),
        )
        == ""
    )


# --- signature ----------------------------------------------------------------------------------


def test_a_parameter_that_must_be_a_keyword_announces_positional_calls() -> None:
    head = documented("", X, ParameterRecord(name="size", kind=ParameterKind.KEYWORD_ONLY))
    message = "pool() takes 1 positional argument but 2 were given"

    assert announcement(difference("refused", 1, 2, message=message), PLAIN, head) == (
        "`size` must be passed by keyword"
    )
    assert announcement(difference("refused", 1, size=2, message=message), PLAIN, head) == ""


def test_a_removed_parameter_announces_calls_whose_refusal_names_it() -> None:
    head = documented("", X)

    assert announcement(difference("refused", 1, size=2, message=UNEXPECTED), PLAIN, head) == (
        "the parameter `size` was removed"
    )
    assert announcement(difference("refused", 1, size=2, message="x is bad"), PLAIN, head) == ""


@pytest.mark.parametrize(
    ("kind", "before", "after", "is_announced"),
    [
        ("refused", "int | str", "int", True),
        ("refused", "int", "int | str", False),
        ("accepted", "int", "int | str", True),
        ("accepted", "int | str", "int", False),
        ("exception", "int | str", "int", True),
        ("values", "int | str", "int", False),
    ],
)
def test_a_changed_type_announces_exceptions_about_the_argument(
    kind: str, before: str, after: str, *, is_announced: bool
) -> None:
    base, head = (
        documented("", X, ParameterRecord(name="size", annotation=hint)) for hint in (before, after)
    )

    about_size = difference(kind, 1, "a", message="size must be int")
    assert bool(announcement(about_size, base, head)) is is_announced
    assert announcement(difference(kind, 1, "a", message="x is bad"), base, head) == ""


# --- sentences ----------------------------------------------------------------------------------

RETURNS = {
    "dtype": "The result is always float32.",
    "shape": "Keeps the reduced dimension.",
    "values": "Results are sorted.",
    "nan": "Returns NaN for empty slices.",
    "aliasing": "The result is a view.",
    "mutation": "Modifies x in place.",
    "structure": "Returns a tuple.",
}


@pytest.mark.parametrize("kind", RETURNS)
def test_a_new_sentence_about_the_aspect_announces_a_difference(kind: str) -> None:
    head = documented(f"Pools. {RETURNS[kind]}")

    assert RETURNS[kind].rstrip(".") in announcement(
        difference(kind, 1), documented("Pools."), head
    )


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("dtype", RETURNS["shape"]),
        ("shape", RETURNS["values"]),
        ("aliasing", "See also other."),
        ("values", "The argument is a list of strings."),
        ("exception", RETURNS["dtype"]),
    ],
)
def test_a_new_sentence_about_another_aspect_announces_nothing(kind: str, sentence: str) -> None:
    finding = difference(kind, 1, message="x is bad")

    assert announcement(finding, documented("Pools."), documented(f"Pools. {sentence}")) == ""


def test_only_what_changed_in_a_sentence_counts() -> None:
    base = documented("Returns the dtype of the input, roughly.")
    head = documented("Returns the dtype of the input, generally.")

    assert announcement(difference("dtype", 1), base, head) == ""


def test_a_sentence_about_an_argument_that_is_not_passed_announces_nothing() -> None:
    base, head = sized("The size."), sized("The size; float64 values give float64 results.")

    assert announcement(difference("dtype", 1), base, head) == ""
    assert announcement(difference("dtype", 1, 2.0), base, head) != ""


def test_a_sentence_about_the_argument_that_a_refusal_names_announces_it() -> None:
    base, head = sized("The size."), sized("The size. Tuples are not supported.")

    assert announcement(difference("refused", 1, 2, message="size: no tuples"), base, head) != ""
    assert announcement(difference("refused", 1, 2, message="x: no tuples"), base, head) == ""


@pytest.mark.parametrize(
    ("kind", "sentence", "is_announced"),
    [
        ("refused", "Tuples are not supported.", True),
        ("refused", "Tuples are supported.", False),
        ("accepted", "Tuples are supported.", True),
        ("accepted", "Tuples are not supported.", False),
    ],
)
def test_a_sentence_announces_only_its_own_direction(
    kind: str, sentence: str, *, is_announced: bool
) -> None:
    base, head = sized("The size."), sized(f"The size. {sentence}")
    finding = difference(kind, 1, 2, message="size: tuples")

    assert bool(announcement(finding, base, head)) is is_announced
    removed = {"refused": "accepted", "accepted": "refused"}[kind]
    assert bool(announcement(replace(finding, kind=removed), head, base)) is is_announced


def test_a_sentence_about_an_argument_may_share_a_word_with_the_message_instead() -> None:
    base, head = (
        documented("Pools."),
        documented("Pools. If x is a SparseTensor, so is the result."),
    )
    accepted = difference("accepted", 1, message="cannot convert SparseTensor(1)")

    assert "SparseTensor" in announcement(accepted, base, head)
    other = difference("accepted", 1, message="cannot convert RaggedTensor(1)")
    assert announcement(other, base, head) == ""


@pytest.mark.parametrize(
    "sentence",
    [
        "Optional shape tuple of the blocks.",
        "Defaults to None.",
        "A string.",
        "Size of the blocks, along each axis.",
    ],
)
def test_a_new_description_that_states_no_rule_announces_no_refusal(sentence: str) -> None:
    refused = difference("refused", 1, 2, message="size: integers of a shape, not blocks")

    assert announcement(refused, sized("The size."), sized(f"The size. {sentence}")) == ""


def test_a_new_description_that_shares_content_with_the_message_announces_a_difference() -> None:
    head = sized("The size. Length 2 tuple for planes.")
    accepted = difference("accepted", 1, 2, message="size: expected a tuple of length 3")

    assert "Length 2 tuple" in announcement(accepted, sized("The size."), head)
    assert announcement(replace(accepted, kind="accepted"), head, sized("The size.")) == ""


def test_a_wider_rank_announces_that_more_is_accepted() -> None:
    base = sized("A 1-D tensor containing segment indices for each element in data.")
    head = sized("A N-D tensor containing segment indices for each element in data.")
    message = "size should be a 1-D tensor of segments"

    assert announcement(difference("accepted", 1, 2, message=message), base, head) != ""
    assert announcement(difference("refused", 1, 2, message=message), base, head) == ""


def test_an_api_wide_sentence_announces_no_refusal_of_another_argument() -> None:
    base = documented("Pools. Takes only positive integer blocks.")
    head = documented("Pools. Takes only nonnegative integer blocks.")
    message = "size must be a positive integer of blocks"

    assert announcement(difference("refused", 1, 2, message=message), base, head) == ""
    assert announcement(difference("refused", 1, message=message), base, head) != ""


def test_a_renamed_parameter_announces_nothing_to_calls_by_position() -> None:
    base = documented("", X, ParameterRecord(name="size"))
    head = documented("", X, ParameterRecord(name="sizes"))
    message = "the size is too small"

    assert announcement(difference("refused", 1, 2, message=message), base, head) == ""
    assert announcement(difference("refused", 1, size=2, message=message), base, head) != ""


@pytest.mark.parametrize(
    ("kind", "doc"),
    [
        ("dtype", "The size. If False, the default, blocks are unsorted."),
        ("shape", "The size. The number of dimensions should be smaller than that of x."),
    ],
)
def test_a_description_of_an_argument_announces_no_other_results(kind: str, doc: str) -> None:
    assert announcement(difference(kind, 1, 2), sized("The size."), sized(doc)) == ""


def test_the_description_of_a_new_parameter_announces_nothing() -> None:
    base = documented("", X)
    head = documented("", X, ParameterRecord(name="size", doc="If False, results are sorted."))

    assert announcement(difference("values", 1), base, head) == ""


def test_a_sentence_about_other_dtypes_announces_nothing() -> None:
    sentence = "When complex tensors are passed, they are cast to floats."
    base, head = documented("Pools."), documented(f"Pools. {sentence}")

    def of(dtype: str) -> Finding:
        finding = difference("dtype")
        value = TensorValue(dtype, (1,), Uniform(0, 0.0, 1.0))
        return replace(finding, case=replace(finding.case, arguments=(value,)))

    assert announcement(of("complex64"), base, head) != ""
    assert announcement(of("float64"), base, head) == ""


def test_a_refusal_needs_a_sentence_that_shares_words_with_its_message() -> None:
    head = documented("Pools. Complex numbers must not be mixed with half precision.")
    about = "cannot mix complex and half precision"

    assert announcement(difference("refused", 1, message=about), documented("Pools."), head) != ""
    assert (
        announcement(difference("refused", 1, message="too big"), documented("Pools."), head) == ""
    )


def test_sentences_of_an_api_with_the_same_operator_announce_a_difference() -> None:
    sibling = (
        documented("Pools.", api="lib.public"),
        documented("Pools. Results are sorted.", api="lib.public"),
    )

    assert announcement(
        difference("values", 1), PLAIN, PLAIN, OtherSources(siblings=[sibling])
    ) == (
        "for `lib.public`, which calls the same operator, the documentation now also says "
        "“Results are sorted”"
    )
    assert (
        announcement(difference("dtype", 1), PLAIN, PLAIN, OtherSources(siblings=[sibling])) == ""
    )


def test_the_signature_of_an_api_with_the_same_operator_announces_nothing() -> None:
    base, head = (documented("", X, ParameterRecord(name="size", default=text)) for text in "12")
    others = OtherSources(siblings=[(base, head)])

    assert announcement(difference("values", 1), PLAIN, PLAIN, others) == ""


# --- release notes and what is never announced --------------------------------------------------

NOTE = ReleaseNote(text="torch.pool: results are now float32 (dtype)", source="NEWS.md", line=7)


def test_release_notes_that_name_the_api_and_the_aspect_announce_a_difference() -> None:
    assert announcement(difference("dtype", 1), PLAIN, PLAIN, OtherSources(notes=[NOTE])) == (
        "NEWS.md, line 7, says “torch.pool: results are now float32 (dtype)”"
    )
    assert announcement(difference("shape", 1), PLAIN, PLAIN, OtherSources(notes=[NOTE])) == ""


@pytest.mark.parametrize("kind", ["signal", "hang", "slower"])
def test_other_kinds_of_finding_are_never_announced(kind: str) -> None:
    base = documented("Pools.\n\n.. deprecated:: 2.0")

    assert announcement(difference(kind, 1), base, documented("May crash and hang.")) == ""


def test_a_finding_about_a_program_is_never_announced() -> None:
    program = ProgramCase(api=API, source="", block="")
    finding = replace(difference("values", 1), case=program)

    assert announcement(finding, PLAIN, documented("Results are sorted.")) == ""
