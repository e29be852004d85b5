"""Draws inputs with Hypothesis and measures it; the same for ciguard and its rivals.

Imports nothing of ciguard: it runs in the rivals' environment too.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from hypothesis import HealthCheck, Phase, given, reject, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable

if TYPE_CHECKING:
    from collections.abc import Callable

_ROUND = 200
"""Valid inputs that Hypothesis is asked for at once: more than the 100 of a usual test."""
_WARM_UP_S = 0.2
"""The first draws import, fill caches and look for the characters of alphabets."""
KEPT = 100
"""Inputs of which the branch coverage is taken."""


@dataclass(slots=True)
class Drawn:
    """What came of drawing inputs of one function."""

    valid: int = 0
    discarded: int = 0
    seconds: float = 0.0
    """CPU time."""
    kept: list[Any] = field(default_factory=list)
    """The first valid inputs."""
    error: str = ""
    """Why there are none."""

    @property
    def speed(self) -> float:
        """Valid inputs per CPU second."""
        return self.valid / self.seconds if self.seconds else 0.0

    @property
    def discard_rate(self) -> float:
        """Inputs that were discarded, of all."""
        drawn = self.valid + self.discarded
        return self.discarded / drawn if drawn else 0.0


def draw(
    strategy: st.SearchStrategy[Any],
    is_valid: Callable[[Any], bool],
    call: Callable[[Any], object] | None,
    budget_s: float,
) -> Drawn:
    """Draw inputs for some time, in rounds as a test draws them.

    Args:
        strategy: of inputs.
        is_valid: asked of each of them; what it refuses is discarded, as by `assume`.
        call: made with each valid input, where calls are to be measured as well.
        budget_s: CPU seconds; the round under way is ended then.
    """
    _round(Drawn(), _Timed(strategy, time.process_time(), _WARM_UP_S), is_valid, None, 0)
    found = Drawn()
    began = time.process_time()
    rounds = 0
    while found.seconds < budget_s:
        rounds += 1
        _round(found, _Timed(strategy, began, budget_s), is_valid, call, rounds)
    return found


@dataclass(slots=True)
class _Timed:
    """A strategy that draws nothing more when its time is up."""

    strategy: st.SearchStrategy[Any]
    began: float
    budget_s: float


class _TimeUpError(KeyboardInterrupt):
    """Ends a test at once: Hypothesis lets nothing else through."""


def _round(
    found: Drawn,
    timed: _Timed,
    is_valid: Callable[[Any], bool],
    call: Callable[[Any], object] | None,
    number: int,
) -> None:
    valid, begun = 0, 0

    @st.composite
    def counted(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
        nonlocal begun
        if found.seconds >= timed.budget_s:
            raise _TimeUpError
        found.seconds = time.process_time() - timed.began
        begun += 1
        return draw(timed.strategy)

    @seed(number)
    @settings(
        max_examples=_ROUND,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(counted())
    def test(drawn: Any) -> None:
        nonlocal valid
        if not is_valid(drawn):
            reject()
        valid += 1
        if len(found.kept) < KEPT:
            found.kept.append(drawn)
        if call is not None:
            call(drawn)

    with contextlib.suppress(Unsatisfiable, _TimeUpError):  # the counts say so
        test()
    found.seconds = max(found.seconds, min(time.process_time() - timed.began, timed.budget_s))
    found.valid += valid
    found.discarded += begun - valid
