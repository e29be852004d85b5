"""Parameters of torch's APIs whose docstrings leave them out, or refer to another API."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from ciguard.libraries.torch.in_target import catalogue


def clamp() -> None:
    """clamp(input, min=None) -> Tensor

    Args:
        input (Tensor): the input tensor.
        min (Number): lower bound.
    """


@pytest.fixture
def made() -> Any:
    described = object.__new__(catalogue._Catalogue)
    described.torch = SimpleNamespace(clamp=clamp)
    return described


@pytest.mark.parametrize(
    "doc",
    [
        "clip(input, min=None) -> Tensor\n\nAlias for :func:`torch.clamp`.",
        "\nclip_(min=None) -> Tensor\n\nSee :func:`torch.clamp`",
        "In-place version of :meth:`~clamp`",
    ],
)
def test_docstring_of_an_alias_leads_to_the_one_of_its_function(made: Any, doc: str) -> None:
    assert made.referenced_doc(doc) == clamp.__doc__


@pytest.mark.parametrize(
    "doc", ["", "Clamps. See :func:`torch.clamp`.", "Alias for :func:`torch.none_such`"]
)
def test_other_docstrings_lead_nowhere(made: Any, doc: str) -> None:
    assert made.referenced_doc(doc) == ""


@pytest.mark.parametrize(
    ("names", "required", "is_incomplete"),
    [([], [1, 2], True), (["other"], [1, 2], False), ([], [0, 1], False), ([], [], False)],
)
def test_signature_with_fewer_parameters_than_every_overload_requires_is_incomplete(
    names: list[str], required: list[int], *, is_incomplete: bool
) -> None:
    overloads = [[{"name": str(index), "required": True} for index in range(n)] for n in required]

    found = catalogue._lacks_required([{"name": name} for name in names], overloads)

    assert found is is_incomplete


def test_schema_of_a_method_applies_by_position_where_the_docstring_has_other_names() -> None:
    documented = [{"name": "indices", "kind": "positional_or_keyword", "required": True}]
    native = {
        "self": {"name": "self", "kind": "positional_or_keyword", "required": True},
        "index": {"name": "index", "kind": "positional_or_keyword", "required": True},
    }

    positions = catalogue._by_position("torch.Tensor.take", documented, native)

    assert positions == {"indices": "index"}


def test_schema_applies_by_name_if_it_has_another_number_of_parameters() -> None:
    documented = [{"name": "shape", "kind": "var_positional", "required": False}]
    native = {
        "self": {"name": "self", "kind": "positional_or_keyword", "required": True},
        "size": {"name": "size", "kind": "positional_or_keyword", "required": True},
    }

    assert catalogue._by_position("torch.Tensor.view", documented, native) == {}


@pytest.mark.parametrize(
    ("doc_type", "is_required"), [("Tensor, optional", False), ("Tensor", True)]
)
def test_keyword_that_is_described_as_optional_is_not_required(
    doc_type: str, *, is_required: bool
) -> None:
    out = {"name": "out", "kind": "keyword_only", "required": True, "doc_type": doc_type}

    catalogue._make_optional([out])

    assert out["required"] is is_required
