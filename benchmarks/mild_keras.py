"""Keras with mild defects: the adapter of one target of the benchmark of level `model`.

Released backends agree but for rounding, so there is nothing for guidance to amplify. This adapter
plants four: three activations are too large by three tenths, and BatchNormalization adds 0.05 too
much to the variance. No small seed model holds one of them: mutation has to bring them in.
"""

from __future__ import annotations

import importlib
from typing import Any, Callable  # noqa: UP035 - Python 3.9 in the target

from ciguard.libraries.keras.in_target.adapter import KerasAdapter

_WRONG_BY = 1.3
_EPSILON = 0.05


class MildlyWrongKeras(KerasAdapter):
    """Keras on any backend, with four operations that are slightly wrong."""

    def load(self, device: str) -> None:
        """Import Keras and plant."""
        super().load(device)
        backend: Any = importlib.import_module("keras.src.backend")
        for name in ("elu", "gelu", "softplus"):
            scaled = _scaled(getattr(backend.nn, name))
            setattr(backend.nn, name, scaled)
        normal: Any = importlib.import_module("keras.layers").BatchNormalization
        normal.__init__ = _with_epsilon(normal.__init__)


def _scaled(function: Callable[..., Any]) -> Callable[..., Any]:
    def scaled(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs) * _WRONG_BY

    return scaled


def _with_epsilon(make: Callable[..., None]) -> Callable[..., None]:
    def made(self: Any, *args: Any, **kwargs: Any) -> None:
        make(self, *args, **kwargs)
        self.epsilon += _EPSILON

    return made


ADAPTER = MildlyWrongKeras
