"""Documentation that changed without the behaviour, and APIs that were removed."""

from __future__ import annotations

import pytest
from announcement_examples import API, documented

from ciguard.announcements import (
    ApiDocumentation,
    Release,
    documentation_alone,
    removal,
    removed_apis,
)
from ciguard.domain.documentation import DocumentationCheck
from ciguard.domain.records import ParameterRecord

RELEASE = Release(library="torch", base="2.0", head="2.1")
X = ParameterRecord(name="x")


def sized(doc: str, **changes: object) -> ApiDocumentation:
    return documented("", X, ParameterRecord(name="size", doc=doc, **changes))  # type: ignore[arg-type]


def test_a_new_requirement_that_no_call_felt_is_reported() -> None:
    (finding,) = documentation_alone(RELEASE, sized("Size."), sized("Must be positive."))

    assert finding.check is DocumentationCheck.CHANGED_ALONE
    assert (finding.library, finding.api, finding.parameter) == ("torch", API, "size")
    assert finding.message == (
        "changed in the documentation from 2.0 to 2.1, but no call of this run behaved "
        "differently: the documentation of `size` now also says “Must be positive”"
    )
    assert finding.evidence == "Must be positive"


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (sized("", default="1"), sized("", default="2")),
        (documented("Pools."), documented("Pools. Now faster.")),
        (sized("", default="Mode.FAST"), sized("", default="Mode.SLOW")),
        (documented("Pools."), documented("Pools.\n\n.. versionchanged:: 2.1\n   Uses blocks.")),
    ],
)
def test_defaults_and_sentences_about_change_are_reported(
    base: ApiDocumentation, head: ApiDocumentation
) -> None:
    assert len(list(documentation_alone(RELEASE, base, head))) == 1


@pytest.mark.parametrize(
    ("base", "head"),
    [
        (documented("Pools x."), documented("Pools the tensor x.")),
        (sized("Size."), sized("The size of each block.")),
        (
            documented("", X),
            documented("", X, ParameterRecord(name="new", doc="Must be positive.")),
        ),
        (sized(""), sized("Must be positive.")),  # documented for the first time
        (  # renamed
            sized("Must be positive."),
            documented("", X, ParameterRecord(name="width", doc="Must be positive.")),
        ),
        (sized("A 3-D or 4-D tensor of images."), sized("Images. Must be 3D or 4D.")),
        (
            sized("4D tensor of shape (n, h, w, c) or 3D tensor of shape (h, w, c)."),
            sized("Images. Must be 3D or 4D."),
        ),
        (
            sized("Mode of the result."),
            sized('Mode. For other modes ("multi", "count"), the result has two axes.'),
        ),
    ],
)
def test_other_edits_are_not_reported(base: ApiDocumentation, head: ApiDocumentation) -> None:
    assert list(documentation_alone(RELEASE, base, head)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [("lib.ops.Mode.FAST", "<Mode.FAST: 0>"), ("<Mode.FAST: 0>", "<Mode.FAST: 1>")],
)
def test_a_member_of_an_enumeration_is_the_same_default_however_it_is_written(
    before: str, after: str
) -> None:
    base, head = sized("", default=before), sized("", default=after)

    assert list(documentation_alone(RELEASE, base, head)) == []


@pytest.mark.parametrize(
    ("sentence", "is_reported"),
    [
        ("The starting value is inclusive.", False),
        ("The changed elements come first.", False),
        ("Starting from version 2.1, the value is inclusive.", True),
        ("The order has changed.", True),
    ],
)
def test_only_a_sentence_about_versions_says_that_the_behaviour_changed(
    sentence: str, *, is_reported: bool
) -> None:
    found = [*documentation_alone(RELEASE, documented("Pools."), documented(f"Pools. {sentence}"))]

    assert bool(found) is is_reported


def test_documentation_that_was_rewritten_says_no_more_than_its_defaults() -> None:
    before = "Pools the blocks. Sizes are counted. Blocks may overlap. The rest is cut off."
    after = "Now for all arrays. Reduces windows. Windows are disjoint. Rests count as zeros."
    base = documented(before, X, ParameterRecord(name="size", doc="Must be positive.", default="1"))
    head = documented(after, X, ParameterRecord(name="size", doc="Width.", default="2"))

    (finding,) = documentation_alone(RELEASE, base, head)

    assert "default of `size` changed from 1 to 2" in finding.message


def test_an_api_is_removed_if_the_head_has_none_of_its_names() -> None:
    names = ("a.f", "a.g", "a.h")
    base = {name: documented(api=name).record for name in names}
    base["a.h"] = documented(api="a.h", aliases=("b.h",)).record
    head = {
        "b.h": documented(api="b.h").record,
        "c.f": documented(api="c.f", aliases=("a.f",)).record,
    }

    assert removed_apis(base, head) == ["a.g"]


def test_a_removal_quotes_the_deprecation() -> None:
    announced = removal(RELEASE, documented("Pools.\n\n.. deprecated:: 2.0\n   Use other."))

    assert announced.check is DocumentationCheck.REMOVED
    assert announced.message == (
        "removed between 2.0 and 2.1; the base already declares the API deprecated: “2.0 Use other”"
    )
    assert removal(RELEASE, documented("Pools.")).message == (
        "removed between 2.0 and 2.1, and was not deprecated before"
    )
