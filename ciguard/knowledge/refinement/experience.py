"""Experience: a summary of the outcomes of an API's calls, which guides later calls of the API."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ciguard.domain.outcomes import Passed, Rejected, Stage
from ciguard.domain.values import (
    Explicit,
    ListValue,
    LiteralValue,
    TensorValue,
    TupleValue,
    Value,
    value_from_json,
    value_to_json,
)
from ciguard.knowledge.clues import Clue, ClueSource, Structure
from ciguard.knowledge.refinement.messages import Presence, advice_in, parameters_in
from ciguard.knowledge.refinement.refuted import is_refuted
from ciguard.knowledge.refinement.requirements import named_dtype
from ciguard.knowledge.refinement.traits import traits_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.knowledge.refinement.requirements import Fields

_MAX_REQUIREMENTS = 16
_MAX_EXAMPLES = 8
_MAX_OBSERVED = 12
"""Maximum number of observed calls of an operator, of which the first are kept."""
_MAX_MESSAGE_LENGTH = 160
_MIN_MESSAGE_COUNT = 2
"""Minimum count of a requirement that is applied: one message may quote a value by chance."""
_HIGH_PASS_RATE = 0.9
"""Pass rate from which on only requirements on dtypes are applied: messages list all dtypes, and
others concern rare combinations only."""
_ABOUT_DTYPES = {"dtypes", "dtype_of"}
_MAX_EXAMPLE_LENGTH = 64
"""Maximum number of elements or characters of a value in an example."""
_MAX_EXAMPLE_SIZE = 8192
"""Maximum size of a dimension of a tensor in an example."""
_EXAMPLE_INTERVAL = 4
"""Number of passing calls per replacement of an example, once there are enough examples."""


@dataclass(frozen=True, slots=True)
class StatedRequirement:
    """Requirement on one parameter that messages of rejections state, with their count."""

    parameter: str
    """Name of the parameter."""
    fields: Fields
    """Fields of a clue that the messages state."""
    presence: Presence
    """Demand that calls pass or omit the parameter."""
    message: str
    """First message that states the requirement, truncated."""
    count: int
    """Number of messages that state the requirement."""

    @property
    def key(self) -> tuple[str, Fields, Presence]:
        """Identity of the requirement, without the wording and the count of its messages."""
        return self.parameter, self.fields, self.presence


@dataclass(slots=True)
class Experience:
    """Summary of the outcomes of one API's calls."""

    noted: int = 0
    """Number of calls observed, conforming or not."""
    judged: int = 0
    """Number of observed calls with conforming inputs."""
    passed: int = 0
    """Number of conforming calls that the API's validation accepted."""
    counts: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Numbers of accepted and of rejected calls: a pair by parameter and trait of the argument."""
    requirements: list[StatedRequirement] = field(default_factory=list)
    """Requirements that messages of rejections state."""
    examples: list[dict[str, Value]] = field(default_factory=list)
    """Arguments of calls that passed, by parameter."""
    examples_conform: bool = True
    """False if an example may violate a constraint, or resembles one that does."""
    observed: list[dict[str, Value]] = field(default_factory=list)
    """Arguments with which other APIs call the API's operator, by parameter."""

    @property
    def models(self) -> list[dict[str, Value]]:
        """Arguments of valid calls, which later calls may resemble."""
        return [*self.examples, *self.observed]

    @property
    def pass_rate(self) -> float:
        """Share of conforming calls that validation accepted, smoothed to be never 0 or 1."""
        return (self.passed + 1) / (self.judged + 2)

    @property
    def lead(self) -> str:
        """Name of the first parameter for which a call passed a tensor; empty if there is none."""
        return next(
            (
                name
                for name, counts_by_trait in self.counts.items()
                if "kind:tensor" in counts_by_trait
            ),
            "",
        )

    def note(
        self,
        call: Mapping[str, Value],
        names: Sequence[str],
        outcome: Outcome,
        *,
        operator: str = "",
    ) -> None:
        """Update the experience with the outcome of a call with conforming inputs.

        Args:
            call: the arguments of the call, by parameter.
            names: the names of all parameters, in the order of their declaration.
            outcome: the outcome of the call.
            operator: the name of the operator that the API is; empty if it is none.
        """
        self.judged += 1
        if isinstance(outcome, Rejected):
            self._observe_rejection(call, names, outcome, operator)
            return
        self.passed += 1
        self._count(call, names, 0, names)
        if isinstance(outcome, Passed):
            self._keep_example(call)

    def observe_violating(self, call: Mapping[str, Value], outcome: Outcome) -> None:
        """Keep a violating call as an example if it passed and there is no other example."""
        if isinstance(outcome, Passed) and not self.examples:
            self._keep_example(call)
            self.examples_conform = not self.examples

    def with_conforming_examples(self) -> Experience:
        """Return the experience with examples that conform.

        If one may not conform, there are none, and no call counts as noted: without examples, the
        API must be observed again.
        """
        if self.examples_conform:
            return self
        return replace(self, noted=0, examples=[], examples_conform=True)

    def _observe_rejection(
        self, values: Mapping[str, Value], names: Sequence[str], outcome: Rejected, operator: str
    ) -> None:
        """Count a rejected call, and store the requirements that its message states."""
        if outcome.stage is Stage.BUILD:
            self._observe_build_failure(values, names, outcome.message)
            return
        self._count(values, names, 1, parameters_in(outcome.message, names) or names)
        for advice in advice_in(outcome.message, values, names, operator):
            message = " ".join(outcome.message.split())[:_MAX_MESSAGE_LENGTH]
            self._add_requirement(
                StatedRequirement(advice.parameter, advice.fields, advice.presence, message, 1)
            )

    def _observe_build_failure(
        self, values: Mapping[str, Value], names: Sequence[str], message: str
    ) -> None:
        """Count a rejection of an unsupported dtype, which prevents the call of the API."""
        named_dtypes = [dtype for dtype in map(named_dtype, re.findall(r"\w+", message)) if dtype]
        if not named_dtypes:
            return
        trait = f"dtype:{named_dtypes[-1]}"  # the last dtype, as in "jax makes float32 of float64"
        for name, traits in traits_of(values, names).items():
            if trait in traits:
                self.counts.setdefault(name, {}).setdefault(trait, [0, 0])[1] += 1

    def _count(
        self,
        values: Mapping[str, Value],
        names: Sequence[str],
        column: int,
        counted: Sequence[str] | frozenset[str],
    ) -> None:
        """Count a call for the traits of its arguments.

        Args:
            values: the arguments of the call, by parameter.
            names: the names of all parameters.
            column: 0 for an accepted call, 1 for a rejected call.
            counted: the names of the parameters whose traits are counted.
        """
        for name, traits in traits_of(values, names).items():
            if name in counted:
                counts_by_trait = self.counts.setdefault(name, {})
                for trait in traits:
                    counts_by_trait.setdefault(trait, [0, 0])[column] += 1

    def _add_requirement(self, requirement: StatedRequirement) -> None:
        """Add a requirement, or its count to an equal one; drop the rarest beyond the limit."""
        for index, known in enumerate(self.requirements):
            if known.key == requirement.key:
                self.requirements[index] = replace(known, count=known.count + requirement.count)
                return
        if len(self.requirements) >= _MAX_REQUIREMENTS:
            counts = [known.count for known in self.requirements]
            del self.requirements[counts.index(min(counts))]
        self.requirements.append(requirement)

    def _keep_example(self, values: Mapping[str, Value]) -> None:
        """Keep the arguments of a passing call as an example, or replace an older one."""
        index = (self.passed + len(values)) % _MAX_EXAMPLES
        if len(self.examples) == _MAX_EXAMPLES and self.passed % _EXAMPLE_INTERVAL != 0:
            return
        example = dict(values)
        if example in self.examples or not all(map(_is_short, values.values())):
            return
        if len(self.examples) < _MAX_EXAMPLES:
            self.examples.append(example)
        else:
            self.examples[index] = example

    def observe_operator(self, values: Mapping[str, Value]) -> None:
        """Keep the arguments with which another API calls the API's operator."""
        is_known = len(self.observed) >= _MAX_OBSERVED or values in self.observed
        if not is_known and all(map(_is_short, values.values())):
            self.observed.append(dict(values))

    def update(self, other: Experience) -> None:
        """Add the experience of other calls of the same API."""
        self.noted += other.noted
        for values in other.observed:
            self.observe_operator(values)
        for name, counts_by_trait in other.counts.items():
            own_counts = self.counts.setdefault(name, {})
            for trait, (passed, rejected) in counts_by_trait.items():
                totals = own_counts.setdefault(trait, [0, 0])
                totals[0] += passed
                totals[1] += rejected
        for requirement in other.requirements:
            self._add_requirement(requirement)
        if other.examples and (other.passed or not self.examples):
            self.examples_conform &= other.examples_conform
            for example in other.examples:
                self._keep_example(example)
        self.judged += other.judged
        self.passed += other.passed

    def is_applied(self, requirement: StatedRequirement) -> bool:
        """Return whether a requirement that messages state guides later calls."""
        if requirement.count < _MIN_MESSAGE_COUNT:
            return False
        if self.pass_rate >= _HIGH_PASS_RATE and not set(requirement.fields) <= _ABOUT_DTYPES:
            return False
        return not is_refuted(requirement.fields, self.counts.get(requirement.parameter, {}))

    def clues(self) -> dict[str, list[Clue]]:
        """Return each parameter's clues from its applied requirements, most frequent first."""
        clues: dict[str, list[Clue]] = {}
        for requirement in sorted(self.requirements, key=lambda requirement: -requirement.count):
            if self.is_applied(requirement) and requirement.fields:
                evidence = requirement.message
                clue = Clue(source=ClueSource.REJECTION, evidence=evidence, **requirement.fields)
                clues.setdefault(requirement.parameter, []).append(clue)
        return clues

    def to_json(self) -> Json:
        """Return the JSON form of the experience."""
        # Experience without examples that are known to conform has the form of earlier versions.
        conform = {"conform": True} if self.examples and self.examples_conform else {}
        return {
            **conform,
            "noted": self.noted,
            "judged": self.judged,
            "passed": self.passed,
            "counts": self.counts,
            "said": [
                [r.parameter, _fields_to_json(r.fields), r.presence.value, r.message, r.count]
                for r in self.requirements
            ],
            "examples": _examples_to_json(self.examples),
            **({"observed": _examples_to_json(self.observed)} if self.observed else {}),
        }


