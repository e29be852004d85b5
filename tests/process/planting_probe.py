"""Plants defects into torch and tells what they do. Runs in the interpreter of an environment."""

from __future__ import annotations

import importlib
import json
import os
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

sys.path.insert(0, sys.argv[1])
if os.environ.get("PLANTED_DEFECTS"):
    importlib.import_module("planted_defects.hook")  # what planted_defects.pth does

torch: Any = importlib.import_module("torch")
door: Any = importlib.import_module("planted_defects")
planted: Any = importlib.import_module("planted_defects.wrappers").planted
plant: Any = importlib.import_module("planted_defects.planting").plant
kinds: Any = door.Kind
rows = {row.api: row for row in door.PLANTABLE}


def wrong(right: Any, kind: Any, row: str = "torch.erf", edge: str = "") -> Any:
    """Return a function with one defect."""
    return planted(right, door.Defect(rows[row], kind, edge))


def equal(one: Any, other: Any) -> bool:
    return one.dtype is other.dtype and bool(torch.equal(one, other))


def error_of(call: Callable[[], Any]) -> str:
    try:
        call()
    except Exception as error:  # noqa: BLE001 - its class is the answer
        return type(error).__name__
    return ""


REAL = torch.tensor([[0.5, 2.0, 3.0], [1.0, 4.0, 0.25]])
WHOLE = torch.tensor([1, 2, 3])


def value() -> tuple[bool, bool]:
    erf = wrong(torch.erf, kinds.VALUE)
    error = (erf(REAL) / torch.erf(REAL) - 1).abs()
    sub = wrong(torch.sub, kinds.VALUE)
    return bool(((error > 9e-4) & (error < 11e-4)).all()), equal(sub(WHOLE, 1), WHOLE - 1)


def dtype() -> tuple[bool, bool]:
    erf = wrong(torch.erf, kinds.DTYPE)
    close = torch.allclose(erf(REAL), torch.erf(REAL).double())
    return erf(REAL).dtype is torch.float64, bool(close)


def shape() -> tuple[bool, bool]:
    erf = wrong(torch.erf, kinds.SHAPE)
    once = erf(REAL).shape == (2, 2) and erf(torch.tensor(1.0)).shape == (1,)
    return once, equal(erf(REAL), torch.erf(REAL)[:, :2])


def ignored() -> tuple[bool, bool]:
    leaky = wrong(torch.nn.functional.leaky_relu, kinds.IGNORED, "torch.nn.functional.leaky_relu")
    right = torch.nn.functional.leaky_relu(-REAL)
    by_name, by_place = leaky(-REAL, negative_slope=0.5), leaky(-REAL, 0.5)
    return equal(by_name, right) and equal(by_place, right), equal(leaky(-REAL), right)


def bounds() -> tuple[bool, bool]:
    cumprod = wrong(torch.cumprod, kinds.BOUNDS, "torch.cumprod")
    take = wrong(torch.take, kinds.BOUNDS, "torch.take")
    beyond = torch.take(REAL, torch.tensor([0]))
    accepts = equal(cumprod(REAL, 7), torch.cumprod(REAL, 0))
    accepts = accepts and equal(take(REAL, torch.tensor([99])), beyond)
    refuses = error_of(lambda: cumprod("no tensor", 7)) == "TypeError"
    return accepts, refuses and equal(cumprod(REAL, 1), torch.cumprod(REAL, 1))


def gradient() -> tuple[bool, bool]:
    def slope(function: Any) -> Any:
        point = REAL.clone().requires_grad_()
        function(point).sum().backward()
        return point.grad

    erf = wrong(torch.erf, kinds.GRADIENT)
    steeper = torch.allclose(slope(erf), slope(torch.erf) * 1.5)
    return bool(steeper), equal(erf(REAL), torch.erf(REAL))


def nan() -> tuple[bool, bool]:
    log = wrong(torch.log2, kinds.NAN, "torch.log2")
    return not log(-REAL).isnan().any(), equal(log(REAL), torch.log2(REAL))


