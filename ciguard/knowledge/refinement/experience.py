"""Experience: the outcomes of the calls of one API, reduced to what steers the next ones."""

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
from ciguard.knowledge.refinement.messages import Presence, advice_in, mentioned
from ciguard.knowledge.refinement.refuted import is_refuted
from ciguard.knowledge.refinement.requirements import dtype_named
from ciguard.knowledge.refinement.traits import traits_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.domain.outcomes import Outcome
    from ciguard.domain.values import Json
    from ciguard.knowledge.refinement.requirements import Fields

_MAX_SAID = 16
_MAX_EXAMPLES = 8
_MAX_QUOTED = 160
_HEEDED = 2
"""What messages say is heeded when it was said as often: one may quote what no call will repeat."""
_WELL_UNDERSTOOD = 0.9
"""Where this share of the calls passes, messages are about rare combinations."""
_MAX_LENGTH = 64
"""Elements or characters that a value of an example may have."""
_KEPT_OF = 4
"""Of so many calls that pass, one replaces an example once there are enough."""


@dataclass(frozen=True, slots=True)
class ParameterMessages:
    """What messages said of one parameter."""

    parameter: str
    fields: Fields
    """Fields of a clue."""
    presence: Presence
    message: str
    """The first one, cut."""
    count: int

    @property
    def key(self) -> tuple[str, Fields, Presence]:
        """What was said, whatever the words and however often."""
        return self.parameter, self.fields, self.presence


@dataclass(slots=True)
class Experience:
    """What is remembered of the calls of one API."""

    noted: int = 0
    """Calls that were taken in."""
    judged: int = 0
    """Calls that were meant to conform."""
    passed: int = 0
    """Those of them that got past validation."""
    counts: dict[str, dict[str, list[int]]] = field(default_factory=dict)
    """Parameter → trait → how often it passed, and how often it was refused."""
    said: list[ParameterMessages] = field(default_factory=list)
    examples: list[dict[str, Value]] = field(default_factory=list)
    """Arguments of calls that passed, by parameter."""

    @property
    def pass_rate(self) -> float:
        """Share of the calls that got past validation; never 0 or 1."""
        return (self.passed + 1) / (self.judged + 2)

    @property
    def lead(self) -> str:
        """The first parameter that was given a tensor."""
        return next((name for name, seen in self.counts.items() if "kind:tensor" in seen), "")

    def note(self, call: Mapping[str, Value], names: Sequence[str], outcome: Outcome) -> None:
        """Take in one call that was meant to conform.

        Args:
            call: its arguments, by parameter.
            names: all parameters, in the order in which they are declared.
            outcome: what came of it.
        """
        self.judged += 1
        if isinstance(outcome, Rejected):
            self._refused(call, names, outcome)
            return
        self.passed += 1
        self._count(call, names, 0, names)
        if isinstance(outcome, Passed):
            self._keep(call)

    def note_stray(self, call: Mapping[str, Value], outcome: Outcome) -> None:
        """Take in one call that was not meant to conform: it passed, where nothing else has."""
        if isinstance(outcome, Passed) and not self.examples:
            self._keep(call)

    def _refused(
        self, values: Mapping[str, Value], names: Sequence[str], outcome: Rejected
    ) -> None:
        if outcome.stage is Stage.BUILD:
            self._unbuilt(values, names, outcome.message)
            return
        self._count(values, names, 1, mentioned(outcome.message, names) or names)
        for advice in advice_in(outcome.message, values, names):
            message = " ".join(outcome.message.split())[:_MAX_QUOTED]
            self._hear(
                ParameterMessages(advice.parameter, advice.fields, advice.presence, message, 1)
            )

    def _unbuilt(self, values: Mapping[str, Value], names: Sequence[str], message: str) -> None:
        """Blame the dtype that the target lacks, and nothing else: the API was not called."""
        named = [dtype for dtype in map(dtype_named, re.findall(r"\w+", message)) if dtype]
        if not named:
            return
        trait = f"dtype:{named[-1]}"  # "jax makes float32 of float64"
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
        for name, traits in traits_of(values, names).items():
            if name in counted:
                seen = self.counts.setdefault(name, {})
                for trait in traits:
                    seen.setdefault(trait, [0, 0])[column] += 1

    def _hear(self, heard: ParameterMessages) -> None:
        for place, said in enumerate(self.said):
            if said.key == heard.key:
                self.said[place] = replace(said, count=said.count + heard.count)
                return
        if len(self.said) >= _MAX_SAID:
            rarest = min(range(len(self.said)), key=lambda place: self.said[place].count)
            del self.said[rarest]
        self.said.append(heard)

    def _keep(self, values: Mapping[str, Value]) -> None:
        place = (self.passed + len(values)) % _MAX_EXAMPLES
        if len(self.examples) == _MAX_EXAMPLES and self.passed % _KEPT_OF != 0:
            return
        example = dict(values)
        if example in self.examples or not all(map(_is_short, values.values())):
            return
        if len(self.examples) < _MAX_EXAMPLES:
            self.examples.append(example)
        else:
            self.examples[place] = example

    def absorb(self, other: Experience) -> None:
        """Add what other calls of the same API have taught."""
        self.noted += other.noted
        for name, seen in other.counts.items():
            mine = self.counts.setdefault(name, {})
            for trait, (passed, refused) in seen.items():
                pair = mine.setdefault(trait, [0, 0])
                pair[0] += passed
                pair[1] += refused
        for said in other.said:
            self._hear(said)
        if other.passed or not self.examples:
            for example in other.examples:
                self._keep(example)
        self.judged += other.judged
        self.passed += other.passed

    def heeds(self, said: ParameterMessages) -> bool:
        """Return whether what a message said steers later calls."""
        if said.count < _HEEDED or self.pass_rate >= _WELL_UNDERSTOOD:
            return False
        return not is_refuted(said.fields, self.counts.get(said.parameter, {}))

    def clues(self) -> dict[str, list[Clue]]:
        """Return what messages said, by parameter, the most frequent first."""
        found: dict[str, list[Clue]] = {}
        for said in sorted(self.said, key=lambda said: -said.count):
            if self.heeds(said) and said.fields:
                clue = Clue(source=ClueSource.REJECTION, evidence=said.message, **said.fields)
                found.setdefault(said.parameter, []).append(clue)
        return found

    def to_json(self) -> Json:
        """Return the JSON form."""
        return {
            "noted": self.noted,
            "judged": self.judged,
            "passed": self.passed,
            "counts": self.counts,
            "said": [
                [s.parameter, _fields_to_json(s.fields), s.presence.value, s.message, s.count]
                for s in self.said
            ],
            "examples": [
                [[name, value_to_json(value)] for name, value in example.items()]
                for example in self.examples
            ],
        }


