"""Cases, outcomes and subjects to judge, and outputs as a worker writes them."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any

import numpy as np

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import LiteralValue
from ciguard.execution import Scalar, TensorDigest, TensorOutput
from ciguard.oracles import Identity, Subject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ciguard.domain.values import Value

OLD, NEW = "torch==2.12.0", "torch==2.13.0"


def case(*arguments: Value, intent: Intent = Intent.CONFORMING) -> ApiCall:
    return ApiCall(
        api="torch.fold",
        kind=CallKind.FUNCTION,
        arguments=arguments or (LiteralValue(3),),
        intent=intent,
    )


def identity(request: str = OLD, **changes: Any) -> Identity:
    version = request.rpartition("==")[2]
    settings: dict[str, Any] = {
        "request": request,
        "packages": (f"torch=={version}", "numpy==2.0"),
        "version": version,
        "device": "cpu",
        **changes,
    }
    return Identity(**settings)


def subject(*tags: str, names: Sequence[str] = (OLD, NEW)) -> Subject:
    return Subject(
        library="torch",
        api="torch.fold",
        tags=frozenset(tags),
        targets={name: identity(name) for name in names},
    )


def tensor(*elements: complex, dtype: str = "float32", shape: tuple[int, ...] = ()) -> TensorOutput:
    storage = "float32" if dtype == "bfloat16" else dtype
    return TensorOutput(dtype, shape or (len(elements),), np.array(elements, dtype=storage))


def digest(
    *sample: float, dtype: str = "float32", sha256: str = "", nan: int = 0, inf: int = 0
) -> TensorDigest:
    return TensorDigest(dtype, (4096,), np.array(sample, dtype=dtype), sha256, nan, inf)


def scalar(value: object) -> Scalar:
    kinds = {bool: "o", int: "i", float: "f", complex: "z", str: "s"}
    return Scalar(kinds[type(value)], str(value))


def passed(*elements: float, dtype: str = "float32") -> Passed:
    """Return the outcome of a call that returned a tensor."""
    array = np.array(elements, dtype=dtype)
    data = base64.b64encode(array.tobytes()).decode()
    return Passed(json.dumps(["T", dtype, list(array.shape), data]).encode(), 0.001)
