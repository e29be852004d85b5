"""Conforming calls of torch: the samples of its own tests (`op_db`), in a target's interpreter.

    python benchmarks/opinfo_controls.py SAMPLES SHARE SHARES

Functions, methods and in-place methods of every operator run with their first SAMPLES samples, with
gradients where they have them. Each runs in a process of its own, once per side of the memory guard
if it is loaded. Prints one JSON object per operator, with the sums so far: the number of APIs and
calls, CPU seconds after the import, and how processes ended that did not end well.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import sys
import types
import warnings
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

warnings.simplefilter("ignore")
_stub = types.ModuleType("expecttest")
setattr(_stub, "TestCase", object)  # noqa: B010 - torch's tests import it
sys.modules.setdefault("expecttest", _stub)

import torch  # noqa: E402
from torch.testing._internal.common_methods_invocations import op_db  # noqa: E402

LIMIT_S = 60
SIDES = (0, 1)
DTYPES = (torch.float32, torch.int64)


def variants(operator: Any) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield name and function of the public forms of an operator."""
    kinds = {
        "": operator.op,
        "method ": operator.method_variant,
        "in-place ": operator.inplace_variant,
    }
    for kind, function in kinds.items():
        if function is not None:
            yield kind + operator.formatted_name, function


def calls(operator: Any, function: Callable[..., Any], samples: int) -> int:
    """Make the calls, and return their number; a call that is rejected counts."""
    made = 0
    for dtype in DTYPES:
        if dtype not in operator.dtypes:
            continue
        has_gradient = dtype is torch.float32 and operator.supports_autograd
        for number, sample in enumerate(
            operator.sample_inputs("cpu", dtype, requires_grad=has_gradient)
        ):
            if number == samples:
                break
            made += 1
            try:
                result = function(sample.input, *sample.args, **sample.kwargs)
                if has_gradient and isinstance(result, torch.Tensor) and result.requires_grad:
                    result.sum().abs().backward()
            except Exception:  # noqa: BLE001, S112 - what torch rejects is not a crash
                continue
    return made


def run_child(
    operator: Any, function: Callable[..., Any], samples: int, side: int
) -> tuple[int, str]:
    """Return the wait status of a process that makes the calls, and its last line of errors."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.dup2(writing, 2)
        signal.alarm(LIMIT_S)
        guard = ctypes.CDLL(None)
        is_guarded = hasattr(guard, "guard_begin")
        if is_guarded:
            guard.guard_begin(side)
        torch.manual_seed(0)
        try:
            made = calls(operator, function, samples)
            if is_guarded:
                guard.guard_end()
        except Exception as error:  # noqa: BLE001 - samples may need a package that is missing
            os.write(2, f"\n{type(error).__name__}: {error}"[:200].encode())
            os._exit(3)
        os.write(2, f"\n{made}".encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading, encoding="utf-8", errors="replace") as stream:
        lines = stream.read().strip().splitlines()
    return os.waitpid(child, 0)[1], lines[-1] if lines else ""


def main() -> None:
    """Run the share of the operators that the arguments name."""
    samples, share, shares = map(int, sys.argv[1:])
    torch.set_num_threads(1)
    sides = SIDES if hasattr(ctypes.CDLL(None), "guard_begin") else SIDES[:1]
    imported_s = sum(os.times()[:4])
    apis, made = set(), 0
    ended: dict[str, str] = {}
    for operator in list(op_db)[share::shares]:
        for name, function in variants(operator):
            for side in sides:
                status, line = run_child(operator, function, samples, side)
                if status:
                    ended[f"{name} (side {side})"] = f"status {status}: {line}"
                else:
                    apis.add(name)
                    made += int(line)
        cpu_s = sum(os.times()[:4]) - imported_s
        report = {"apis": len(apis), "calls": made, "cpu_s": round(cpu_s, 1), "ended": ended}
        sys.stdout.write(json.dumps(report) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
