"""Answers of services in which all is a symbol: results, how many there are, their fields."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

import z3

from ciguard.applications.providers.description import Field, Task
from ciguard.applications.solving.patterns import ANYTHING, without
from ciguard.applications.solving.terms import Listed, Record, Sym

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.applications.providers.description import Operation
    from ciguard.applications.solving.terms import Scalar, Term
    from ciguard.domain import Json

Assignment: TypeAlias = "Mapping[str, Scalar]"
"""Values of symbols by name; those that it does not name are plain."""
LIKELIHOODS = ("UNKNOWN", "VERY_UNLIKELY", "UNLIKELY", "POSSIBLE", "LIKELY", "VERY_LIKELY")
KINDS = (
    "UNKNOWN", "PERSON", "LOCATION", "ORGANIZATION", "EVENT", "WORK_OF_ART", "CONSUMER_GOOD",
    "OTHER", "", "PHONE_NUMBER", "ADDRESS", "DATE", "NUMBER", "PRICE",
)  # fmt: skip
"""Of entities, by number; there is no eighth."""
SHOWN_BY_FACES = ("joy", "sorrow", "anger", "surprise", "under_exposed", "blurred", "headwear")
MOST_RESULTS = 24
_USUALLY = 2
"""So many results has a plain answer."""
_USUAL_SCORE = 0.9
_MOST_FELT = 10
_LINE = z3.Concat(without(" \n\t"), z3.Star(without("\n\t")))
_LINES = z3.Concat(without(" \n\t"), ANYTHING)
_KEYS = {Task.CATEGORIES: "/News", Task.TEXT: "Hello", Task.SPEECH: "hello"}
_GOOGLE = "google"
_UNLIKELY = frozenset({"", "UNKNOWN", "VERY_UNLIKELY"})
_LIKELY = frozenset({"LIKELY", "VERY_LIKELY"})


@dataclass(frozen=True, slots=True)
class Recognised:
    """One result of an answer."""

    fields: Json
    """As the service's message has them; those that no condition can tell are left out."""
    title: str
    """In words, for people."""
    key: str = ""
    kind: str = ""
    """Of an entity."""
    shown: tuple[str, ...] = ()
    """What a face shows."""


@dataclass(frozen=True, slots=True)
class _Symbol:
    """Something that an answer says."""

    term: Term
    now: Scalar
    domain: tuple[Term, ...]


