"""Run programs in a target: one JSON text per line comes in, one record of its globals goes out."""

from __future__ import annotations

import json
import linecache
import os
import sys
import traceback
from typing import Any

import numpy as np


def main() -> None:
    """Answer until there is nothing more to read."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what programs and libraries print belongs elsewhere
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line))), file=answers, flush=True)


def run(source: str) -> dict[str, Any]:
    """Return numbers and tensors among the `globals` of a program, or what it has `raised`."""
    linecache.cache["<program>"] = (
        len(source),
        None,
        source.splitlines(keepends=True),
        "<program>",
    )
    seed()
    names: dict[str, Any] = {"__name__": "__main__"}
    try:
        exec(compile(source, "<program>", "exec"), names)
    except Exception:  # noqa: BLE001 - whatever a program raises is the answer
        return {"raised": traceback.format_exc()}
    public = {name: one for name, one in names.items() if not name.startswith("_")}
    return {"globals": {name: described(one) for name, one in public.items() if is_told(one)}}


def seed() -> None:
    """Begin as a fresh process does, as far as results depend on it."""
    np.random.seed(0)  # noqa: NPY002 - what libraries and programs draw from
    if "tensorflow" in sys.modules:
        tensorflow = sys.modules["tensorflow"]
        tensorflow.config.run_functions_eagerly(run_eagerly=False)
        tensorflow.keras.backend.clear_session()


def is_told(value: object) -> bool:
    """Return whether a global is a number or a tensor."""
    if isinstance(value, (type, type(sys))):
        return False
    return isinstance(value, (float, np.ndarray)) or hasattr(value, "numpy")


def described(value: Any) -> Any:
    """Return a number, or what a tensor is and holds."""
    if isinstance(value, float):
        return value
    array = np.asarray(value.detach() if hasattr(value, "detach") else value)
    mean = float(np.abs(array.astype("float64")).mean())
    return {"shape": array.shape, "dtype": str(array.dtype), "mean": mean}


if __name__ == "__main__":
    main()
