"""Tensors that are not plain: sparse, quantised, nested, without memory.

Every function of a library takes a tensor of any layout, and few were written with all of them in
mind. Each row names a function of the library that turns a plain tensor into another one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.domain import CallValue, ListValue, LiteralValue, MemberValue, TensorValue, Value

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping

    from ciguard.values import Mutator, Scope

_ZERO = LiteralValue(0)
_SCALE = LiteralValue(0.5)


def _quantised(dtype: str) -> tuple[str, tuple[Value, ...]]:
    return "torch.quantize_per_tensor", (_SCALE, _ZERO, MemberValue(f"torch.{dtype}"))


_ROWS: Mapping[str, tuple[tuple[str, tuple[Value, ...]], ...]] = {
    "torch": (
        ("torch.Tensor.to_sparse", ()),
        ("torch.Tensor.to_sparse", ()),
        ("torch.Tensor.to_sparse_csr", ()),
        ("torch.Tensor.to_sparse_csc", ()),
        ("torch.Tensor.to_sparse_bsr", (ListValue((LiteralValue(1), LiteralValue(1))),)),
        ("torch.Tensor.to_mkldnn", ()),
        _quantised("quint8"),
        _quantised("qint8"),
        _quantised("qint32"),
        ("torch.Tensor.to", (LiteralValue("meta"),)),
        ("torch.Tensor.conj", ()),
        ("torch.Tensor.requires_grad_", ()),
    ),
}
_NESTED = "torch.nested.nested_tensor"


def layout_mutator(api: str) -> Mutator | None:
    """Return what gives a tensor argument of an API another layout; None if the library has one."""
    rows = _ROWS.get(api.partition(".")[0])
    if rows is None:
        return None
    count = len(rows)

    def mutate(rng: random.Random, scope: Scope, current: Value) -> Value:
        del scope
        if not isinstance(current, TensorValue):
            return current
        place = int(rng.random() * (count + 1))
        if place == count:
            return CallValue(_NESTED, (ListValue((current, current)),))
        function, more = rows[place]
        return CallValue(function, (current, *more))

    return mutate
