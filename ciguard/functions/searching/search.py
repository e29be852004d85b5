"""The property of one function under Hypothesis: no valid call of it fails.

Hypothesis draws, shrinks and remembers here; calls run elsewhere, so that it outlives all of them.
Each way to fail (a path: class of the exception and innermost frame of the user's code) is a
failure of its own. Once found, a path is blocked: calls that take it are refused like invalid ones,
and the search goes on behind it.
"""

from __future__ import annotations

import json
import time
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from hypothesis import HealthCheck, Phase, given, reject, settings
from hypothesis import strategies as st
from hypothesis.control import current_build_context
from hypothesis.errors import StopTest, Unsatisfiable, UnsatisfiedAssumption
from hypothesis.internal.conjecture.data import Status
from hypothesis.reporting import with_reporter

from ciguard.functions.hosting.verdicts import (
    PROCESS_ENDING,
    CallFailure,
    CallPassed,
    Discarded,
    NoInstance,
    Verdict,
)
from ciguard.functions.searching.examples import database_at, keeping

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json
    from ciguard.functions.searching.settings import SearchSettings

MAX_FAILURES = 10
"""Distinct failures after which a search ends."""
SHRINK_S = 30.0
"""Seconds for shrinking and for looking further, once a round has found something."""
_MAX_REMEMBERED = 20_000
_BLOCKED_PER_EXAMPLE = 2
"""Calls on blocked paths, for each example asked for, that are refused and not just passed over."""
_MAX_PROCESSES = 10
"""Calls on blocked paths that cost a process each, after which a round makes no more calls."""


class DrawnCall(Protocol):
    """What a strategy draws: a call that can be sent."""

    def to_json(self) -> Json:
        """Return its JSON form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimalFailure:
    """One failure, by its smallest call."""

    call: Any
    failure: CallFailure
    recurs: bool
    """Whether the call failed again when it was made once more."""
    output: tuple[str, str]
    """What that last call printed, to standard output and to standard error."""


@dataclass(slots=True)
class SearchResult:
    """What came of testing one function."""

    found: list[MinimalFailure] = field(default_factory=list)
    valid: int = 0
    """Distinct valid calls made, less those of shrinking."""
    discarded: int = 0
    """Inputs that turned out to be none that the function accepts."""
    no_instance: int = 0
    """Inputs for which there was no object to call the method of."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Why inputs were discarded, as far as the program said."""
    stopped: bool = False
    """Whether the time was up before all examples were tried."""

    @property
    def discard_rate(self) -> float:
        """Discarded inputs among all, 0 to 1; 0 for none."""
        drawn = self.valid + self.discarded
        return self.discarded / drawn if drawn else 0.0


def search(
    name: str,
    strategy: st.SearchStrategy[Any],
    execute: Callable[[Any], Verdict],
    *,
    chosen: SearchSettings,
    output: Callable[[], tuple[str, str]] = lambda: ("", ""),
) -> SearchResult:
    """Test a function.

    Args:
        name: under which its failures are kept in the database; the same in every session.
        strategy: of `DrawnCall` calls.
        execute: makes a call.
        chosen: how long.
        output: returns what the last call printed.
    """
    hunt = _Hunt(strategy, execute, chosen)
    while len(hunt.known) < MAX_FAILURES:
        fresh = _round(name, hunt, chosen)
        for call, failure in fresh:
            hunt.known.add(failure.key)
            again = execute(call)
            hunt.result.found.append(
                MinimalFailure(
                    call=call,
                    failure=failure,
                    recurs=isinstance(again, CallFailure) and again.kind is failure.kind,
                    output=output(),
                )
            )
        if not fresh or hunt.is_over():
            break
    return hunt.result


class _PathError(Exception):
    """A failure on its way through Hypothesis; a class for each path, as it tells them apart."""

    def __init__(self, call: Any, failure: CallFailure) -> None:
        super().__init__(failure.message)
        self.call = call
        self.failure = failure


def _is_cut_short() -> bool:
    """Return whether Hypothesis ended the drawing itself, which looks how few choices will do."""
    return current_build_context().data.status is Status.OVERRUN


