"""Forms: the same tensor kept another way, as its library can: strided, sparse, quantised, a view.

Most kernels are written for dense tensors whose elements lie side by side. What else a library
accepts as a tensor goes through code that is reached, and tested, less.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from operator import mul
from typing import TYPE_CHECKING, TypeAlias

from ciguard.domain import (
    CallValue,
    Explicit,
    ListValue,
    LiteralValue,
    MemberValue,
    TensorValue,
    Value,
)
from ciguard.domain import dtypes as element_types

if TYPE_CHECKING:
    import random
    from collections.abc import Mapping, Sequence

    from ciguard.values import Mutator, Scope

Make: TypeAlias = Callable[[TensorValue], Value]

_NUMBERS = frozenset({*element_types.NUMERIC, "bool"})
_REAL = frozenset({"float32", "float64"})
_SPARSE = _NUMBERS - {"uint16", "uint32", "uint64"}
"""What torch keeps sparse: it counts no elements of the wide unsigned types."""
_ANY_RANK = (0, 5)


@dataclass(frozen=True, slots=True)
class Form:
    """One way of keeping a tensor."""

    name: str
    make: Make
    """From the dense tensor to the value that has its shape in this form."""
    dtypes: frozenset[str] = _NUMBERS
    ranks: tuple[int, int] = _ANY_RANK

    def fits(self, tensor: TensorValue) -> bool:
        """Whether the library keeps such a tensor so; explicit elements stay where they are."""
        least, most = self.ranks
        return (
            tensor.dtype in self.dtypes
            and least <= len(tensor.shape) <= most
            and not isinstance(tensor.fill, Explicit)
        )


def _through(
    function: str, *arguments: Value, keywords: tuple[tuple[str, Value], ...] = ()
) -> Make:
    return lambda tensor: CallValue(function, (tensor, *arguments), keywords)


def _ints(numbers: Sequence[int]) -> ListValue:
    return ListValue(tuple(map(LiteralValue, numbers)))


def _transposed(tensor: TensorValue) -> Value:
    *rest, rows, columns = tensor.shape
    turned = TensorValue(tensor.dtype, (*rest, columns, rows), tensor.fill)
    return CallValue("torch.Tensor.transpose", (turned, LiteralValue(-2), LiteralValue(-1)))


def _stepped(tensor: TensorValue) -> Value:
    """Return every other element of a tensor that is twice as long in its last dimension."""
    doubled = (*tensor.shape[:-1], 2 * tensor.shape[-1])
    whole = TensorValue(tensor.dtype, doubled, tensor.fill)
    _, *outer = accumulate((1, *doubled[:0:-1]), mul)
    return CallValue("torch.as_strided", (whole, _ints(tensor.shape), _ints((*outer[::-1], 2))))


def _expanded(tensor: TensorValue) -> Value:
    """Return a tensor whose first dimension repeats one slice of memory."""
    single = TensorValue(tensor.dtype, (1, *tensor.shape[1:]), tensor.fill)
    return CallValue("torch.Tensor.expand", (single, _ints(tensor.shape)))


def _quantised(dtype: str) -> Make:
    kind = MemberValue(f"torch.{dtype}")
    return _through("torch.quantize_per_tensor", LiteralValue(0.1), LiteralValue(0), kind)


_FORMS: Mapping[str, tuple[Form, ...]] = {
    "torch": (
        Form("transposed", _transposed, ranks=(2, 5)),
        Form("stepped", _stepped, ranks=(1, 5)),
        Form("expanded", _expanded, ranks=(1, 5)),
        Form("conjugated", _through("torch.conj"), frozenset(element_types.COMPLEX)),
        Form("tracked", _through("torch.Tensor.requires_grad_"), _REAL),
        Form("sparse", _through("torch.Tensor.to_sparse"), _SPARSE, (1, 5)),
        Form("compressed rows", _through("torch.Tensor.to_sparse_csr"), _SPARSE, (2, 2)),
        Form("compressed columns", _through("torch.Tensor.to_sparse_csc"), _SPARSE, (2, 2)),
        Form("quantised", _quantised("qint8"), frozenset({"float32"})),
        Form("quantised, unsigned", _quantised("quint8"), frozenset({"float32"})),
        Form("quantised, wide", _quantised("qint32"), frozenset({"float32"})),
        Form("onednn", _through("torch.Tensor.to_mkldnn"), frozenset({"float32"}), (1, 5)),
    ),
    "tensorflow": (
        Form("variable", _through("tensorflow.Variable")),
        Form("sparse", _through("tensorflow.sparse.from_dense"), ranks=(1, 5)),
        Form("ragged", _through("tensorflow.RaggedTensor.from_tensor"), ranks=(2, 5)),
        *(
            Form(
                f"quantised {wide}",
                _through("tensorflow.bitcast", MemberValue(f"tensorflow.q{wide}")),
                frozenset({wide}),
            )
            for wide in ("int8", "uint8", "int16", "int32")
        ),
    ),
}


def forms_of(library: str) -> tuple[Form, ...]:
    """Return the forms of a library's tensors; none for one that keeps them in one way only."""
    return _FORMS.get(library, ())


def reforming(library: str) -> Mutator | None:
    """Return what gives a tensor another form; None for a library that has only one."""
    forms = forms_of(library)
    return partial(_reformed, forms=forms) if forms else None


def _reformed(
    rng: random.Random, scope: Scope, current: Value, *, forms: tuple[Form, ...]
) -> Value:
    del scope
    if not isinstance(current, TensorValue):
        return current
    fitting = [form for form in forms if form.fits(current)]
    return fitting[int(rng.random() * len(fitting))].make(current) if fitting else current
