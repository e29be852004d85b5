"""What a difference between two versions is about."""

from __future__ import annotations

from dataclasses import replace

import pytest
from announcement_examples import BASE, HEAD, difference, documented

from ciguard.announcements import announcement
from ciguard.domain.outcomes import Passed, Rejected
from ciguard.domain.records import ParameterRecord

X = ParameterRecord(name="x")


@pytest.mark.parametrize("exception", ["ImportError", "ModuleNotFoundError"])
def test_a_package_that_only_one_version_needs_is_not_announced(exception: str) -> None:
    base, head = (
        documented("", X, ParameterRecord(name="size", doc=doc))
        for doc in ("The size. Tuples are not supported.", "The size.")
    )
    accepted = difference("accepted", 1, 2, message="size: no tuples")
    missing = replace(
        accepted,
        outcomes={BASE: Rejected(exception, "size: tuples need views"), HEAD: Passed(b"", 0.0)},
    )

    assert announcement(accepted, base, head) != ""
    assert announcement(missing, base, head) == ""


def test_an_argument_in_the_list_of_all_arguments_is_not_named() -> None:
    base, head = (
        documented(f"Only works for {kind} integer x.", X, ParameterRecord(name="size"))
        for kind in ("positive", "nonnegative")
    )
    message = (
        "Exception encountered when calling Pool.call().\n\n"
        "`size` must be a positive integer{}\n\nArguments received by Pool.call():\n  • x=1"
    )

    refused = difference("exception", 1, 0, message=message.format(", as x is"))
    assert announcement(refused, base, head) != ""
    assert announcement(difference("exception", 1, 0, message=message.format("")), base, head) == ""


def test_a_parameter_that_the_call_omits_is_no_content_of_a_message() -> None:
    size, other = ParameterRecord(name="size"), ParameterRecord(name="boundaries")
    base, head = (
        documented("", X, replace(size, doc=f"If set, {text}."), other)
        for text in ("adapt learns them", "boundaries should not be set and adapt learns them")
    )
    refused = difference("refused", 1, 2, message="pass boundaries, or call adapt")

    assert announcement(refused, base, head) == ""
