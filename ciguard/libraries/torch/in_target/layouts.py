"""Layouts of tensors in memory: tensors that are not contiguous, and copies of results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def _stepped(tensor: Any, torch: Any) -> Any:
    """Return every other element of a tensor with twice as many."""
    return torch.stack((tensor, tensor), -1).select(-1, 0)


def _reversed(tensor: Any, torch: Any) -> Any:
    """Return a tensor whose first axis is innermost in memory."""
    del torch
    order = tuple(reversed(range(tensor.ndim)))
    return tensor.permute(order).contiguous().permute(order)


def _shifted(tensor: Any, torch: Any) -> Any:
    """Return the second half of a tensor with twice as many elements."""
    return torch.cat((tensor.flatten(), tensor.flatten()))[tensor.numel() :].view(tensor.shape)


def _expanded(tensor: Any, torch: Any) -> Any:
    """Return the first part along the first axis, which takes the places of all the others."""
    del torch
    return tensor[:1].expand(tensor.shape) if tensor.ndim else tensor


def _sliding(tensor: Any, torch: Any) -> Any:
    """Return a tensor each of whose rows begins one element after the one before it."""
    del torch
    return tensor.flatten().as_strided(tensor.shape, [1] * tensor.ndim)


LAYOUTS: dict[str, Callable[[Any, Any], Any]] = {
    "expanded": _expanded,
    "reversed": _reversed,
    "shifted": _shifted,
    "sliding": _sliding,
    "stepped": _stepped,
}
"""Functions by the names of the layouts, which are those of `Writer.layouts`."""


def copier(torch: Any) -> Callable[[Any], Any]:
    """Return the function `Adapter.copied`."""
    tensor_type = torch.Tensor

    def copied(result: Any) -> Any:
        if isinstance(result, tensor_type):
            return result.clone()
        return tuple([copied(part) for part in result])

    return copied
