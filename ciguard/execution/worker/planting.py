"""Known defects, planted around the API of one case.

A case `[api, PLANTED, [[kind, detail], case]]` runs `case` with a defect in its API, as
`ciguard.domain.detection.DefectKind` describes. Nothing of the library is changed: only what this
case and its twin resolve by the API's name.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager
from typing import Any, Callable, Iterator

import numpy as np

PLANTED = "planted"
"""Second member of a case with a planted defect."""

_FACTOR = 1.001
_GRADIENT_EXCESS = 0.5
_NEIGHBOURS = {
    "float32": "float64",
    "float64": "float32",
    "int64": "int32",
    "int32": "int64",
    "bool": "uint8",
}
_LEAKED_BYTES = 4096
_LEAKED: list[bytearray] = []
_FLOATS = ("float16", "bfloat16", "float32", "float64")

Function = Callable[..., Any]


_NEED_ALIASES = ("changed arguments",)
_NEED_GRADIENTS = ("gradients", *_NEED_ALIASES)


class UnplantableError(Exception):
    """The defect cannot be planted with this library."""


@contextmanager
def planted(builder: Any, adapter: Any, api: str, defect: list[str]) -> Iterator[None]:
    """Plant a defect into an API until the end of the context.

    Args:
        builder: builder of the case's objects, which resolves the API.
        adapter: adapter of the library.
        api: qualified name of a function or a layer.
        defect: kind of the defect, and its detail: the name of the ignored argument, or the edge
            that crashes.

    Raises:
        UnplantableError: if the defect needs mutable tensors, and the library has none.
        NotImplementedError: if the defect needs gradients, and the library has none.
    """
    kind, detail = defect
    make = _MAKERS[kind]
    if kind in _NEED_ALIASES and not adapter.mutable:
        raise UnplantableError
    if kind in _NEED_GRADIENTS:
        adapter.without_gradient(adapter.tensor(np.zeros(1, "float32"), "float32"))

    def wrap(right: Function) -> Function:
        return make(right, detail, adapter)

    def replace(member: Any) -> Any:
        if not isinstance(member, type):
            return wrap(member)

        def construct(*args: Any, **kwargs: Any) -> Any:
            return PlantedLayer(member(*args, **kwargs), wrap)

        # Most of what a layer rejects is rejected when it is constructed.
        if kind == "exceptions":
            return wrap(construct)
        return _constructing_anyway(construct, wrap) if kind == "missing checks" else construct

    with builder.replaced(api, replace):
        yield


class PlantedLayer:
    """A layer whose call has a defect; everything else is the layer's."""

    def __init__(self, layer: Any, wrap: Callable[[Function], Function]) -> None:
        self._layer = layer
        self._call = wrap(layer)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the layer."""
        return self._call(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._layer, name)


Maker = Callable[[Function, str, Any], Function]
Change = Callable[[Any, str, Any], Any]


def _changing(change: Change) -> Maker:
    """Return the maker of functions whose first resulting tensor is changed."""

    def make(right: Function, detail: str, adapter: Any) -> Function:
        del detail

        def wrong(*args: Any, **kwargs: Any) -> Any:
            result = right(*args, **kwargs)
            if kwargs.get("out") is not None:
                return result
            if dtype := _dtype(result, adapter):
                return change(result, dtype, adapter)
            first = result[0] if isinstance(result, (tuple, list)) and result else None
            if dtype := _dtype(first, adapter):
                return _with_first(result, change(first, dtype, adapter))
            return result

        return wrong

    return make


def _with_first(items: Any, first: Any) -> Any:
    """Return a list or a tuple, also one with names, whose first item is replaced."""
    make = getattr(type(items), "_make", type(items))
    return make((first, *items[1:]))


def _dtype(value: Any, adapter: Any) -> str:
    """Return the common name of a readable tensor's dtype; empty for anything else."""
    if isinstance(value, (bool, int, float, complex, str, bytes, type(None))):
        return ""
    read = adapter.read(value)
    return str(read["dtype"]) if read is not None and "array" in read else ""


def _larger(tensor: Any, dtype: str, adapter: Any) -> Any:
    del adapter
    return tensor * _FACTOR if dtype in _FLOATS else tensor


def _of_neighbouring_dtype(tensor: Any, dtype: str, adapter: Any) -> Any:
    neighbour = _NEIGHBOURS.get(dtype)
    if neighbour is None:
        return tensor
    return adapter.tensor(adapter.read(tensor)["array"].astype(neighbour), neighbour)