class _Hunt:
    """All rounds of one function."""

    def __init__(
        self,
        strategy: st.SearchStrategy[Any],
        execute: Callable[[Any], Verdict],
        chosen: SearchSettings,
    ) -> None:
        self._strategy = strategy
        self._execute = execute
        self._end = time.monotonic() + chosen.budget_s if chosen.budget_s else float("inf")
        self._remembered: OrderedDict[str, Verdict] = OrderedDict()
        self._classes: dict[str, type[_PathError]] = {}
        self._shrinks_until = float("inf")
        self._left_to_refuse = 0
        self._processes_left = _MAX_PROCESSES
        self.result = SearchResult()
        self.known: set[str] = set()

    def begin_round(self, max_examples: int) -> None:
        """Forget that this round has found something."""
        self._shrinks_until = float("inf")
        self._left_to_refuse = _BLOCKED_PER_EXAMPLE * max_examples
        self._processes_left = _MAX_PROCESSES

    def is_over(self) -> bool:
        """Return whether the time is up."""
        return time.monotonic() > self._end

    @property
    def strategy(self) -> st.SearchStrategy[Any]:
        """The calls, counting those that their preconditions discard while they are drawn."""
        inner, result = self._strategy, self.result

        @st.composite
        def counted(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
            try:
                return draw(inner)
            except (UnsatisfiedAssumption, StopTest):  # `assume`, and a filter
                if not self._is_shrinking() and not _is_cut_short():
                    result.discarded += 1
                raise

        return counted()

    def attempt(self, call: Any) -> None:
        """Make a call unless it was made before, and tell Hypothesis what came of it.

        Raises:
            _PathError: if it fails on a path that is not known yet.
        """
        key = json.dumps(call.to_json())
        verdict = self._remembered.get(key)
        if verdict is None:
            if self._has_no_time():
                return
            verdict = self._execute(call)
            self._remember(key, verdict)
            self._count(verdict)
            if isinstance(verdict, CallFailure) and verdict.kind in PROCESS_ENDING:
                self._processes_left -= verdict.key in self.known
        self._tell(call, verdict)

    def _has_no_time(self) -> bool:
        now = time.monotonic()
        if now > self._end and not self._is_shrinking():
            self.result.stopped = True
        if self._processes_left <= 0:
            return True
        return now > min(self._shrinks_until, self._end)

    def _is_shrinking(self) -> bool:
        return self._shrinks_until < float("inf")

    def _remember(self, key: str, verdict: Verdict) -> None:
        self._remembered[key] = verdict
        if len(self._remembered) > _MAX_REMEMBERED:
            self._remembered.popitem(last=False)

    def _count(self, verdict: Verdict) -> None:
        if self._is_shrinking():
            return
        match verdict:
            case CallPassed() | CallFailure():
                self.result.valid += 1
            case Discarded(why):
                self.result.discarded += 1
                self._note(why)
            case NoInstance(why):
                self.result.no_instance += 1
                self._note(why)

    def _note(self, why: str) -> None:
        self.result.reasons[why] = self.result.reasons.get(why, 0) + 1

    def _tell(self, call: Any, verdict: Verdict) -> None:
        match verdict:
            case Discarded() | NoInstance():
                reject()
            case CallFailure() if verdict.key in self.known:
                if self._left_to_refuse > 0:
                    self._left_to_refuse -= 1
                    reject()
            case CallFailure():
                if not self._is_shrinking():
                    self._shrinks_until = time.monotonic() + SHRINK_S
                raise self._class_of(verdict)(call, verdict)
            case CallPassed():
                pass

    def _class_of(self, failure: CallFailure) -> type[_PathError]:
        known = self._classes.get(failure.key)
        if known is None:
            known = self._classes[failure.key] = type("_Path", (_PathError,), {})
        return known


def _round(name: str, hunt: _Hunt, chosen: SearchSettings) -> list[tuple[Any, CallFailure]]:
    """Search once, and return the smallest call of each new path."""
    profile = settings.default if settings.default is not None else settings()
    database = profile.database and (chosen.database or database_at(chosen.home, profile.database))
    wanted = chosen.max_examples or profile.max_examples
    hunt.begin_round(wanted)

    # What Hypothesis would add are its own frames, examined for a cause that lies elsewhere.
    phases = [phase for phase in profile.phases if phase is not Phase.explain]

    @settings(
        profile,
        max_examples=wanted,
        database=keeping(database) if hunt.known and database is not None else database,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=True,
        print_blob=False,
    )
    @given(hunt.strategy)
    def no_valid_call_fails(call: Any) -> None:
        hunt.attempt(call)

    inner: Any = no_valid_call_fails
    inner.hypothesis.inner_test._hypothesis_internal_add_digest = name.encode()  # noqa: SLF001 - as Hypothesis's own plugin tells tests apart
    found: list[_PathError] = []
    with with_reporter(chosen.reporter or _ignore):
        try:
            no_valid_call_fails()
        except* _PathError as group:
            found = _leaves(group)
        except* Unsatisfiable:
            pass  # the counts say so
    return [(error.call, error.failure) for error in found]


def _ignore(text: object) -> None:
    del text


def _leaves(group: BaseExceptionGroup[_PathError]) -> list[_PathError]:
    """Return the errors of a group, in the order in which Hypothesis found them."""
    found: list[_PathError] = []
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            found += _leaves(error)
        else:
            found.append(error)
    return found
