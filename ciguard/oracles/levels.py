"""The protocol between oracles and levels: how to compare and judge the outcomes of cases."""

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
"""Function that returns values with every number in them perturbed slightly."""


@runtime_checkable
class JudgedLevel(LevelSpec, Protocol):
    """A level whose cases oracles can judge. `JudgingDefaults` implements it for calls."""

    @property
    def termination_invariant(self) -> str:
        """The invariant, as a sentence, that a run violates if it does not return."""

    @property
    def compares_targets(self) -> bool:
        """True if other targets are compared with the reference; False if targets vote."""

    def inputs(self, case: Case) -> InputPrecision:
        """Return the precision of a case's inputs, which limits how exact its results can be."""

    def compare(
        self, case: Case, reference: Outcome, other: Outcome, inputs: InputPrecision
    ) -> Difference | None:
        """Return how two outcomes of a case differ; None if they agree."""

    def evidence(
        self, case: Case, difference: Difference, sides: Mapping[str, Outcome]
    ) -> Evidence | None:
        """Return evidence for a difference; None if the outcomes are evidence enough.

        Args:
            case: the case that the targets ran.
            difference: the difference between the two outcomes.
            sides: the outcomes of the two targets, the reference first.
        """

    def is_forbidden(self, case: Case) -> bool:
        """Return whether a case violates the documentation on purpose."""

    def is_large_request(self, case: Case) -> bool:
        """Return whether the inputs hold a number so large that a run may be meant to take long."""

    def is_repeated(self, case: Case) -> bool:
        """Return whether an execution runs a case repeatedly and therefore takes long."""

    def perturb_inputs(self, case: Case, seed: int, move: Perturbation) -> Case:
        """Return a case with its numeric inputs perturbed slightly; unchanged if it has none.

        Args:
            case: the case to perturb, in the form that workers run.
            seed: the seed that decides which numbers grow and which shrink.
            move: the function that perturbs the numbers in values.
        """

    def witnesses(self, finding: Finding) -> tuple[str, ...]:
        """Return the targets on which the effect of rounding errors is measured."""

    def is_broken(self, case: Case, output: Output, inputs: InputPrecision) -> bool:
        """Return whether a result violates the metamorphic relation or invariant of a case."""


class JudgingDefaults(Generic[CaseT]):
    """Defaults for cases that are small calls whose results are compared."""

    termination_invariant: ClassVar[str] = "A call on a few small arguments returns within seconds"
    compares_targets: ClassVar[bool] = True

    def inputs(self, case: CaseT) -> InputPrecision:
        """Return the precision of the values in the case."""
        return input_precision(case)

    def compare(
        self, case: CaseT, reference: Outcome, other: Outcome, inputs: InputPrecision
    ) -> Difference | None:
        """Return how the outcomes, or the effects of the calls on their arguments, differ."""
        del case
        return outcome_difference(reference, other, inputs)

    def evidence(
        self, case: CaseT, difference: Difference, sides: Mapping[str, Outcome]
    ) -> Evidence | None:
        """Return None: the outcomes are evidence enough."""
        del case, difference, sides
        return None

    def is_forbidden(self, case: CaseT) -> bool:
        """Return False: the oracles look up the specifications themselves."""
        del case
        return False

    def is_large_request(self, case: CaseT) -> bool:
        """Return whether the values hold a large number."""
        return is_large_request(case)

    def is_repeated(self, case: CaseT) -> bool:
        """Return False: each case is one run."""
        del case
        return False

    def perturb_inputs(self, case: CaseT, seed: int, move: Perturbation) -> CaseT:
        """Return the case unchanged."""
        del seed, move
        return case

    def witnesses(self, finding: Finding) -> tuple[str, ...]:
        """Return all targets of the finding."""
        return finding.targets

    def is_broken(self, case: CaseT, output: Output, inputs: InputPrecision) -> bool:
        """Return whether the result violates the metamorphic relation of the case."""
        observed = observed_in(output, inputs)
        return (
            observed is not None
            and RELATIONS.get(case.relation).find_violation(observed) is not None
        )


class _UninstalledLevel(JudgingDefaults[Case]):
    """Stand-in for the level of a case if that level is not installed."""

    name: ClassVar[str] = "(not installed)"


_UNINSTALLED_LEVEL = _UninstalledLevel()


def judged_level_of(case: Case) -> JudgedLevel:
    """Return the level of a case, or a stand-in with default methods if it is not installed.

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
    """Return the precision of a case's inputs, which limits how exact its results can be."""
    return judged_level_of(case).inputs(case)
