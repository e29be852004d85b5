"""Arrays of Keras for the user's functions: the arrays of its backend."""

from __future__ import annotations

import sys

from ciguard.libraries.in_target.arrays import ArrayLibrary


class KerasArrays(ArrayLibrary):
    """Arrays of the selected backend."""

    library = "keras"
    roots: tuple[str, ...] = ("keras",)

    def backend(self) -> str:
        """Return the name of the backend; `tensorflow` if it is unknown."""
        module = getattr(sys.modules.get("keras"), "backend", None)
        return str(getattr(module, "backend", lambda: "tensorflow")())

    def show_errors(self) -> None:
        """Turn off the filter that replaces exceptions of layers by a general exception."""
        for name in ("keras", "tf_keras"):
            config = getattr(sys.modules.get(name), "config", None)
            getattr(config, "disable_traceback_filtering", lambda: None)()


ARRAYS = KerasArrays()
