"""Random numbers of Keras with torch on a device: drawn on the CPU where that is possible.

The generators of a CPU and of a device return different numbers for one seed, so that each layer
with weights would differ between them.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, ContextManager

_BY_SHAPE = ("normal", "randint", "truncated_normal", "uniform")
"""Functions that draw a tensor of a given shape, such as a layer's weights. All others draw for the
elements of a tensor, which is on the device already."""


def draw_on_cpu(
    random: Any, on_cpu: Callable[[], ContextManager[Any]], note_draw: Callable[[], None]
) -> None:
    """Change Keras's module of random functions, `keras.src.backend.torch.random`.

    Args:
        random: the module.
        on_cpu: returns a context in which Keras uses the CPU.
        note_draw: called before a device draws numbers.
    """
    for name in _BY_SHAPE:
        if hasattr(random, name):  # as later versions may not have all
            setattr(random, name, _drawn_on_cpu(random, getattr(random, name), on_cpu))
    make_generator = random.torch_seed_generator

    @functools.wraps(make_generator)
    def noted(seed: Any) -> Any:
        if _is_on_device(random):
            note_draw()
        return make_generator(seed)

    random.torch_seed_generator = noted


def _drawn_on_cpu(
    random: Any, draw: Callable[..., Any], on_cpu: Callable[[], ContextManager[Any]]
) -> Callable[..., Any]:
    @functools.wraps(draw)
    def drawn(*arguments: Any, **keywords: Any) -> Any:
        if not _is_on_device(random):
            return draw(*arguments, **keywords)
        device = random.get_device()
        with on_cpu():
            tensor = draw(*arguments, **keywords)
        return tensor.to(device)

    return drawn


def _is_on_device(random: Any) -> bool:
    """Return whether Keras computes on a device; shapes are computed on none."""
    return str(random.get_device()).partition(":")[0] not in {"cpu", "meta"}
