"""Keras has no arrays of its own: functions take those of its backend."""

from __future__ import annotations

import sys

from ciguard.libraries.in_target.arrays import ArrayLibrary


class KerasArrays(ArrayLibrary):
    """Those of the backend that is set."""

    library = "keras"
    roots: tuple[str, ...] = ("keras",)

    def backend(self) -> str:
        """Return the backend's name, TensorFlow where none is known."""
        chosen = getattr(sys.modules.get("keras"), "backend", None)
        return str(getattr(chosen, "backend", lambda: "tensorflow")())

    def show_errors(self) -> None:
        """Have it raise what a layer raises, not a sentence that all layers share."""
        for name in ("keras", "tf_keras"):
            config = getattr(sys.modules.get(name), "config", None)
            getattr(config, "disable_traceback_filtering", lambda: None)()


ARRAYS = KerasArrays()
