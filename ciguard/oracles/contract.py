"""The protocol of oracles, their registry, and the function that applies all oracles to a case."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

from ciguard.domain.outcomes import Crashed, Passed, Rejected
from ciguard.errors import UnknownNameError
from ciguard.levels import LEVELS
from ciguard.registry import Registry
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding, Severity
    from ciguard.domain.outcomes import Outcome
    from ciguard.oracles.specifications import Specification


ACROSS_LIBRARIES = "across-libraries"
"""Name of the oracle that judges equivalent calls of several libraries."""
UNSTABLE_TAGS = frozenset({"random", "time", "unstable"})
"""Tags of APIs that may return other values in every call, so that values are not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """The properties in which one target can differ from another."""

    request: str
    """The target as requested, without the number that distinguishes two equal requests."""
    packages: tuple[str, ...]
    version: str
    device: str
    mode: str = EAGER
    environment: tuple[tuple[str, str], ...] = ()
    library: str = ""
    engine: str = ""
    """Name of the library that computes results: for Keras, its backend; otherwise the library."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """The API under test and the targets that it runs on."""

    library: str
    api: str
    tags: frozenset[str] = frozenset()
    """Tags from the catalogue, and `unstable` after two runs of a call have returned different
    values."""
    on_devices: frozenset[str] = frozenset()
    """Notes on results on devices from the catalogues of all targets."""
    targets: Mapping[str, Identity]
    """All targets of the library, in the order of the request. The first one is the reference."""
    specifications: Mapping[str, Sequence[Specification]] = field(default_factory=dict)
    """Specifications in the API's documentation, by parameter."""
    guarded: frozenset[str] = frozenset()
    """Names of the targets that run under the memory guard."""
    parameters: tuple[str, ...] = ()
    """Names of the API's parameters, in order."""
    inputs: tuple[str, ...] = ()
    """Names of the parameters of a layer's call, in order."""

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
    """True if a worker that runs the case cannot run further cases."""
    takes_whole_timeout: bool = False
    """True if each run of the case takes until its timeout."""
    is_differential: bool = False
    """True if the findings are differences between targets of one library."""
    may_be_refusal: bool = False
    """True if the exception may be a rejection of the arguments with the wrong exception class."""
    weight: Severity | None = None
    """Severity of findings that programs can reach with public APIs; other findings have severity
    LOW. None if the severity does not depend on that."""
    compares_results: bool = False
    """True if results are compared. A call that does not repeat its own result is then flaky."""
    needs_conforming: bool = False
    """True if findings count only for calls that conform to the documentation."""
    is_measured: bool = False
    """True if the oracle judges measurements of time or memory."""
    tests_user_functions: bool = False
    """True if the findings are about the user's functions, whose failures share no root cause."""
    is_shown_by_passing: bool = False
    """True if a case that passes shows the defect, because the library should have rejected it."""
    is_judged_alone: bool = False
    """True if the outcome on a single target shows the defect."""
    claim: str = ""
    """Sentence about a finding, with the placeholders `{kind}` and `{detail}`; empty if the outcome
    describes the defect."""
    claims: Mapping[str, str] = field(default_factory=dict)
    """Sentences that replace `claim`, by kind."""
    second_target_fails: bool = False
    """True if a finding about two targets means that only the second one fails."""
    ignores_library: bool = False
    """True if the fingerprint does not contain the library's name."""
    mark: str = ""
    """First word of the line that a script prints if it shows the defect; empty if its exit status
    shows it."""


@runtime_checkable
class Oracle(Protocol):
    """Judges the outcomes of one case, without I/O, clock or random numbers.

    The optional attribute `traits` describes the findings to other packages.
    """

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return the defects that the outcomes show; an empty sequence if they show none."""


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
        "memory": "ciguard.oracles.memory:ORACLE",
        "metamorphic": "ciguard.oracles.metamorphic:ORACLE",
        "performance": "ciguard.oracles.performance:ORACLE",
    },
    first=LEVELS.items,
)
"""Registry of oracles. A level registers its own oracles when it is loaded."""


@cache
def traits_of(oracle: str) -> Traits:
    """Return the traits of the oracle of a given name, or the defaults if it has none."""
    try:
        traits = getattr(ORACLES.get(oracle), "traits", None)
    except UnknownNameError:
        traits = None  # the oracle's package is not installed here
    return traits if isinstance(traits, Traits) else Traits()


def headline(message: str) -> str:
    """Return the first informative line of a library's message, shortened for display.

    Names of TensorFlow's graph nodes, terminal colours, and the line that Keras puts in front of a
    layer's message are removed.
    """
    return _BOILERPLATE.sub("", message).strip().partition("\n")[0][:_MAX_HEADLINE_LENGTH]


_BOILERPLATE = re.compile(
    r"\{\{[^{}]*\}\} ?|\A\s*Exception encountered when calling [^\n]*\n|\x1b\[[0-9;]*m"
)
_MAX_HEADLINE_LENGTH = 160


def judge(case: Case, outcomes: Mapping[str, Outcome], subject: Subject) -> list[Finding]:
    """Return the findings of all registered oracles.

    Most cases have the same harmless outcome on all targets. A cheap test avoids calling the
    oracles for them.
    """
    if subject.guarded and not subject.guarded.isdisjoint(outcomes):
        return _judge_with_guarded(case, outcomes, subject)
    is_plain = not case.relation and case.focus not in subject.specifications
    if is_plain and not case.has_verdict_alone and _is_uneventful(outcomes):
        return []
    oracles = ORACLES.items()
    if subject.spans_libraries:
        return list(oracles[ACROSS_LIBRARIES].judge(case, outcomes, subject))
    return _findings(oracles, case, outcomes, subject)


_JUDGES_OF_CRASHES = ("crash", "memory")
"""Oracles of guarded targets. Their other outcomes are those of the same target without guard."""


def _findings(
    names: Iterable[str], case: Case, outcomes: Mapping[str, Outcome], subject: Subject
) -> list[Finding]:
    oracles = ORACLES.items()
    return [finding for name in names for finding in oracles[name].judge(case, outcomes, subject)]


def _judge_with_guarded(
    case: Case, outcomes: Mapping[str, Outcome], subject: Subject
) -> list[Finding]:
    """Return the findings about other targets, and those about crashes of guarded targets."""
    others = {name: out for name, out in outcomes.items() if name not in subject.guarded}
    crashed = {
        name: outcome
        for name, outcome in outcomes.items()
        if name in subject.guarded and isinstance(outcome, Crashed)
    }
    return [
        *(judge(case, others, subject) if others else ()),
        *(_findings(_JUDGES_OF_CRASHES, case, crashed, subject) if crashed else ()),
    ]


def _is_uneventful(outcomes: Mapping[str, Outcome]) -> bool:
    """Return whether all targets returned the same result or raised the same rejection."""
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