def _is_short(value: Value) -> bool:
    """Return whether a value is worth storing: long ones would swell what is kept."""
    match value:
        case TensorValue(fill=Explicit(data)):
            return len(data) <= _MAX_LENGTH
        case LiteralValue(str() | bytes() as text):
            return len(text) <= _MAX_LENGTH
        case ListValue(items) | TupleValue(items):
            return len(items) <= _MAX_LENGTH and all(map(_is_short, items))
        case _:
            return True


def experience_from_json(encoded: Json) -> Experience:
    """Rebuild an experience from its JSON form.

    Raises:
        ValueError: if `encoded` is not the JSON form of an experience.
    """
    try:
        return Experience(
            noted=int(encoded["noted"]),
            judged=int(encoded["judged"]),
            passed=int(encoded["passed"]),
            counts={
                str(name): {str(trait): [int(n) for n in pair] for trait, pair in seen.items()}
                for name, seen in encoded["counts"].items()
            },
            said=[
                ParameterMessages(
                    str(p), _fields_from_json(f), Presence(presence), str(message), int(count)
                )
                for p, f, presence, message, count in encoded["said"]
            ],
            examples=[
                {str(name): value_from_json(value) for name, value in example}
                for example in encoded["examples"]
            ],
        )
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        msg = f"not an encoded experience: {error!r:.200}"
        raise ValueError(msg) from error


def _fields_to_json(fields: Fields) -> Json:
    plain: dict[str, Any] = dict(fields)
    if "allowed" in plain:
        plain["allowed"] = [value_to_json(value) for value in plain["allowed"]]
    return plain


def _fields_from_json(encoded: Json) -> Fields:
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
