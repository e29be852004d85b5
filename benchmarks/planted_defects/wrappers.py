"""How each kind of defect is made: a function around the one that is right."""

from __future__ import annotations

import ctypes
import functools
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Callable  # noqa: UP035 - Python 3.9 in the target

import torch

from planted_defects.kinds import Argument, Kind

if TYPE_CHECKING:
    from planted_defects.choice import Defect

_LARGER = 1.001
_STEEPER = 1.5
_LEAKED_BYTES = 4096
_NEIGHBOURS = {
    torch.float32: torch.float64,
    torch.float64: torch.float32,
    torch.int64: torch.int32,
    torch.int32: torch.int64,
    torch.bool: torch.uint8,
}
_REAL = (torch.float16, torch.bfloat16, torch.float32, torch.float64)
"""The floating-point types that every operation knows, unlike those of eight bits."""
KEPT: list[bytearray] = []
"""What leaks."""

Function = Callable[..., Any]
Change = Callable[[Any], Any]


def planted(right: Function, defect: Defect) -> Function:
    """Return a function that is right but for one defect; its name and signature stay."""
    wrong = _MAKERS[defect.kind](right, defect)
    return functools.wraps(right)(wrong)


def _changing(change: Change) -> Callable[[Function, Defect], Function]:
    """Return the maker of functions whose first returned tensor is changed."""

    def make(right: Function, defect: Defect) -> Function:
        del defect

        def wrong(*args: Any, **kwargs: Any) -> Any:
            returned = right(*args, **kwargs)
            return returned if kwargs.get("out") is not None else _changed(returned, change)

        return wrong

    return make


def _changed(returned: Any, change: Change) -> Any:
    if _is_plain(returned):
        return change(returned)
    if isinstance(returned, tuple) and returned and _is_plain(returned[0]):
        return type(returned)((change(returned[0]), *returned[1:]))
    return returned


def _is_plain(value: Any) -> bool:
    """Whether this is a tensor of numbers side by side, or with strides, in this memory."""
    return (
        isinstance(value, torch.Tensor)
        and value.layout is torch.strided
        and not (value.is_meta or value.is_quantized or value.is_nested)
    )


def _larger(tensor: Any) -> Any:
    return tensor * _LARGER if tensor.dtype in _REAL else tensor


def _of_neighbouring_type(tensor: Any) -> Any:
    return tensor.to(_NEIGHBOURS.get(tensor.dtype, tensor.dtype))


def _shorter(tensor: Any) -> Any:
    if not tensor.dim():
        return tensor.reshape(1)
    return tensor[..., :-1].contiguous()


def _without_nan(tensor: Any) -> Any:
    return tensor.masked_fill(tensor.isnan(), 0) if tensor.dtype in _REAL else tensor


class _Steeper(torch.autograd.Function):  # type: ignore[misc,unused-ignore] # torch is Any here
    """Hands its argument on; the gradient is too large on its way back."""

    generate_vmap_rule = True

    @staticmethod
    def forward(tensor: Any) -> Any:
        return tensor.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
        """Nothing is kept."""

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        del ctx
        return gradient * _STEEPER

    @staticmethod
    def jvp(ctx: Any, tangent: Any) -> Any:
        del ctx
        return tangent.clone()


def _with_steeper_gradient(tensor: Any) -> Any:
    return _Steeper.apply(tensor) if tensor.requires_grad else tensor


def _with(args: tuple[Any, ...], kwargs: dict[str, Any], which: Argument) -> Any:
    """Return the arguments with one of them replaced; None where it is not given."""
    if which.name in kwargs:
        given = kwargs[which.name]
        return args, {**kwargs, which.name: _instead(given, which)}
    if 0 <= which.place < len(args):
        replaced = list(args)
        replaced[which.place] = _instead(args[which.place], which)
        return tuple(replaced), kwargs
    return None


def _instead(given: Any, which: Argument) -> Any:
    if isinstance(given, torch.Tensor):
        return torch.full_like(given, which.instead)
    return which.instead


def _ignoring(right: Function, defect: Defect) -> Function:
    which = defect.plantable.ignored
    if which is None:
        raise ValueError(defect)

    def wrong(*args: Any, **kwargs: Any) -> Any:
        given, named = _with(args, kwargs, which) or (args, kwargs)
        return right(*given, **named)

    return wrong


