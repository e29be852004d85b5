"""Search with Hypothesis for valid calls of one function that fail.

Hypothesis draws, shrinks and stores calls in this process. The calls run in another process, so
that crashes do not end the search. Failures with different paths (class of the exception, and
innermost frame of the user's code) are different failures. After a failure, its path is blocked:
further calls with this path are rejected like invalid calls, and the search goes on.
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
    EXPENSIVE_KINDS,
    CallFailure,
    CallPassed,
    Discarded,
    NoInstance,
    Undecided,
    Verdict,
)
from ciguard.functions.searching.examples import ProtectedDatabase, database_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from ciguard.domain.values import Json
    from ciguard.functions.searching.settings import SearchSettings

MAX_FAILURES = 10
"""Number of distinct failures after which a search ends."""
SHRINK_S = 30.0
"""Time for shrinking and further search after a round's first failure, in seconds."""
_MAX_CACHED_VERDICTS = 20_000
"""Maximum number of cached verdicts."""
_REJECTIONS_PER_EXAMPLE = 2
"""Maximum number of rejections of blocked paths per example; further calls count as passed."""
_MAX_REPETITIONS = 20
"""Number of calls after which a slow search ends if all calls fail in the same way."""
_PATIENCE_S = 5.0
"""Seconds after which a round is slow."""
_MAX_EXPENSIVE_CALLS = 10
"""Number of expensive calls with blocked paths after which a round makes no more calls."""


