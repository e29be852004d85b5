"""What oracles need from a level: what its cases guarantee, and how outcomes are compared."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Generic, Protocol, TypeAlias, TypeVar, runtime_checkable

from ciguard.domain.case import Case, OpaqueCase
from ciguard.domain.values import Value
from ciguard.errors import RegistrationError
from ciguard.levels import LEVELS, LevelSpec
from ciguard.oracles.comparing.differences import outcome_difference
from ciguard.oracles.comparing.inputs import input_precision, is_large_request
from ciguard.oracles.relations import RELATIONS, observed_in

if TYPE_CHECKING:
    from ciguard.domain.findings import Evidence, Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.execution import Output
    from ciguard.oracles.comparing.comparison import Difference
    from ciguard.oracles.comparing.tolerance import InputPrecision

CaseT = TypeVar("CaseT", bound=Case)
Perturbation: TypeAlias = Callable[[Sequence[Value]], tuple[Value, ...]]
"""Perturbs every number in some values slightly."""


@runtime_checkable
class JudgedLevel(LevelSpec, Protocol):
    """A level whose cases oracles judge. `JudgingDefaults` serves cases that are calls."""

    @property
    def termination_invariant(self) -> str:
        """The invariant that a run which does not return breaks."""

    @property
    def compares_targets(self) -> bool:
        """True if other targets are compared with the reference; False if targets vote."""

    def inputs(self, case: Case) -> InputPrecision:
        """Return how exact the results of a case can be, given its inputs."""

    def compare(
        self, case: Case, reference: Outcome, other: Outcome, inputs: InputPrecision
    ) -> Difference | None:
        """Return how two outcomes of a case differ; None if they agree."""

    def evidence(
        self, case: Case, difference: Difference, sides: Mapping[str, Outcome]
    ) -> Evidence | None:
        """Return what two targets returned, the reference first; None if the outcomes show it."""

    def is_forbidden(self, case: Case) -> bool:
        """Return whether a case deliberately breaks what the library documents."""

    def is_large_request(self, case: Case) -> bool:
        """Return whether the inputs hold a large number, so that long work may be intended."""

    def is_repeated(self, case: Case) -> bool:
        """Return whether a case runs repeatedly, so that its time is not that of one run."""

    def nudged(self, case: Case, seed: int, move: Perturbation) -> Case:
        """Return a case with its numeric inputs perturbed slightly; unchanged if it has none.

        Args:
            case: the case to perturb, in the form that workers run.
            seed: the seed that decides which numbers go up and which go down.
            move: the function that perturbs the numbers in values.
        """

    def witnesses(self, finding: Finding) -> tuple[str, ...]:
        """Return the targets whose runs show the effect of rounding."""

    def is_broken(self, case: Case, output: Output, inputs: InputPrecision) -> bool:
        """Return whether a result breaks the metamorphic relation or invariant of a case."""


class JudgingDefaults(Generic[CaseT]):
    """Defaults for cases that are small calls whose results are compared."""

    termination_invariant: ClassVar[str] = "A call on a few small arguments returns within seconds"
    compares_targets: ClassVar[bool] = True

    def inputs(self, case: CaseT) -> InputPrecision:
        """Return the precision that follows from the argument values."""
        return input_precision(case)

    def compare(
        self, case: CaseT, reference: Outcome, other: Outcome, inputs: InputPrecision
    ) -> Difference | None:
        """Return how outcomes, results and effects differ."""
        del case
        return outcome_difference(reference, other, inputs)

    def evidence(
        self, case: CaseT, difference: Difference, sides: Mapping[str, Outcome]
    ) -> Evidence | None:
        """Return None: the outcomes are evidence enough."""
        del case, difference, sides
        return None

    def is_forbidden(self, case: CaseT) -> bool:
        """Return False: oracles look up what the documentation forbids."""
        del case
        return False

    def is_large_request(self, case: CaseT) -> bool:
        """Return whether the values hold a large number."""
        return is_large_request(case)

    def is_repeated(self, case: CaseT) -> bool:
        """Return False: each case is one run."""
        del case
        return False

    def nudged(self, case: CaseT, seed: int, move: Perturbation) -> CaseT:
        """Return the case unchanged."""
        del seed, move
        return case

    def witnesses(self, finding: Finding) -> tuple[str, ...]:
        """Return all targets of the finding."""
        return finding.targets

    def is_broken(self, case: CaseT, output: Output, inputs: InputPrecision) -> bool:
        """Return whether the metamorphic relation of the case is broken."""
        observed = observed_in(output, inputs)
        return observed is not None and RELATIONS.get(case.relation).broken(observed) is not None


class _UninstalledLevel(JudgingDefaults[Case]):
    """The level of cases whose own level is not installed."""

    name: ClassVar[str] = "(not installed)"


_UNINSTALLED_LEVEL = _UninstalledLevel()


def judged_level_of(case: Case) -> JudgedLevel:
    """Return the level of a case; a level with defaults if the case's own is not installed.

    Raises:
        UnknownNameError: if no level has that name.
        RegistrationError: if the level does not implement `JudgedLevel`.
    """
    return _UNINSTALLED_LEVEL if isinstance(case, OpaqueCase) else _judged(case.level)


@cache
def _judged(name: str) -> JudgedLevel:
    level = LEVELS.get(name)
    if not isinstance(level, JudgedLevel):
        msg = f"level {name!r} ({level!r}) does not implement ciguard.oracles.JudgedLevel"
        raise RegistrationError(msg)
    return level


def input_precision_of(case: Case) -> InputPrecision:
    """Return how exact the results of a case can be, given its inputs."""
    return judged_level_of(case).inputs(case)
