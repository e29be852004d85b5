"""PyTorch's ways to execute a function other than eagerly."""

from __future__ import annotations

import contextlib
import importlib
import re
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_INEXPRESSIBLE = frozenset({"Unsupported", "UserError"})
"""Classes of `torch._dynamo.exc`."""
_NOT_TRACED = re.compile(
    r"[Tt]rac(?:e|er|ed|ing)\b"
    r"|Cannot insert a Tensor that requires grad"
    r"|Only tensors"
    r"|data-dependent"
    r"|but got a Tensor"
    r"|not supported by (?:export|the ONNX|fake tensor)"
)


class NotExpressedError(Exception):
    """A call was refused while it was exported or traced, so that there is nothing to run."""


def modes() -> dict[str, Callable[[Callable[..., Any], list[Any]], Any]]:
    """Return what runs a function of tensors, by mode."""
    return {
        "aot_eager": partial(_compiled, backend="aot_eager"),
        "compile": partial(_compiled, backend="inductor"),
        "export": _exported,
        "trace": _traced,
    }


def _compiled(function: Callable[..., Any], tensors: list[Any], backend: str) -> Any:
    torch = importlib.import_module("torch")
    importlib.import_module("torch._dynamo").reset()  # it keeps all that it compiled
    # Whole: else what cannot be compiled runs eagerly, and is compared with itself.
    return torch.compile(function, backend=backend, fullgraph=True)(*tensors)


def _exported(function: Callable[..., Any], tensors: list[Any]) -> Any:
    torch = importlib.import_module("torch")
    importlib.import_module("torch._dynamo").reset()

    class Module(torch.nn.Module):  # type: ignore[misc,name-defined]  # of no stub
        def __init__(self) -> None:
            super().__init__()
            self.call = function  # a layer's weights become the module's

        def forward(self, *inputs: Any) -> Any:
            return self.call(*inputs)

    with _expressing():
        program = torch.export.export(Module(), tuple(tensors))
    return program.module()(*tensors)


def _traced(function: Callable[..., Any], tensors: list[Any]) -> Any:
    torch = importlib.import_module("torch")
    # Tracing makes the call, and a call may change its arguments.
    copies = tuple([tensor.clone() for tensor in tensors])
    with _expressing():
        traced = torch.jit.trace(function, copies, check_trace=False)
    return traced(*tensors)


@contextlib.contextmanager
def _expressing() -> Iterator[None]:
    try:
        yield
    except Exception as error:
        message = f"{type(error).__name__}: {error}"
        raise NotExpressedError(message) from error


def cannot_express(error: BaseException) -> bool:
    """Return whether a mode says that it cannot express a call."""
    if isinstance(error, NotExpressedError):
        return True  # sparse and nested tensors, sizes that depend on elements, … : no promise
    classes = type(error).__mro__
    if any(
        c.__module__.startswith("torch._dynamo") and c.__name__ in _INEXPRESSIBLE for c in classes
    ):
        return True
    return bool(_NOT_TRACED.search(str(error)))
