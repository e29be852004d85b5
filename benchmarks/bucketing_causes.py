"""The root causes of `benchmarks/bucketing.py`, and calls that each of them answers to."""

from __future__ import annotations

import string
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.values import Constant, LiteralValue, TensorValue, Uniform

if TYPE_CHECKING:
    from random import Random

    from ciguard.domain.values import Value

_DTYPES = ("float32", "float64", "int32", "int64", "uint8")
_GIVEN = 0.7
"""Share of the optional arguments that a call has."""
_MODES = ("sum", "mean", "max", "full", "valid", "same")


class Trigger(Enum):
    """Which argument a fault answers to."""

    NEGATIVE = "n < 0"
    ZERO = "n == 0"
    LARGE = "n > 10,000"
    SCALE = "scale < 0"
    ANY = "any call"


@dataclass(frozen=True, slots=True)
class Cause:
    """One fault of the library."""

    api: str
    trigger: Trigger
    shares: str = ""
    """The API whose native fault this one is, reached through a wrapper."""

    @property
    def name(self) -> str:
        """What the fault is called in tables: API and trigger."""
        return f"{self.api}, {self.trigger.value}"

    @property
    def fault(self) -> str:
        """The fault itself, whichever API leads to it."""
        return f"{self.shares or self.api}, {self.trigger.value}"

    def case(self, rng: Random) -> ApiCall:
        """Return one of the many calls that show the fault."""
        shape = tuple(rng.randint(1, 9) for _ in range(rng.randint(0, 4)))
        fill = rng.choice((Constant(rng.randint(0, 5)), Uniform(rng.getrandbits(16), 0.0, 9.0)))
        given: list[tuple[str, Value]] = [
            ("n", LiteralValue(self._number(rng))),
            ("scale", LiteralValue(self._scale(rng))),
            ("name", LiteralValue(_word(rng))),
            ("mode", LiteralValue(rng.choice(_MODES))),
            ("axis", LiteralValue(rng.randint(-4, 4))),
        ]
        kept = [pair for pair in given if pair[0] in {"n", "scale"} or rng.random() < _GIVEN]
        return ApiCall(
            api=f"faulty.{self.api}",
            kind=CallKind.FUNCTION,
            arguments=(TensorValue(rng.choice(_DTYPES), shape, fill),),
            keywords=tuple(kept),
            seed=rng.getrandbits(20),
        )

    def _number(self, rng: Random) -> int:
        match self.trigger:
            case Trigger.NEGATIVE:
                return -rng.randint(1, 10 ** rng.randint(1, 6))
            case Trigger.ZERO:
                return 0
            case Trigger.LARGE:
                return rng.randint(2 * 10**6, 10**9)
            case Trigger.SCALE | Trigger.ANY:
                return rng.randint(1, 900)

    def _scale(self, rng: Random) -> float:
        size = rng.uniform(0.1, 50.0)
        return -size if self.trigger is Trigger.SCALE else size


def _word(rng: Random) -> str:
    return "".join(rng.choices(string.ascii_letters + string.digits + "_ ", k=rng.randint(1, 20)))


_N, _Z, _L, _S, _A = Trigger

CAUSES = (
    *(Cause("pool", trigger) for trigger in (_N, _Z, _L, _S)),
    *(Cause("gather", trigger) for trigger in (_N, _Z, _L)),
    *(Cause("scatter", trigger) for trigger in (_N, _L)),
    *(Cause("unique", trigger) for trigger in (_N, _Z, _L)),
    *(Cause("sort", trigger) for trigger in (_N, _Z, _L)),
    *(Cause("conv", trigger) for trigger in (_N, _Z, _L)),
    *(Cause("norm", trigger) for trigger in (_N, _Z, _L)),
    *(Cause("fft", trigger) for trigger in (_N, _Z, _L)),
    *(Cause("einsum", trigger) for trigger in (_N, _Z, _L)),
    *(Cause("lstm", trigger) for trigger in (_N, _L)),
    *(Cause("crf", trigger) for trigger in (_N, _Z)),
    *(Cause("ragged", trigger) for trigger in (_N, _L)),
    *(Cause("parse", trigger) for trigger in (_N, _Z)),
    *(Cause(api, _N) for api in ("lookup", "build", "merge", "cast")),
    *(Cause(api, _A) for api in ("area", "mean", "stack", "clip", "trim", "halve")),
    Cause("nn_pool", _N, shares="pool"),
    Cause("nn_conv", _Z, shares="conv"),
    Cause("nn_einsum", _N, shares="einsum"),
    Cause("take", _L, shares="gather"),
)
