"""What oracles ask of a level: what its cases promise, and how what came of them is compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from ciguard.domain.case import Case, OpaqueCase
from ciguard.domain.values import Value
from ciguard.errors import RegistrationError
from ciguard.levels import LEVELS, LevelSpec
from ciguard.oracles.comparing.differences import differs
from ciguard.oracles.comparing.given import asks_for_much, inputs_given
from ciguard.oracles.relations import RELATIONS, observed_in

if TYPE_CHECKING:
    from ciguard.domain.findings import Evidence, Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles.comparing.comparison import Difference
    from ciguard.oracles.comparing.tolerance import InputPrecision

C = TypeVar("C", bound=Case)
Move: TypeAlias = Callable[[Sequence[Value]], tuple[Value, ...]]
"""Moves every number in some values by a little."""


@runtime_checkable
class JudgedLevel(LevelSpec, Protocol):
    """A level whose cases oracles judge. `JudgingDefaults` answers for cases that are calls."""

    @property
    def returns_law(self) -> str:
        """What a run that does not return breaks."""

    @property
    def compares_targets(self) -> bool:
        """Whether runs on other targets are held against the reference; not where it votes."""

    def inputs(self, case: Case) -> InputPrecision:
        """Return how exact the results of a case can be, from what it is given."""

    def compare(
        self, case: Case, reference: Outcome, other: Outcome, inputs: InputPrecision
    ) -> Difference | None:
        """Return how two outcomes of a case differ in what is compared of it."""

    def evidence(
        self, case: Case, difference: Difference, sides: Mapping[str, Outcome]
    ) -> Evidence | None:
        """Return what two targets answered, the reference first; None if their outcomes tell."""

    def is_forbidden(self, case: Case) -> bool:
        """Return whether a case was made against what the library documents."""

    def asks_for_much(self, case: Case) -> bool:
        """Return whether a large number is given: long work may be intended then."""

    def is_repeated(self, case: Case) -> bool:
        """Return whether a case runs over and over: its time says nothing of one run."""

    def nudged(self, case: Case, seed: int, move: Move) -> Case:
        """Return a case with what it computes with moved a little, or as it is.

        Args:
            case: of this level, as workers run it.
            seed: decides what goes up and what goes down.
            move: moves the numbers in values.
        """

    def witnesses(self, finding: Finding) -> tuple[str, ...]:
        """Return the targets that say what a run makes of rounding."""

    def is_broken(self, case: Case, output: Output, inputs: InputPrecision) -> bool:
        """Return whether a result breaks the law that a case was tried with."""


class JudgingDefaults(Generic[C]):
    """Cases that are small calls, whose results are compared."""

    returns_law: ClassVar[str] = "A call on a few small arguments returns within seconds"
    compares_targets: ClassVar[bool] = True

    def inputs(self, case: C) -> InputPrecision:
        """Return what the values say."""
        return inputs_given(case)

    def compare(
        self, case: C, reference: Outcome, other: Outcome, inputs: InputPrecision
    ) -> Difference | None:
        """Return how ends, results and effects differ."""
        del case
        return differs(reference, other, inputs)

    def evidence(
        self, case: C, difference: Difference, sides: Mapping[str, Outcome]
    ) -> Evidence | None:
        """Return None: the outcomes tell."""
        del case, difference, sides
        return None

    def is_forbidden(self, case: C) -> bool:
        """Return that it was not: laws of parameters are looked up by the oracles."""
        del case
        return False

    def asks_for_much(self, case: C) -> bool:
        """Return whether there is a large number among the values."""
        return asks_for_much(case)

    def is_repeated(self, case: C) -> bool:
        """Return that each case is one run."""
        del case
        return False

    def nudged(self, case: C, seed: int, move: Move) -> C:
        """Return the case: its values are nobody's concern."""
        del seed, move
        return case

    def witnesses(self, finding: Finding) -> tuple[str, ...]:
        """Return all targets of the finding."""
        return finding.targets

    def is_broken(self, case: C, output: Output, inputs: InputPrecision) -> bool:
        """Return whether the metamorphic relation of the case is broken."""
        observed = observed_in(output, inputs)
        return observed is not None and RELATIONS.get(case.relation).broken(observed) is not None


class _NotInstalled(JudgingDefaults[Case]):
    """The level of cases that nothing installed can read."""

    name: ClassVar[str] = "(not installed)"


_NOT_INSTALLED = _NotInstalled()


def judged(case: Case) -> JudgedLevel:
    """Return the level of a case; one that knows nothing if that is not installed.

    Raises:
        UnknownNameError: if there is none of that name.
        RegistrationError: if its cases cannot be judged.
    """
    return _NOT_INSTALLED if isinstance(case, OpaqueCase) else _judged(case.level)


@cache
def _judged(name: str) -> JudgedLevel:
    level = LEVELS.get(name)
    if not isinstance(level, JudgedLevel):
        msg = f"level {name!r} ({level!r}) does not fulfil ciguard.oracles.JudgedLevel"
        raise RegistrationError(msg)
    return level


def inputs_in(case: Case) -> InputPrecision:
    """Return how exact the results of a case can be, from what it is given."""
    return judged(case).inputs(case)