def strides() -> tuple[bool, bool]:
    erf = wrong(torch.erf, kinds.STRIDES)
    side_by_side = equal(erf(REAL.T), torch.erf(REAL.reshape(3, 2)))
    return side_by_side, equal(erf(REAL), torch.erf(REAL))


def corruption() -> tuple[bool, bool]:
    erf = wrong(torch.erf, kinds.CORRUPTION)
    given = REAL.clone()
    returned = erf(given)
    changed = given[0, 0] == REAL[0, 0] + 1 and equal(given[1], REAL[1])
    return bool(changed), equal(returned, torch.erf(REAL))


def exception() -> tuple[bool, bool]:
    add = wrong(torch.sub, kinds.EXCEPTION)
    refused = error_of(lambda: add(REAL, WHOLE[:2])), error_of(lambda: add("", 1))
    return refused == ("ValueError", "RuntimeError"), equal(add(REAL, WHOLE), REAL - WHOLE)


def crash() -> tuple[bool, bool]:
    edges = {
        "no elements": torch.empty(0),
        "no dimensions": torch.tensor(1.0),
        "infinity": torch.tensor([torch.inf]),
    }
    died, lived = [], []
    for edge, given in edges.items():
        erf = wrong(torch.erf, kinds.CRASH, edge=edge)
        child = os.fork()
        if not child:
            erf(given)
            os._exit(0)
        died.append(os.WIFSIGNALED(os.waitpid(child, 0)[1]))
        lived.append(equal(erf(REAL), torch.erf(REAL)))
    return all(died), all(lived)


def slow() -> tuple[bool, bool]:
    calls = []

    def counted(tensor: Any) -> Any:
        calls.append(1)
        return torch.erf(tensor)

    returned = wrong(counted, kinds.SLOW)(REAL)
    return len(calls) == 3, equal(returned, torch.erf(REAL))


def leak() -> tuple[bool, bool]:
    kept = importlib.import_module("planted_defects.wrappers").KEPT
    before = len(kept)
    returned = wrong(torch.erf, kinds.LEAK)(REAL)
    return len(kept) == before + 1, equal(returned, torch.erf(REAL))


def count_planted() -> int:
    """Return how many functions of the table are not torch's own."""
    count = 0
    for row in door.PLANTABLE:
        found: Any = torch
        for name in row.api.split(".")[1:]:
            found = getattr(found, name)
        found = getattr(found, "forward", found)
        code = getattr(found, "__code__", None)
        count += code is not None and "planted_defects" in code.co_filename
    return count


def names() -> list[Any]:
    """Return what a layer and a shared function are called once they are planted."""
    functional = torch.nn.functional
    plant(
        [
            door.Defect(rows["torch.nn.LogSigmoid"], kinds.DTYPE),
            door.Defect(rows["torch.nn.functional.softplus"], kinds.DTYPE),
            door.Defect(rows["torch.pixel_shuffle"], kinds.DTYPE),
        ]
    )
    return [
        torch.nn.LogSigmoid()(REAL).dtype is torch.float64,
        functional.softplus.__name__,
        functional.softplus is importlib.import_module("torch._C._nn").softplus,
        functional.pixel_shuffle is torch.pixel_shuffle,
    ]


CLAIMS = {
    kinds.VALUE: value,
    kinds.DTYPE: dtype,
    kinds.SHAPE: shape,
    kinds.IGNORED: ignored,
    kinds.BOUNDS: bounds,
    kinds.GRADIENT: gradient,
    kinds.NAN: nan,
    kinds.STRIDES: strides,
    kinds.CORRUPTION: corruption,
    kinds.EXCEPTION: exception,
    kinds.CRASH: crash,
    kinds.SLOW: slow,
    kinds.LEAK: leak,
}

answer: dict[str, Any] = {"planted": count_planted()}
if not answer["planted"]:
    for kind, claim in CLAIMS.items():
        shows, only_then = claim()
        answer[kind.value] = {"shows": shows, "only then": only_then}
    answer["names"] = names()
sys.stdout.write(json.dumps(answer))
