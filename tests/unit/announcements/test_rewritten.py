"""Documentation of which few sentences are left announces only what it clearly says."""

from __future__ import annotations

import pytest
from announcement_examples import difference, documented

from ciguard.announcements import ApiDocumentation, announcement
from ciguard.domain.records import ParameterRecord

BASE = "Pools the blocks. Sizes are counted. Blocks may overlap. The rest is cut off."
HEAD = "Reduces windows. Windows are disjoint. Rests count as zeros."


def rewritten(
    sentence: str, *, of: str = "", kept: bool = False
) -> tuple[ApiDocumentation, ApiDocumentation]:
    """Return documentation whose head has a new sentence, of a parameter or of the API."""
    parameters = [ParameterRecord(name=name) for name in ("x", "size")]
    described = [
        ParameterRecord(name=item.name, doc=sentence if item.name == of else "")
        for item in parameters
    ]
    text = BASE if kept else HEAD
    head = text if of else f"{text} {sentence}"
    return documented(BASE, *parameters), documented(head, *described)


@pytest.mark.parametrize(
    ("kind", "sentence", "is_announced"),
    [
        ("dtype", "Rounds to the nearest integer.", False),
        ("dtype", "Returns an array with the dtype of the input.", True),
        ("shape", "Works along each axis.", False),
        ("shape", "Returns an array with the shape of the input.", True),
    ],
)
def test_a_new_sentence_must_name_the_aspect(
    kind: str, sentence: str, *, is_announced: bool
) -> None:
    assert bool(announcement(difference(kind, 1), *rewritten(sentence))) is is_announced
    assert announcement(difference(kind, 1), *rewritten(sentence, kept=True)) != ""


def test_a_sentence_that_is_gone_announces_nothing() -> None:
    new, old = rewritten("Returns an array with the dtype of the input.")

    assert announcement(difference("dtype", 1), old, new) == ""


@pytest.mark.parametrize(
    ("message", "is_announced"),
    [
        ("x is complex, which has no order", True),
        ("x is wrong", False),
        ("x must be pool", False),  # the name of the API
    ],
)
def test_a_rule_must_share_content_with_the_message(message: str, *, is_announced: bool) -> None:
    base, head = rewritten("Must not be complex, like any pool.", of="x")
    refused = difference("refused", 1, 2, message=message)

    assert bool(announcement(refused, base, head)) is is_announced


def test_a_rule_for_the_only_argument_announces_a_refusal() -> None:
    base, head = rewritten("Must have x.ndim == 2.", of="x")

    assert announcement(difference("refused", 1, message="2-D inputs only"), base, head) != ""
    assert announcement(difference("refused", 1, 2, message="2-D inputs only"), base, head) == ""