def _unchecked(right: Function, defect: Defect) -> Function:
    which = defect.plantable.bounded
    if which is None:
        raise ValueError(defect)

    def wrong(*args: Any, **kwargs: Any) -> Any:
        try:
            return right(*args, **kwargs)
        except (IndexError, RuntimeError):
            inside = _with(args, kwargs, which)
            # What a failed call leaves of `out` may say that it is larger than its memory.
            if inside is None or kwargs.get("out") is not None:
                raise
            with suppress(Exception):  # it was another argument: the first error counts
                return right(*inside[0], **inside[1])
            raise

    return wrong


def _blind_to_strides(right: Function, defect: Defect) -> Function:
    del defect

    def wrong(*args: Any, **kwargs: Any) -> Any:
        misread = list(args)
        for place, value in enumerate(args):
            if _is_plain(value):
                misread[place] = _side_by_side(value)
                break
        return right(*misread, **kwargs)

    return wrong


def _side_by_side(tensor: Any) -> Any:
    """Return as many elements as the tensor has from where it begins, whatever its strides."""
    if tensor.is_contiguous() or _is_wrapped(tensor):
        return tensor
    room = tensor.untyped_storage().nbytes() // tensor.element_size() - tensor.storage_offset()
    if tensor.numel() > room:
        return tensor
    strides, step = [], 1
    for size in reversed(tensor.shape):
        strides.append(step)
        step *= max(size, 1)
    return torch.as_strided(tensor, tensor.shape, strides[::-1])


def _is_wrapped(tensor: Any) -> bool:
    """Whether a transform of `torch.func` is at work: the elements are not to be touched."""
    return bool(torch._C._functorch.is_functorch_wrapped_tensor(tensor))  # noqa: SLF001 - no public query


def _corrupting(right: Function, defect: Defect) -> Function:
    del defect

    def wrong(*args: Any, **kwargs: Any) -> Any:
        returned = right(*args, **kwargs)
        for value in (*args, *kwargs.values()):
            if value is not returned and _is_plain(value) and value.dtype in _REAL:
                _add_to_first(value)
                break
        return returned

    return wrong


def _add_to_first(tensor: Any) -> None:
    if tensor.numel() and not _is_wrapped(tensor):
        with torch.no_grad():
            tensor.detach()[(0,) * tensor.dim()] += 1


def _leaking(right: Function, defect: Defect) -> Function:
    del defect

    def wrong(*args: Any, **kwargs: Any) -> Any:
        KEPT.append(bytearray(_LEAKED_BYTES))
        return right(*args, **kwargs)

    return wrong


def _slow(right: Function, defect: Defect) -> Function:
    del defect

    def wrong(*args: Any, **kwargs: Any) -> Any:
        returned = right(*args, **kwargs)
        if kwargs.get("out") is None:
            for _ in range(2):
                # Copies: some calls change what they are given.
                right(*map(_copied, args), **{key: _copied(value) for key, value in kwargs.items()})
        return returned

    return wrong


def _copied(value: Any) -> Any:
    return value.clone() if _is_plain(value) else value


def _raising_another(right: Function, defect: Defect) -> Function:
    del defect

    def wrong(*args: Any, **kwargs: Any) -> Any:
        try:
            return right(*args, **kwargs)
        except RuntimeError as error:
            raise ValueError(str(error)) from error
        except Exception as error:
            raise RuntimeError(str(error)) from error

    return wrong


def _crashing(right: Function, defect: Defect) -> Function:
    is_edge = _EDGES[defect.edge]

    def wrong(*args: Any, **kwargs: Any) -> Any:
        if any(_is_plain(value) and is_edge(value) for value in (*args, *kwargs.values())):
            ctypes.string_at(0)
        return right(*args, **kwargs)

    return wrong


_EDGES: dict[str, Callable[[Any], bool]] = {
    "no elements": lambda tensor: not tensor.numel(),
    "no dimensions": lambda tensor: not tensor.dim(),
    "infinity": lambda tensor: tensor.dtype in _REAL and bool(tensor.isinf().any()),
}
_MAKERS: dict[Kind, Callable[[Function, Defect], Function]] = {
    Kind.STRIDES: _blind_to_strides,
    Kind.IGNORED: _ignoring,
    Kind.BOUNDS: _unchecked,
    Kind.VALUE: _changing(_larger),
    Kind.NAN: _changing(_without_nan),
    Kind.DTYPE: _changing(_of_neighbouring_type),
    Kind.SHAPE: _changing(_shorter),
    Kind.GRADIENT: _changing(_with_steeper_gradient),
    Kind.CORRUPTION: _corrupting,
    Kind.LEAK: _leaking,
    Kind.SLOW: _slow,
    Kind.EXCEPTION: _raising_another,
    Kind.CRASH: _crashing,
}