class Symbols:
    """What one answer of each operation is made of."""

    def __init__(self, assignment: Assignment) -> None:
        self._assignment = assignment
        self.made: dict[str, _Symbol] = {}
        """By name."""
        self._answers: dict[Operation, Record] = {}
        self._results: dict[Operation, list[Record]] = {}

    def answer(self, operation: Operation) -> Record:
        """Return what an operation answers, always the same."""
        if operation not in self._answers:
            self._answers[operation] = self._answered(operation)
        return self._answers[operation]

    def recognised(self, operation: Operation) -> tuple[Recognised, ...]:
        """Return the results of an answer as they are now; of a text, all of it comes first."""
        self.answer(operation)
        if operation.records:
            return tuple(self._result(operation, one) for one in self._results[operation])
        return (self._result(operation, self._answers[operation]),)

    def _answered(self, operation: Operation) -> Record:
        answer = Record()
        answer.put(["error"], Record({"message": "", "code": 0}))
        if not operation.records:
            self._fill(answer, operation, 0)
            return answer
        count = self._symbol(f"{operation.name}.count", _USUALLY, z3.IntSort())
        results = [Record() for _ in range(int(count.now))]
        self._results[operation] = results
        for at, result in enumerate(results):
            self._fill(result, operation, at)
        if operation.task is Task.TEXT:
            self._write(answer, operation, results)
        answer.put(operation.records.split("."), Listed(results, count))
        return answer

    def _fill(self, result: Record, operation: Operation, at: int) -> None:
        fields = operation.fields or {}
        name = f"{operation.name}.{at}"
        if Field.KEY in fields:
            key = self._text(f"{name}.key", operation.task)
            result.put(fields[Field.KEY].split("."), key)
        if Field.SCORE in fields:
            usual = 0.0 if operation.task is Task.SENTIMENT else _USUAL_SCORE
            score = self._number(f"{name}.score", usual, operation.between or (0.0, 1.0))
            result.put(fields[Field.SCORE].split("."), score)
        if Field.MAGNITUDE in fields:
            felt = self._number(f"{name}.magnitude", 1.0, (0.0, float(_MOST_FELT)))
            result.put(fields[Field.MAGNITUDE].split("."), felt)
        if Field.KIND in fields and operation.provider == _GOOGLE:
            kind = self._member(f"{name}.kind", KINDS, "LOCATION")
            result.put(fields[Field.KIND].split("."), kind)
        if operation.task is Task.FACES:
            for shown in SHOWN_BY_FACES:
                seen = self._member(f"{name}.{shown}", LIKELIHOODS, "VERY_UNLIKELY")
                result.put([f"{shown}_likelihood"], seen)

    def _write(self, answer: Record, operation: Operation, results: Sequence[Record]) -> None:
        """Make the first of several texts all of them, one line after the other."""
        path = (operation.fields or {})[Field.KEY].split(".")
        lines = [result.get(path[0]) for result in results[1:]]
        if lines:
            parts = [t for line in lines for t in (z3.StringVal("\n"), line.term)][1:]
            whole = z3.Concat(*parts) if len(parts) > 1 else parts[0]
            results[0].put(path, Sym(whole, "\n".join(line.now for line in lines)))
        text = results[0].get(path[0]) if results else ""
        answer.put(["full_text_annotation"], Record({"text": text}))

    def _result(self, operation: Operation, result: Record) -> Recognised:
        said = result.to_json()
        said.pop("error", None)
        values = {
            field: _at(said, path.split(".")) for field, path in (operation.fields or {}).items()
        }
        shown = {one: said.get(f"{one}_likelihood", "") for one in SHOWN_BY_FACES}
        likely = [f"{one} {how}" for one, how in shown.items() if how not in _UNLIKELY]
        numbers = [
            f"{field} {values[field]:.6g}"
            for field in (Field.SCORE, Field.MAGNITUDE)
            if field in values
        ]
        key, kind = str(values.get(Field.KEY, "")), str(values.get(Field.KIND, ""))
        words = [*([repr(key)] if key else []), *numbers, *([f"type {kind}"] if kind else [])]
        seen = tuple(one for one, how in shown.items() if how in _LIKELY)
        return Recognised(said, ", ".join([*words, *likely]), key, kind, seen)

    # --- symbols ----------------------------------------------------------------------------------

    def _symbol(self, name: str, usual: Scalar, sort: z3.SortRef) -> Sym:
        term = z3.Const(name, sort)
        present = self._assignment.get(name, usual)
        domain: tuple[Term, ...] = ()
        if z3.is_int(term):
            domain = (term >= 0, term <= MOST_RESULTS)
        self.made[name] = _Symbol(term, present, domain)
        return Sym(term, present)

    def _number(self, name: str, usual: float, between: tuple[float, float]) -> Sym:
        term = z3.Real(name)
        present = float(self._assignment.get(name, min(max(usual, between[0]), between[1])))
        self.made[name] = _Symbol(term, present, (term >= between[0], term <= between[1]))
        return Sym(term, present)

    def _text(self, name: str, task: Task) -> Sym:
        term = z3.String(name)
        present = self._assignment.get(name, _KEYS.get(task, "Sky"))
        is_whole = task is Task.TEXT and name.endswith(".0.key")
        domain = [z3.InRe(term, _LINES if is_whole else _LINE)]
        if task is Task.CATEGORIES:
            domain.append(z3.PrefixOf(z3.StringVal("/"), term))
        self.made[name] = _Symbol(term, present, tuple(domain))
        return Sym(term, present)

    def _member(self, name: str, names: Sequence[str], usual: str) -> Sym:
        term = z3.Int(name)
        present = self._assignment.get(name, names.index(usual))
        gaps = [term != at for at, one in enumerate(names) if not one]
        self.made[name] = _Symbol(term, present, (term >= 0, term < len(names), *gaps))
        return Sym(term, present, names=tuple(names))


def _at(said: Json, path: Sequence[str]) -> Json:
    """Return a field by its path; a number in it is the place in a list."""
    for part in path:
        said = said[int(part)] if part.isdecimal() else said[part.removesuffix("_")]
    return said


def name_of(member: Sym) -> Sym:
    """Return the name of a member of an enumeration."""
    term: Term = z3.StringVal(member.names[-1])
    for at, name in reversed(list(enumerate(member.names[:-1]))):
        term = z3.If(member.term == at, z3.StringVal(name), term)
    return Sym(term, member.names[int(member.now)], member.needs)


def member_of(dotted: str) -> int | None:
    """Return the number of `vision.Likelihood.LIKELY` and the like; None if it is no such thing."""
    *owner, name = dotted.split(".")
    kind = owner[-1] if owner else ""
    for names, title in ((LIKELIHOODS, "Likelihood"), (KINDS, "Type")):
        if kind == title and name in names:
            return names.index(name)
    return None