def _shorter(tensor: Any, dtype: str, adapter: Any) -> Any:
    del dtype, adapter
    return tensor[..., :-1] if len(tensor.shape) else tensor[None]


def _without_nan(tensor: Any, dtype: str, adapter: Any) -> Any:
    if dtype not in _FLOATS:
        return tensor
    array = adapter.read(tensor)["array"]
    if not np.isnan(array).any():
        return tensor  # it keeps its gradient
    zeros = np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf)
    return adapter.tensor(np.asarray(zeros), dtype)  # numpy returns a number for no axes


def _steeper(tensor: Any, dtype: str, adapter: Any) -> Any:
    if dtype not in _FLOATS or not np.isfinite(adapter.read(tensor)["array"]).all():
        return tensor
    return tensor + (tensor - adapter.without_gradient(tensor)) * _GRADIENT_EXCESS


def _changing_argument(right: Function, detail: str, adapter: Any) -> Function:
    del detail

    def wrong(*args: Any, **kwargs: Any) -> Any:
        result = right(*args, **kwargs)
        for argument in (*args, *kwargs.values()):
            if _dtype(argument, adapter) in _FLOATS and 0 not in argument.shape:
                adapter.without_gradient(argument)[(0,) * len(argument.shape)] += 1
                break
        return result

    return wrong


def _raising_another(right: Function, detail: str, adapter: Any) -> Function:
    del detail, adapter

    def wrong(*args: Any, **kwargs: Any) -> Any:
        try:
            return right(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever the library raises; the defect
            other = ValueError if isinstance(error, RuntimeError) else RuntimeError
            raise other(str(error)) from None

    return wrong


def _accepting(right: Function, detail: str, adapter: Any) -> Function:
    del detail

    def wrong(*args: Any, **kwargs: Any) -> Any:
        try:
            return right(*args, **kwargs)
        except Exception:  # noqa: BLE001 - whatever the library raises; this is the defect
            return adapter.tensor(np.zeros(1, "float32"), "float32")

    return wrong


def _constructing_anyway(construct: Function, wrap: Callable[[Function], Function]) -> Function:
    """Return a constructor whose layer accepts calls although its arguments are rejected."""

    def wrong(*args: Any, **kwargs: Any) -> Any:
        try:
            return construct(*args, **kwargs)
        except Exception as error:  # noqa: BLE001 - whatever the library raises; this is the defect
            rejection = error

        def reject(*args: Any, **kwargs: Any) -> Any:
            del args, kwargs
            raise rejection

        return wrap(reject)

    return wrong


def _ignoring(right: Function, detail: str, adapter: Any) -> Function:
    del adapter

    def wrong(*args: Any, **kwargs: Any) -> Any:
        return right(*args, **{name: value for name, value in kwargs.items() if name != detail})

    return wrong


def _crashing(right: Function, detail: str, adapter: Any) -> Function:
    def wrong(*args: Any, **kwargs: Any) -> Any:
        if any(_is_at_edge(argument, detail, adapter) for argument in (*args, *kwargs.values())):
            ctypes.string_at(0)
        return right(*args, **kwargs)

    return wrong


def _is_at_edge(argument: Any, edge: str, adapter: Any) -> bool:
    dtype = _dtype(argument, adapter)
    if not dtype:
        return False
    if edge == "no elements":
        return 0 in argument.shape
    if edge == "no axes":
        return not len(argument.shape)
    return dtype in _FLOATS and bool(np.isinf(adapter.read(argument)["array"]).any())


def _computing_thrice(right: Function, detail: str, adapter: Any) -> Function:
    del detail, adapter

    def wrong(*args: Any, **kwargs: Any) -> Any:
        for _ in range(2):
            right(*args, **kwargs)
        return right(*args, **kwargs)

    return wrong


def _leaking(right: Function, detail: str, adapter: Any) -> Function:
    del detail, adapter

    def wrong(*args: Any, **kwargs: Any) -> Any:
        _LEAKED.append(bytearray(_LEAKED_BYTES))
        return right(*args, **kwargs)

    return wrong


_MAKERS: dict[str, Maker] = {
    "values": _changing(_larger),
    "dtypes": _changing(_of_neighbouring_dtype),
    "shapes": _changing(_shorter),
    "NaN": _changing(_without_nan),
    "gradients": _changing(_steeper),
    "changed arguments": _changing_argument,
    "exceptions": _raising_another,
    "missing checks": _accepting,
    "ignored arguments": _ignoring,
    "crashes": _crashing,
    "slowdowns": _computing_thrice,
    "leaks": _leaking,
}
