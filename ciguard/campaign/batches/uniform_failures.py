"""Functions of the user whose calls all fail in one way, and so need few calls."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ciguard.domain.outcomes import Errored, Rejected, Stage

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.outcomes import Outcome

_MAX_REPETITIONS = 20
"""Number of valid calls after which a function has no more turns if all of them fail in one way.

Level `function` under pytest has the same limit, see `functions.searching`."""
_NEVER = 1 << 62
"""Index of a batch that no run reaches."""


@dataclass(slots=True)
class _Failures:
    """The first failure of a function's calls."""

    failure: str
    """Exception, and the frame that raised it; empty if the first call did not fail."""
    batches: list[tuple[int, int]] = field(default_factory=list)
    """Index of each batch with calls that failed so, and their number."""
    mixed_from: int = _NEVER
    """Index of the first batch with another outcome."""


class UniformFailures:
    """The failure of each function, as long as it is the only outcome of its valid calls.

    A decision about a batch depends only on earlier batches up to a given one, so that the same
    seed gives the same cases.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Failures] = {}

    def note(
        self, index: int, cases: Sequence[Case], outcomes: Mapping[str, Sequence[Outcome]]
    ) -> None:
        """Record the outcomes of a batch, by target; calls with invalid arguments do not count."""
        for case, *row in zip(cases, *outcomes.values(), strict=True):
            valid = [outcome for outcome in row if not _is_invalid(outcome)]
            if case.is_user_code and valid:
                self._note_call(index, case.api, set(map(_failure, valid)))

    def _note_call(self, index: int, function: str, failures: set[str]) -> None:
        known = self._known.setdefault(function, _Failures(min(failures)))
        if known.mixed_from < _NEVER:
            return
        if failures != {known.failure} or failures == {""}:
            known.mixed_from = index
        elif known.batches and known.batches[-1][0] == index:
            known.batches[-1] = index, known.batches[-1][1] + 1
        else:
            known.batches.append((index, 1))

    def suffice(self, function: str, *, until: int, tolerated: int) -> bool:
        """Return whether a function needs no more calls.

        Args:
            function: name of the function.
            until: index of the last batch that counts.
            tolerated: number of batches with this failure that are run in addition.
        """
        known = self._known.get(function)
        if known is None or known.mixed_from <= until:
            return False
        counts = [count for index, count in known.batches if index <= until]
        return sum(counts[: len(counts) - tolerated]) >= _MAX_REPETITIONS

    def state(self) -> dict[str, Any]:
        """Return the state for `restore`."""
        return {
            name: [known.failure, known.batches, known.mixed_from]
            for name, known in self._known.items()
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Restore the state of an interrupted run.

        Raises:
            ValueError, TypeError: if it is invalid.
        """
        self._known = {
            str(name): _Failures(
                str(failure), [(int(index), int(count)) for index, count in batches], int(mixed)
            )
            for name, (failure, batches, mixed) in state.items()
        }


def _is_invalid(outcome: Outcome) -> bool:
    return isinstance(outcome, Rejected) and outcome.stage is not Stage.CALL


def _failure(outcome: Outcome) -> str:
    """Return the class of an exception and the frame that raised it; empty for any other end."""
    if not isinstance(outcome, Errored):
        return ""
    frames = [f"{frame.file} {frame.function}" for frame in outcome.stack[:1]]
    return " ".join([outcome.exception, *frames])
