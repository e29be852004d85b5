"""Runs inside a target: runs programs as `python PROGRAM` does, all in one process.

python seed_program_probe.py LIBRARY PROGRAM…

The last line it writes is JSON: by program, what it left behind, or why it failed.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import runpy
import sys
import traceback
from pathlib import Path
from typing import Any


def told(program: str, tensors: Any) -> dict[str, Any]:
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            left = runpy.run_path(program, run_name="__main__")
    except Exception:  # noqa: BLE001 - whatever it is, the test shows it
        return {"error": traceback.format_exc()}
    predictions = left["predictions"]
    return {
        "numbers": {
            name: [type(left[name]).__name__, float(left[name])]
            for name in ("loss", "accuracy", "error")
            if name in left
        },
        "is_tensor": isinstance(predictions, tensors),
        "shape": list(predictions.shape),
        "tests": left["TESTS"],
        "samples": left["SAMPLES"],
        "printed": printed.getvalue(),
    }


library = importlib.import_module(sys.argv[1])
tensors = library.Var if sys.argv[1] == "jittor" else library.Tensor
found = {Path(program).stem: told(program, tensors) for program in sys.argv[2:]}
sys.stdout.write("\n" + json.dumps(found) + "\n")
