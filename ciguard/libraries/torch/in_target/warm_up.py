"""Calls that prepare PyTorch and the worker before the first case."""

from __future__ import annotations

import contextlib
import importlib
from typing import Any

_DTYPES = ("float32", "float64", "int64", "int32", "bool", "complex64", "bfloat16")


def run(torch: Any) -> None:
    """Run first calls: they create oneDNN's engine, and import modules and error texts lazily."""
    functional = torch.nn.functional
    matrix = torch.eye(3)
    for dtype in (torch.float32, torch.float64, torch.bfloat16):
        image, kernel = torch.ones(1, 1, 3, 3, dtype=dtype), torch.ones(1, 1, 2, 2, dtype=dtype)
        torch.conv2d(image, kernel)
        torch.mm(matrix.to(dtype), matrix.to(dtype))
    # Grouped channels have other kernels, which oneDNN generates in 10 ms or more.
    torch.conv2d(torch.ones(1, 4, 3, 3), torch.ones(4, 2, 2, 2), groups=2)
    for call in (
        functional.gelu,
        functional.softmax,
        torch.sort,
        torch.linalg.det,
        torch.fft.fft,
    ):
        with contextlib.suppress(TypeError):  # softmax without a dimension loads the error module
            call(matrix)
    functional.mse_loss(matrix, matrix)
    # The first call on another layout imports hundreds of modules, which takes up to 0.5 s.
    for convert in (lambda: matrix.to("meta"), matrix.to_sparse, matrix.to_sparse_csr):
        with contextlib.suppress(AttributeError, NotImplementedError, RuntimeError):
            converted_matrix = convert()
            torch.sort(converted_matrix)
            functional.softmax(converted_matrix, 0)
    for call in (torch.argmax, torch.exp, torch.mean):
        call(matrix.to("meta"))
    with contextlib.suppress(RuntimeError):
        torch.mm(matrix, torch.ones(2))


def load_transformations(torch: Any) -> None:
    """Load torch.compile and forward-mode gradients, which import 1,300 modules at first use.

    No gradient is computed, as the threads for that do not survive a fork. Versions that lack one
    of these load the other.
    """
    # Whatever fails here fails again in the case that needs it, where it is judged.
    with contextlib.suppress(Exception):
        importlib.import_module("torch._decomp.decompositions_for_jvp")
    with contextlib.suppress(Exception):
        torch.compile(torch.tan, backend="aot_eager")(torch.ones(3))


def rehearsal() -> list[list[Any]]:
    """Return cases of additions, reductions and rejections with usual dtypes, in JSON form."""
    cases: list[list[Any]] = []
    for dtype in _DTYPES:
        uniform = ["t", dtype, [2, 3], ["u", 1, 0.0, 3.0]]
        constant = ["t", dtype, [3], ["k", 1]]
        special = ["t", dtype, [2], ["s", 2]]
        cases += [
            ["torch.add", "function", [uniform, constant], [["alpha", 1]], [], 1],
            ["torch.sum", "function", [uniform], [["dim", ["l", [0]]]], [], 1],
            ["torch.eq", "function", [uniform, special], [], [], 1],
            ["torch.topk", "function", [uniform], [["k", 1]], [], 1],
            ["torch.Tensor.sort", "method", [constant], [], [], 1],
            ["torch.nn.functional.relu", "function", [uniform], [["unknown", None]], [], 1],
        ]
    return cases
