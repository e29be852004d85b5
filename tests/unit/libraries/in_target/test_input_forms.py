"""Parsing of the shapes of a layer's input in torch's docstrings."""

from __future__ import annotations

import pytest

from ciguard.libraries.torch.in_target.catalogue import input_forms

CONVOLUTION = r"""Applies a convolution.

    Shape:
        - Input: :math:`(N, C_{in}, L_{in})` or :math:`(C_{in}, L_{in})`
        - Output: :math:`(N, C_{out}, L_{out})` or :math:`(C_{out}, L_{out})`, where
"""


@pytest.mark.parametrize(
    ("doc", "forms"),
    [
        (CONVOLUTION, ["(N, C_{in}, L_{in})", "(C_{in}, L_{in})"]),
        (
            "    Shape:\n        - Input: :math:`(N, C)` where :math:`(N)` is the batch\n",
            ["(N, C)"],
        ),
        ("    Shape:\n        - Target: :math:`(N)`\n", []),
        ("- Input: :math:`(N)` without its section\n", []),
        ("", []),
    ],
)
def test_the_shapes_of_the_input_are_parsed(doc: str, forms: list[str]) -> None:
    assert input_forms(doc) == forms
