"""What an oracle is, and the registry of all."""

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
    from ciguard.oracles.laws import Law


ACROSS_LIBRARIES = "across-libraries"
"""Name of the one oracle that judges equivalent calls of several libraries."""
UNSTABLE_TAGS = frozenset({"random", "time", "unstable"})
"""APIs whose values may differ from call to call: their values are not compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """In what one target can differ from another."""

    request: str
    """The target's text without the number that tells two equal requests apart."""
    packages: tuple[str, ...]
    version: str
    device: str
    mode: str = EAGER
    environment: tuple[tuple[str, str], ...] = ()
    library: str = ""
    engine: str = ""
    """The library that it computes with: for Keras its backend, else the library itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """What is being tested."""

    library: str
    api: str
    tags: frozenset[str] = frozenset()
    """The catalogue's, plus `unstable` once the campaign has seen the API disagree with itself."""
    targets: Mapping[str, Identity]
    """Every target of the library, in the order given: the first is the reference."""
    laws: Mapping[str, Sequence[Law]] = field(default_factory=dict)
    """What the API's own words forbid, by parameter."""

    @property
    def spans_libraries(self) -> bool:
        """Whether the targets are of several libraries, which run equivalent calls."""
        return len({identity.library for identity in self.targets.values()}) > 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Traits:
    """What other packages need to know of an oracle's findings, beside what it judges."""

    is_death: bool = False
    """A process died."""
    ends_workers: bool = False
    """A worker that runs the case is lost, so the case never shares one."""
    takes_limit: bool = False
    """Each run of the case takes its whole time limit."""
    holds_targets_apart: bool = False
    """Targets of one library answer the same call differently."""
    may_be_refusal: bool = False
    """What says which argument is wrong is a refusal, of the wrong class of exception."""
    weight: Severity | None = None
    """Of what any call may come to, whatever it is given; it weighs less where no program can."""
    compares_results: bool = False
    """Results are compared: a call that disagrees with itself proves nothing."""
    needs_conforming: bool = False
    """Says something of calls only that keep to the documentation."""
    is_measured: bool = False
    """Rests on measurements, which are made in a stage of their own."""
    is_of_user: bool = False
    """About functions of the user's, each of which fails by itself."""
    is_shown_by_passing: bool = False
    """A case that passes on one target shows it."""
    is_judged_alone: bool = False
    """The outcome on one target decides."""
    claim: str = ""
    """What a finding shows, as a sentence that may hold `{kind}` and `{detail}`; empty where the
    outcomes tell."""
    claims: Mapping[str, str] = field(default_factory=dict)
    """The same by kind, where each has a sentence of its own."""
    fails_on_one: bool = False
    """What it finds between two targets is that the second fails, and the first does not."""
    ignores_library: bool = False
    """The library that a target is known by tells nothing: it is no part of a fingerprint."""
    mark: str = ""
    """What a script prints when the defect shows; empty where its end tells."""


@runtime_checkable
class Oracle(Protocol):
    """Judges the outcomes of one case. Pure: no I/O, no clock, no randomness.

    An attribute `traits`, if it has one, says what others need to know of its findings.
    """

    def judge(
        self, case: Case, outcomes: Mapping[str, Outcome], subject: Subject
    ) -> Sequence[Finding]:
        """Return the findings that the outcomes prove; none when they prove nothing."""


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
"""A level's own oracles are registered beside the level."""


@cache
def traits_of(oracle: str) -> Traits:
    """Return the traits of an oracle by its name; plain ones if it says none, or is unknown."""
    try:
        found = getattr(ORACLES.get(oracle), "traits", None)
    except UnknownNameError:
        found = None  # of a package that is not installed here
    return found if isinstance(found, Traits) else Traits()


def headline(message: str) -> str:
    """Return what a library's message says first, for people.

    Without nodes of TensorFlow's graph, and without what Keras puts before the message of a layer.
    """
    return _DRESSING.sub("", message).strip().partition("\n")[0][:_MAX_HEADLINE]


_DRESSING = re.compile(
    r"\{\{[^{}]*\}\} ?|\A\s*Exception encountered when calling [^\n]*\n|\x1b\[[0-9;]*m"
)
_MAX_HEADLINE = 160


def judge(case: Case, outcomes: Mapping[str, Outcome], subject: Subject) -> list[Finding]:
    """Return the findings of every registered oracle.

    Most cases end alike everywhere in an orderly way; they are told apart here at little cost.
    """
    is_plain = not case.relation and case.focus not in subject.laws
    if is_plain and not case.has_verdict_alone and _is_uneventful(outcomes):
        return []
    oracles = ORACLES.items()
    if subject.spans_libraries:
        return list(oracles[ACROSS_LIBRARIES].judge(case, outcomes, subject))
    return [
        finding for oracle in oracles.values() for finding in oracle.judge(case, outcomes, subject)
    ]


def _is_uneventful(outcomes: Mapping[str, Outcome]) -> bool:
    first = next(iter(outcomes.values()), None)
    match first:
        case Passed(encoded):
            return all(isinstance(o, Passed) and o.encoded == encoded for o in outcomes.values())
        case Rejected():
            return all(
                isinstance(o, Rejected) and o.exception == first.exception
                for o in outcomes.values()
            )
        case None:
            return True
        case _:
            return False