def _is_short(value: Value) -> bool:
    """Return whether a value is short enough to be stored as part of an example."""
    match value:
        case TensorValue(shape=shape) if max(shape, default=0) > _MAX_EXAMPLE_SIZE:
            return (
                False  # without elements it is cheap, but a tensor that broadcasts with it is not
            )
        case TensorValue(fill=Explicit(data)):
            return len(data) <= _MAX_EXAMPLE_LENGTH
        case LiteralValue(str() | bytes() as text):
            return len(text) <= _MAX_EXAMPLE_LENGTH
        case ListValue(items) | TupleValue(items):
            return len(items) <= _MAX_EXAMPLE_LENGTH and all(map(_is_short, items))
        case _:
            return True


def experience_from_json(encoded: Json) -> Experience:
    """Return the experience that was encoded by `Experience.to_json`.

    Raises:
        ValueError: if `encoded` is not the JSON form of an experience.
    """
    try:
        return Experience(
            noted=int(encoded["noted"]),
            judged=int(encoded["judged"]),
            passed=int(encoded["passed"]),
            counts={
                str(name): {
                    str(trait): [int(n) for n in pair] for trait, pair in counts_by_trait.items()
                }
                for name, counts_by_trait in encoded["counts"].items()
            },
            requirements=[
                StatedRequirement(
                    str(name), _fields_from_json(fields), Presence(presence), str(text), int(count)
                )
                for name, fields, presence, text, count in encoded["said"]
            ],
            examples=_examples_from_json(encoded["examples"]),
            observed=_examples_from_json(encoded.get("observed", ())),
            examples_conform=bool(encoded.get("conform")) or not encoded["examples"],
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"not an encoded experience: {error!r:.200}"
        raise ValueError(msg) from error


def _examples_to_json(examples: Sequence[Mapping[str, Value]]) -> Json:
    return [
        [[name, value_to_json(value)] for name, value in example.items()] for example in examples
    ]


def _examples_from_json(encoded: Json) -> list[dict[str, Value]]:
    return [{str(name): value_from_json(value) for name, value in example} for example in encoded]


def _fields_to_json(fields: Fields) -> Json:
    plain: dict[str, Any] = dict(fields)
    if "allowed" in plain:
        plain["allowed"] = [value_to_json(value) for value in plain["allowed"]]
    return plain


def _fields_from_json(encoded: Json) -> Fields:
    """Return the fields of a clue from their JSON form."""
    readers: dict[str, Any] = {
        "structures": lambda names: tuple(map(Structure, names)),
        "dtypes": lambda names: tuple(map(str, names)),
        "ndim": lambda pair: (int(pair[0]), int(pair[1])),
        "shape": lambda sizes: tuple(map(int, sizes)),
        "length": lambda pair: (int(pair[0]), int(pair[1])),
        "shape_of": str,
        "dtype_of": str,
        "low": float,
        "high": float,
        "nullable": bool,
        "allowed": lambda values: tuple(map(value_from_json, values)),
    }
    return {key: readers[key](value) for key, value in encoded.items()}