class DrawnCall(Protocol):
    """Interface of a drawn call, which is sent to another process as JSON."""

    def to_json(self) -> Json:
        """Return the JSON form of the call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MinimalFailure:
    """One failure with its smallest call."""

    call: Any
    failure: CallFailure
    is_reproducible: bool
    """True if the smallest call failed in the same way when it was repeated."""
    output: tuple[str, str]
    """Standard output and standard error of the repeated call."""


@dataclass(slots=True)
class SearchResult:
    """Failures of one function, and numbers of inputs."""

    failures: list[MinimalFailure] = field(default_factory=list)
    valid_count: int = 0
    """Number of distinct valid calls, without those for shrinking."""
    discarded_count: int = 0
    """Number of invalid inputs."""
    no_instance_count: int = 0
    """Number of inputs whose call was not made because the constructor of its object failed."""
    reasons: dict[str, int] = field(default_factory=dict)
    """Number of discarded inputs by reason, for inputs that the process discarded."""
    is_stopped: bool = False
    """True if the time budget was used up before all examples were tried."""
    fails_always: bool = False
    """True if the search ended early, because all calls failed in the same way."""
    defect: str = ""
    """Report of a defect of ciguard that ended the search; empty without one."""

    @property
    def discard_rate(self) -> float:
        """Fraction of the inputs that were discarded, 0 to 1; 0 without inputs."""
        drawn = self.valid_count + self.discarded_count
        return self.discarded_count / drawn if drawn else 0.0


def search(
    name: str,
    strategy: st.SearchStrategy[Any],
    execute: Callable[[Any], Verdict],
    *,
    options: SearchSettings,
    output: Callable[[], tuple[str, str]] = lambda: ("", ""),
) -> SearchResult:
    """Search for calls of a function that fail, and return the failures.

    Args:
        name: key of the function's failures in Hypothesis's database.
        strategy: strategy that draws calls (`DrawnCall`).
        execute: makes a call and returns its verdict.
        options: settings of the search.
        output: returns standard output and standard error of the last call.
    """
    state = _Search(strategy, execute, options)
    while len(state.known_paths) < MAX_FAILURES:
        new_failures = _search_round(name, state, options)
        for call, failure in new_failures:
            state.known_paths.add(failure.key)
            repeated = execute(call)
            state.result.failures.append(
                MinimalFailure(
                    call=call,
                    failure=failure,
                    is_reproducible=isinstance(repeated, CallFailure)
                    and repeated.kind is failure.kind,
                    output=output(),
                )
            )
        if not new_failures or state.is_out_of_time():
            break
    return state.result


class _PathError(Exception):
    """Error that reports a failure to Hypothesis; each failure path has its own subclass."""

    def __init__(self, call: Any, failure: CallFailure) -> None:
        super().__init__(failure.message)
        self.call = call
        self.failure = failure


def _is_overrun() -> bool:
    """Return whether Hypothesis aborted the current draw because it needs too many choices."""
    return current_build_context().data.status is Status.OVERRUN


class _Search:
    """State of the search for failures of one function, for all rounds."""

    def __init__(
        self,
        strategy: st.SearchStrategy[Any],
        execute: Callable[[Any], Verdict],
        options: SearchSettings,
    ) -> None:
        self._strategy = strategy
        self._execute = execute
        self._deadline_s = time.monotonic() + options.budget_s if options.budget_s else float("inf")
        self._verdicts: OrderedDict[str, Verdict] = OrderedDict()
        self._error_classes: dict[str, type[_PathError]] = {}
        self._round_began_s = time.monotonic()
        self._shrink_deadline_s = float("inf")
        self._rejections_left = 0
        self._expensive_calls_left = _MAX_EXPENSIVE_CALLS
        self._repetitions: int | None = 0
        """Number of calls that repeat the first failure; None if a call had another result."""
        self.result = SearchResult()
        self.known_paths: set[str] = set()

    def begin_round(self, max_examples: int) -> None:
        """Reset the limits that hold for one round."""
        self._round_began_s = time.monotonic()
        self._shrink_deadline_s = float("inf")
        self._rejections_left = _REJECTIONS_PER_EXAMPLE * max_examples
        self._expensive_calls_left = _MAX_EXPENSIVE_CALLS

    def is_out_of_time(self) -> bool:
        """Return whether the time budget is used up."""
        return time.monotonic() > self._deadline_s

    @property
    def strategy(self) -> st.SearchStrategy[Any]:
        """Strategy that draws calls, and counts the inputs that Hypothesis discards."""
        inner, result = self._strategy, self.result

        @st.composite
        def draw_and_count(draw: Callable[[st.SearchStrategy[Any]], Any]) -> Any:
            try:
                return draw(inner)
            except (UnsatisfiedAssumption, StopTest):  # raised by `assume` and by filters
                if not self._is_shrinking() and not _is_overrun():
                    result.discarded_count += 1
                raise

        return draw_and_count()

    def attempt(self, call: Any) -> None:
        """Make a call, unless its verdict is cached, and report the verdict to Hypothesis.

        Raises:
            _PathError: if the call fails with a new failure path.
        """
        key = json.dumps(call.to_json())
        verdict = self._verdicts.get(key)
        if verdict is None:
            if self._is_call_forbidden():
                return
            verdict = self._execute(call)
            self._cache(key, verdict)
            self._count(verdict)
            self._note_uniformity(verdict)
            if isinstance(verdict, CallFailure) and verdict.kind in EXPENSIVE_KINDS:
                self._expensive_calls_left -= verdict.key in self.known_paths
        self._report_to_hypothesis(call, verdict)

    def _is_call_forbidden(self) -> bool:
        """Return whether another call is forbidden, by a limit or as its verdict is known."""
        if self.result.defect or self.result.fails_always:
            return True
        now = time.monotonic()
        if now > self._deadline_s and not self._is_shrinking():
            self.result.is_stopped = True
        if self._expensive_calls_left <= 0:
            return True
        return now > min(self._shrink_deadline_s, self._deadline_s)

    def _is_shrinking(self) -> bool:
        """Return whether the round has found a failure, which Hypothesis shrinks."""
        return self._shrink_deadline_s < float("inf")

    def _cache(self, key: str, verdict: Verdict) -> None:
        self._verdicts[key] = verdict
        if len(self._verdicts) > _MAX_CACHED_VERDICTS:
            self._verdicts.popitem(last=False)

    def _count(self, verdict: Verdict) -> None:
        """Count a verdict, unless the call was made for shrinking."""
        if isinstance(verdict, Undecided):
            self.result.defect = verdict.report
        if self._is_shrinking():
            return
        match verdict:
            case CallPassed() | CallFailure():
                self.result.valid_count += 1
            case Discarded(reason):
                self.result.discarded_count += 1
                self._count_reason(reason)
            case NoInstance(reason):
                self.result.no_instance_count += 1
                self._count_reason(reason)
            case Undecided():
                pass

    def _note_uniformity(self, verdict: Verdict) -> None:
        """Count the calls that repeat the only known failure, and end a slow search after many."""
        match verdict:
            case CallFailure(key=key) if self._repetitions is not None and self.known_paths:
                self._repetitions = self._repetitions + 1 if self.known_paths == {key} else None
                is_slow = time.monotonic() - self._round_began_s > _PATIENCE_S
                self.result.fails_always = is_slow and (self._repetitions or 0) >= _MAX_REPETITIONS
            case CallPassed():
                self._repetitions = None
            case _:
                pass

    def _count_reason(self, reason: str) -> None:
        self.result.reasons[reason] = self.result.reasons.get(reason, 0) + 1

    def _report_to_hypothesis(self, call: Any, verdict: Verdict) -> None:
        """Raise what Hypothesis expects for a verdict: a rejection or a failure."""
        match verdict:
            case Discarded() | NoInstance() | Undecided():
                reject()
            case CallFailure() if verdict.key in self.known_paths:
                if self._rejections_left > 0 and not self.result.fails_always:
                    self._rejections_left -= 1
                    reject()
            case CallFailure():
                if not self._is_shrinking():
                    self._shrink_deadline_s = time.monotonic() + SHRINK_S
                raise self._class_of(verdict)(call, verdict)
            case CallPassed():
                pass

    def _class_of(self, failure: CallFailure) -> type[_PathError]:
        """Return the class of errors for a failure's path."""
        error_class = self._error_classes.get(failure.key)
        if error_class is None:
            error_class = self._error_classes[failure.key] = type("_Path", (_PathError,), {})
        return error_class


