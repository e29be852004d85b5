"""Layouts of tensors in memory: tensors with the same elements that are not contiguous."""

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


LAYOUTS: dict[str, Callable[[Any, Any], Any]] = {
    "reversed": _reversed,
    "shifted": _shifted,
    "stepped": _stepped,
}
"""Functions by the names of the layouts, which are those of `Writer.layouts`."""
