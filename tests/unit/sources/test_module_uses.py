from __future__ import annotations

import textwrap
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.sources import read_module


def _uses(source: str, package: str = "") -> list[tuple[str, int]]:
    found = read_module(textwrap.dedent(source), package).uses
    return sorted((use.name, use.line) for use in found)


@pytest.mark.parametrize(
    ("statement", "expression", "name"),
    [
        ("import torch", "torch.abs", "torch.abs"),
        ("import torch.nn.functional", "torch.nn.functional.relu", "torch.nn.functional.relu"),
        ("import torch.nn as nn", "nn.Linear", "torch.nn.Linear"),
        ("from torch import nn", "nn.Linear", "torch.nn.Linear"),
        ("from torch.nn import functional as F", "F.relu", "torch.nn.functional.relu"),
        ("from torch.nn.functional import relu as act", "act", "torch.nn.functional.relu"),
        ("import torch\nF = torch.nn.functional", "F.gelu", "torch.nn.functional.gelu"),
    ],
)
def test_use_is_qualified_by_its_import(statement: str, expression: str, name: str) -> None:
    source = f"{statement}\n\ny = {expression}(1)\n"

    line = source.count("\n")
    assert (name, line) in _uses(source)


def test_parameter_assignment_and_loop_hide_an_import() -> None:
    source = """
        import torch
        from torch.nn import functional as F

        def parameter(torch): return torch.abs(1)
        def assigned():
            F = 3
            return F.relu
        def loop(xs):
            for torch in xs: torch.abs()
        def comprehension(xs):
            return [torch.abs() for torch in xs], torch.sin
        class Holder:
            torch = 1
            def method(self): return torch.cos(1)
        """

    assert _uses(source) == [("torch.cos", 15), ("torch.sin", 12)]


def test_import_inside_a_function_is_local() -> None:
    source = """
        def f():
            import torch as t
            return t.abs(1)
        def g():
            return t.sin(1)
        """

    assert _uses(source) == [("torch.abs", 4)]


def test_first_of_two_imports_of_a_name_counts() -> None:
    source = """
        try:
            import torch
        except ImportError:
            torch = None
        torch.abs(1)
        """

    assert _uses(source) == [("torch.abs", 6)]


def test_base_class_decorator_default_and_value_are_uses() -> None:
    source = """
        import torch
        class Net(torch.nn.Module):
            @torch.no_grad()
            def forward(self, act=torch.relu): return {"a": torch.sin}
        """

    names = {name for name, _ in _uses(source)}

    assert names == {"torch.nn.Module", "torch.no_grad", "torch.relu", "torch.sin"}


def test_annotation_and_attribute_assignment_are_not_uses() -> None:
    source = """
        import torch
        def f(x: torch.Tensor) -> torch.Tensor: ...
        y: torch.dtype = 1
        torch.backends.cudnn.benchmark = True
        """

    assert _uses(source) == []


def test_relative_import_starts_at_the_package() -> None:
    assert _uses("from ..compat import tf\ntf.abs(1)", "src.mine.layers") == [
        ("src.mine.compat.tf.abs", 2)
    ]


def test_use_of_a_call_ends_at_its_last_line() -> None:
    use = read_module("import torch\ntorch.cat(\n    [1],\n    dim=0,\n)\n").uses[0]

    assert (use.line, use.last_line) == (2, 5)


def test_methods_of_unknown_objects_are_separate() -> None:
    found = read_module("import torch\ntorch.abs(1).unsqueeze(0)\nx.permute(1)\n")

    assert {use.name for use in found.methods} == {"unsqueeze", "permute"}
    assert [use.name for use in found.uses] == ["torch.abs"]


@pytest.mark.parametrize(
    "source",
    [
        "def f(:",
        "x = \0",
        b"# coding: no-such\nx = 1",
        b"\xff\xfe",
        "(" * 5_000,
        "x = " + "-" * 100_000 + "1",
    ],
)
def test_read_module_of_invalid_source_raises_with_a_reason(source: str | bytes) -> None:
    with pytest.raises(ValueError, match=r"\w+Error"):
        read_module(source)


def test_read_module_accepts_long_chains() -> None:
    deep = "import torch\ny = " + " + ".join(["torch.abs(1)"] * 400)

    assert len(read_module(deep).uses) == 400


def test_read_module_uses_the_declared_encoding() -> None:
    source = "# -*- coding: latin-1 -*-\nimport torch\nx = 'é'; torch.abs(1)\n".encode("latin-1")

    assert [use.name for use in read_module(source).uses] == ["torch.abs"]


@given(st.text() | st.binary())
def test_read_module_of_any_text_returns_or_raises(source: str | bytes) -> None:
    try:
        found = read_module(source)
    except ValueError as error:
        assert str(error)  # noqa: PT017 - both answers are right
    else:
        assert all(use.line >= 1 for use in found.uses)


@dataclass(frozen=True)
class _Style:
    statement: str
    prefix: str


_STYLES = (
    _Style("import torch", "torch.nn.functional."),
    _Style("import torch.nn.functional as F", "F."),
    _Style("from torch.nn import functional", "functional."),
    _Style("from torch import nn", "nn.functional."),
)
_APIS = ("relu", "gelu", "conv2d", "softmax", "pad")
_FRAMES = (
    "{use}",
    "def f{n}(x):\n    return {use}",
    "class C{n}:\n    def m(self):\n        return [{use} for _ in x]",
    "async def g{n}(x, *, k=None):\n    with x as y:\n        return lambda z: {use}",
    "if x:\n    try:\n        y{n} = {use}\n    finally:\n        pass",
)
_DECOYS = (
    "# {prefix}elu(1)",
    "'''{prefix}elu(1)'''",
    "def d{n}({root}):\n    return {prefix}elu(1)",
    "def e{n}():\n    {root} = 1\n    return {prefix}elu(1)",
    "other{n}.{prefix}elu(1)",
)


@given(
    style=st.sampled_from(_STYLES),
    planted=st.lists(st.tuples(st.sampled_from(_APIS), st.sampled_from(_FRAMES)), max_size=8),
    decoys=st.lists(st.sampled_from(_DECOYS), max_size=5),
    order=st.randoms(use_true_random=False),
)
def test_read_module_finds_exactly_the_planted_uses(
    style: _Style,
    planted: list[tuple[str, str]],
    decoys: list[str],
    order: object,
) -> None:
    root = style.prefix.partition(".")[0]
    blocks = [
        (frame.format(n=n, use=f"{style.prefix}{api}(x)"), api)
        for n, (api, frame) in enumerate(planted)
    ]
    blocks += [(d.format(n=n, prefix=style.prefix, root=root), "") for n, d in enumerate(decoys)]
    order.shuffle(blocks)  # type: ignore[attr-defined]
    source, expected = style.statement + "\n", []
    for block, api in blocks:
        if api:
            at = next(n for n, line in enumerate(block.split("\n")) if style.prefix in line)
            expected.append((f"torch.nn.functional.{api}", source.count("\n") + at + 1))
        source += block + "\n"

    assert _uses(source) == sorted(expected)
