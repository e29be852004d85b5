"""Observation of PyTorch's operators: each that the dispatcher runs, with its arguments."""

from __future__ import annotations

import contextlib
import importlib
from typing import TYPE_CHECKING, Any

from ciguard.libraries.in_target.observed import MadeTensor, NamedArgument

if TYPE_CHECKING:
    from collections.abc import Callable

_MAKERS = {
    "torch._mkldnn": "torch.Tensor.to_mkldnn",
    "torch.sparse_coo": "torch.Tensor.to_sparse",
}
"""Functions that make a tensor of a layout from a dense one."""


def observer(
    torch: Any, dtypes: dict[Any, str], note: Callable[[str, dict[str, Any]], None]
) -> Any:
    """Return a context that notes all operators that succeed in it, also in backward passes.

    Args:
        torch: the library.
        dtypes: common names of its dtypes.
        note: is called with the name of each operator and its arguments by name.
    """
    module = importlib.import_module("torch.utils._python_dispatch")
    named = (torch.layout, torch.memory_format)

    def converted(value: Any) -> Any:
        if isinstance(value, torch.dtype):
            return NamedArgument("y", dtypes.get(value, str(value)))
        if isinstance(value, named):
            return NamedArgument("m", str(value))
        if isinstance(value, torch.device):
            return None
        if isinstance(value, torch.Tensor):
            maker = _MAKERS.get(str(value.layout))
            return MadeTensor(maker, value.to_dense()) if maker else value
        if isinstance(value, (list, tuple)):
            return [converted(item) for item in value]
        return value

    class Observer(module.TorchDispatchMode):  # type: ignore[misc, name-defined]
        @classmethod
        def _should_skip_dynamo(cls) -> bool:
            return False  # otherwise the first observer imports the compiler, which takes a second

        def __torch_dispatch__(
            self, function: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            del types
            named_arguments = kwargs or {}
            result = function(*args, **named_arguments)
            schema = function._schema  # noqa: SLF001 - no public name
            arguments = {item.name: value for item, value in zip(schema.arguments, args)}
            arguments.update(named_arguments)
            with contextlib.suppress(RuntimeError):  # a tensor may have no elements to read
                note(schema.name, {name: converted(value) for name, value in arguments.items()})
            return result

    return Observer()
