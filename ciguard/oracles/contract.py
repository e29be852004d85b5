"""The protocol of oracles, their registry, and the function that applies all of them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ciguard.domain.outcomes import Passed, Rejected
from ciguard.errors import UnknownNameError
from ciguard.levels import LEVELS
from ciguard.registry import Registry
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding, Severity
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.specifications import Specification


ACROSS_LIBRARIES = "across-libraries"
"""Name of the oracle that judges equivalent calls of several libraries."""
UNSTABLE_TAGS = frozenset({"random", "time", "unstable"})
"""Tags of APIs whose values may differ from call to call, so values are not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The properties in which one target can differ from another."""

    request: str
    """The target's text, without the number that distinguishes two equal requests."""
    packages: tuple[str, ...]
    version: str
    device: str
    mode: str = EAGER
    environment: tuple[tuple[str, str], ...] = ()
    library: str = ""
    engine: str = ""
    """The library that computes: the backend for Keras, else the library itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The API under test and the targets that it runs on."""

    library: str
    api: str
    tags: frozenset[str] = frozenset()
    """Tags from the catalogue, plus `unstable` once two runs of one call have disagreed."""
    targets: Mapping[str, Identity]
    """Every target of the library in the given order; the first is the reference."""
    specifications: Mapping[str, Sequence[Specification]] = field(default_factory=dict)
    """Specifications of the API's documentation, by parameter."""

    @property
    def spans_libraries(self) -> bool:
        """True if the targets are of several libraries, which run equivalent calls."""
        return len({identity.library for identity in self.targets.values()}) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """Properties of an oracle's findings that other packages need."""

    is_crash: bool = False
    """True if the findings are crashes of the process."""
    loses_worker: bool = False
    """True if the worker that runs the case is lost, so that the case never shares a worker."""
    takes_whole_timeout: bool = False
    """True if each run of the case takes its whole timeout."""
    is_differential: bool = False
    """True if the findings are differences between targets of one library."""
    may_be_refusal: bool = False
    """True if the exception may be a rejection of the arguments by the wrong exception class."""
    weight: Severity | None = None
    """Severity of a defect that counts for any call; lower where no program can make the call."""
    compares_results: bool = False
    """True if results are compared: a call that disagrees with itself proves nothing."""
    needs_conforming: bool = False
    """True if the oracle judges only calls that keep to the documentation."""
    is_measured: bool = False
    """True if the oracle judges measurements, which a stage of their own makes."""
    tests_user_functions: bool = False
    """True if the findings are about the user's functions, each of which fails by itself."""
    is_shown_by_passing: bool = False
    """True if a case that passes on one target shows the defect."""
    is_judged_alone: bool = False
    """True if the outcome on one target decides."""
    claim: str = ""
    """Sentence about a finding, which may contain `{kind}` and `{detail}`; empty where the outcomes
    show the defect."""
    claims: Mapping[str, str] = field(default_factory=dict)
    """The same by kind, for kinds that have a sentence of their own."""
    second_target_fails: bool = False
    """True if a finding between two targets means that the second fails and the first does not."""
    ignores_library: bool = False
    """True if the library's name is not part of a fingerprint."""
    mark: str = ""
    """Line that a script prints when the defect shows; empty where the exit status shows it."""


@runtime_checkable
class Oracle(Protocol):
    """Judges the outcomes of one case. Pure: no I/O, no clock, no randomness.

    The optional attribute `traits` describes the findings for other packages.
    """

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return the findings that the outcomes prove; an empty sequence if they prove nothing."""


ORACLES: Registry[Oracle] = Registry(
    "oracle",
    group="ciguard.oracles",
    accepts=lambda item: isinstance(item, Oracle),
    built_in={
        "across-libraries": "ciguard.oracles.across_libraries:ORACLE",
        "boundary": "ciguard.oracles.boundary:ORACLE",
        "crash": "ciguard.oracles.crash:ORACLE",
        "differential": "ciguard.oracles.differential:ORACLE",
        "exhaustion": "ciguard.oracles.exhaustion:ORACLE",
        "hang": "ciguard.oracles.hang:ORACLE",
        "internal-error": "ciguard.oracles.internal_error:ORACLE",
        "metamorphic": "ciguard.oracles.metamorphic:ORACLE",
        "performance": "ciguard.oracles.performance:ORACLE",
    },
    first=LEVELS.items,
)
"""Registry of oracles. A level's own oracles are registered beside the level."""


@cache
def traits_of(oracle: str) -> Traits:
    """Return the traits of an oracle by its name; the defaults if it has none or is unknown."""
    try:
        traits = getattr(ORACLES.get(oracle), "traits", None)
    except UnknownNameError:
        traits = None  # the oracle's package is not installed here
    return traits if isinstance(traits, Traits) else Traits()


def headline(message: str) -> str:
    """Return the first line of a library's message, shortened, for people.

    Removes nodes of TensorFlow's graph, terminal colours and Keras's line before the message of a
    layer.
    """
    return _BOILERPLATE.sub("", message).strip().partition("\n")[0][:_MAX_HEADLINE_LENGTH]


_BOILERPLATE = re.compile(
    r"\{\{[^{}]*\}\} ?|\A\s*Exception encountered when calling [^\n]*\n|\x1b\[[0-9;]*m"
)
_MAX_HEADLINE_LENGTH = 160


def judge(case: Case, outcomes: Mapping[str, Outcome], subject: Subject) -> list[Finding]:
    """Return the findings of every registered oracle.

    Most cases end alike on all targets without an error; those are recognised here at little cost.
    """
    is_plain = not case.relation and case.focus not in subject.specifications
    if is_plain and not case.has_verdict_alone and _is_uneventful(outcomes):
        return []
    oracles = ORACLES.items()
    if subject.spans_libraries:
        return list(oracles[ACROSS_LIBRARIES].judge(case, outcomes, subject))
    return [
        finding for oracle in oracles.values() for finding in oracle.judge(case, outcomes, subject)
    ]


def _is_uneventful(outcomes: Mapping[str, Outcome]) -> bool:
    """Return whether all targets returned the same result or rejected the case alike."""
    first = next(iter(outcomes.values()), None)
    match first:
        case Passed(encoded):
            return all(
                isinstance(outcome, Passed) and outcome.encoded == encoded
                for outcome in outcomes.values()
            )
        case Rejected():
            return all(
                isinstance(outcome, Rejected) and outcome.exception == first.exception
                for outcome in outcomes.values()
            )
        case None:
            return True
        case _:
            return False