def _search_round(
    name: str, state: _Search, options: SearchSettings
) -> list[tuple[Any, CallFailure]]:
    """Search once, and return the smallest call and the failure for each new failure path."""
    profile = settings.default if settings.default is not None else settings()
    database = profile.database and (
        options.database or database_at(options.home, profile.database)
    )
    max_examples = options.max_examples or profile.max_examples
    state.begin_round(max_examples)

    # Hypothesis explains a failure by lines of this process, but its cause is in another process.
    phases = [phase for phase in profile.phases if phase is not Phase.explain]

    @settings(
        profile,
        max_examples=max_examples,
        database=ProtectedDatabase(database)
        if state.known_paths and database is not None
        else database,
        deadline=None,
        phases=phases,
        suppress_health_check=list(HealthCheck),
        report_multiple_bugs=True,
        print_blob=False,
    )
    @given(state.strategy)
    def no_valid_call_fails(call: Any) -> None:
        state.attempt(call)

    inner: Any = no_valid_call_fails
    inner.hypothesis.inner_test._hypothesis_internal_add_digest = name.encode()  # noqa: SLF001 - as Hypothesis's own plugin distinguishes tests
    errors: list[_PathError] = []
    with with_reporter(options.reporter or _ignore_text):
        try:
            no_valid_call_fails()
        except* _PathError as group:
            errors = _flatten(group)
        except* Unsatisfiable:
            pass  # the counts of the result show that no input is valid
    return [(error.call, error.failure) for error in errors]


def _ignore_text(text: object) -> None:
    del text


def _flatten(group: BaseExceptionGroup[_PathError]) -> list[_PathError]:
    """Return the errors of a group, in the order in which Hypothesis found them."""
    errors: list[_PathError] = []
    for error in group.exceptions:
        if isinstance(error, BaseExceptionGroup):
            errors += _flatten(error)
        else:
            errors.append(error)
    return errors
