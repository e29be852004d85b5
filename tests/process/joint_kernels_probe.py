"""Compiles functions of several kernels with inductor; the result is JSON.

python joint_kernels_probe.py REPOSITORY FOLDER
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path
from typing import Any

ROOT, FOLDER = Path(sys.argv[1]), Path(sys.argv[2])
FILE = ROOT / "ciguard" / "libraries" / "torch" / "in_target" / "joint_kernels.py"
os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(FOLDER)


def module() -> Any:
    spec = importlib.util.spec_from_file_location("joint_kernels", FILE)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def libraries() -> int:
    return len([*FOLDER.rglob("*.main.so")])


def several(x: Any, y: Any) -> Any:
    return x.sin() + 1, y.cumsum(0), torch.sort(y).values * 2, (y @ y).sum(1)


def compared() -> dict[str, Any]:
    """Compile one function, and count the libraries that this needs."""
    arguments = torch.linspace(-1, 1, 12).reshape(3, 4), torch.linspace(0, 3, 25).reshape(5, 5)
    before = libraries()
    compiled = torch.compile(several, fullgraph=True)(*arguments)
    count = libraries() - before
    equal = [bool(torch.allclose(*pair)) for pair in zip(compiled, several(*arguments))]  # noqa: B905 - Python 3.9
    return {"equal": equal, "libraries": count}


def values_of(bodies: dict[str, str]) -> dict[str, Any]:
    """Compile kernels with these bodies; return the number that each writes, or the error."""
    kernels = {
        name: joint_kernels._Kernel(["float*"], f'extern "C" void kernel(float* x) {{{body}}}')
        for name, body in bodies.items()
    }
    values: dict[str, Any] = {}
    try:
        functions = joint_kernels._compiled(kernels, CppPythonBindingsCodeCache)
    except Exception as error:  # noqa: BLE001 - the compiler's own class
        return {"error": type(error).__name__}
    for name, function in functions.items():
        number = torch.zeros(1)
        function(number)
        values[name] = number.item()
    return values


if __name__ == "__main__":
    import torch
    from torch._inductor.codecache import CppPythonBindingsCodeCache

    joint_kernels = module()
    joint_kernels.install()
    joint_kernels.install()
    found = {
        **compared(),
        "values": values_of(
            {"one": "x[0] = 7;", "two": "x[0] = 8;", "macro": "\n#define A 9\nx[0] = A;"}
        ),
        "broken": values_of({"one": "x[0] = 7;", "two": "x[0] = 8;", "broken": "?"}),
    }
    sys.stdout.write("\n" + json.dumps(found) + "\n")
