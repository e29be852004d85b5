"""Prediction of whether a library accepts a call, from what its sources state of the arguments.

The constraints of `ciguard.knowledge` describe values that probably pass, so that generated calls
are seldom refused: usual dtypes, small numbers, ranges around defaults. Here only what a source
states excludes a value; a dtype, rank, range or structure that no source states does not.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from conversions import conversions, numbers_of
from widening import ANY_RANK, PLAIN_DTYPES, USUAL_RANKS, Stated, widened

from ciguard.domain import dtypes as element_types
from ciguard.domain.records import ParameterKind
from ciguard.domain.values import (
    Constant,
    ListValue,
    LiteralValue,
    TensorValue,
)
from ciguard.knowledge.clues import Clue, ClueSource
from ciguard.knowledge.refinement.traits import traits_of
from ciguard.knowledge.understand import from_clues
from ciguard.values import (
    AnyOf,
    Constraint,
    Int,
    List,
    Optional,
    SamplingScope,
    Tensor,
    references,
)
from ciguard.values.check import problem

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from evidence import Evidence

    from ciguard.domain.api_calls import ApiCall
    from ciguard.domain.records import ApiRecord, ParameterRecord
    from ciguard.domain.values import Value
    from ciguard.knowledge import Api, Experience
    from ciguard.knowledge.api import Parameter

_GUESSES = frozenset({ClueSource.DEFAULT, ClueSource.NAME})
"""Sources whose ranges, shapes and dtypes are guesses."""
_CONVERTING = ("tensorflow.", "keras.")
"""Prefixes of libraries that convert numbers and lists to tensors."""
_IN_PLACE = re.compile(r"^torch\.(?:.*\.)?[A-Za-z]\w*[A-Za-z0-9]_$")
"""APIs that change their first tensor, whose shape cannot change."""
_MIN_CALLS = 40
"""Number of guided calls of which some should have passed, if any calls do."""
_MIN_EXPECTED = 1.5
"""Number of passing calls that is expected of a trait, before none says anything about it."""
_INT = re.compile(r"-?\d+")
"""Default that is an int."""
_KERAS_FUNCTION = re.compile(r"\bkeras\.(?:losses|regularizers|constraints)\.")
"""Objects of Keras that are called with any numbers, and convert them."""
_DEFERRED = re.compile(r"^A transformation that\b|\bversion of the \S+ transformation\b")
"""Description of a function that returns a transformation, and uses its arguments only then."""
_SPARSE = re.compile(r"\b(?:Sparse|Ragged)Tensor\b")
_BY_TRAITS = re.compile(
    r"(?:not an? .*|dtype \w+ is not allowed|rank \d+, not .*|.* is not one of the listed values)"
)
"""Reason that the traits of the argument decide, and nothing else."""
_DENSE = re.compile(r"(?<![A-Za-z])Tensor\b|\bdense\b")


@dataclass(frozen=True, slots=True)
class _Admitted:
    """What the sources state of one parameter."""

    constraint: Constraint
    is_stated: bool
    """False if no source states what kind of object it takes: every value is admitted."""
    is_converted: bool = False
    """True if a number or a list is converted to a tensor."""
    is_sparse: bool = False
    """True if only a sparse or ragged tensor is described."""
    is_iterated: bool = False
    """True if a tensor may stand for the list of its rows."""
    is_required: bool = False
    """True if a call must pass an argument, so that it is used."""
    is_object: bool = False
    """True if only an object that no call can contain is described, and perhaps None."""


class Admission:
    """Predictions for the calls of one API."""

    def __init__(
        self,
        api: Api,
        experience: Experience | None = None,
        evidence: Evidence | None = None,
    ) -> None:
        """Read what is stated of the API's parameters.

        Args:
            api: the API, made by `stated`, and perhaps refined by outcomes of calls.
            experience: the outcomes of these calls, as guided generation uses them.
            evidence: the outcomes of all guided calls, also of those that do not conform.
        """
        self._api = api
        self._experience = experience
        self._evidence = evidence
        records = {parameter.name: parameter for parameter in api.record.parameters}
        self._all = {
            parameter.name: _admitted(parameter, api.record, records[parameter.name])
            for parameter in api.parameters
            if parameter.name in records
        }
        self._all |= {one.name: _admitted_input(one, api.record) for one in api.inputs}
        self._variadic = [
            parameter
            for parameter in api.record.parameters
            if parameter.kind is ParameterKind.VAR_POSITIONAL
        ]

    @property
    def record(self) -> ApiRecord:
        """The API's description by its library."""
        return self._api.record

    def refusal(self, call: ApiCall) -> str:
        """Return why the stated constraints exclude a call; empty if they admit it."""
        given = dict(arguments_of(call, self._api))
        refutation = ""
        if self._evidence is not None:
            converted = given | self._scope(given).values
            refutation = self._evidence.refutation(given) or self._evidence.refutation(converted)
        return refutation or self._refuted(given) or self._excluded(given)

    def _refuted(self, given: Mapping[str, Value]) -> str:
        """Return what the call has in common with guided calls that never passed; empty if none."""
        experience = self._experience
        if experience is None:
            return ""
        if experience.judged >= _MIN_CALLS and not experience.passed:
            return f"none of {experience.judged} guided calls passed"
        for name, traits in traits_of(given, experience.counts).items():
            for trait in traits:
                passed, rejected = experience.counts[name].get(trait, (0, 0))
                if not passed and rejected * experience.pass_rate >= _MIN_EXPECTED:
                    return f"{name}: none of {rejected} guided calls with {trait} passed"
        return ""

    def _excluded(self, given: Mapping[str, Value]) -> str:
        record = self._api.record
        is_alone = not given and len(self._api.parameters) == len(self._variadic)
        # Random calls pass nothing for `*sizes`, and an operator's schema requires it.
        if self._variadic and (is_alone or self._variadic[0].schema_type):
            return f"{self._variadic[0].name}: nothing is passed"
        if _DEFERRED.search(record.doc):
            return ""
        for name, value in given.items():
            if isinstance(value, TensorValue) and value.dtype in record.lacks:
                return f"{name}: the target has no tensors of {value.dtype}"
        scope = self._scope(given)
        axis = self._axis_of_scalar(given, scope) if record.api.startswith(_CONVERTING) else ""
        return f"{axis}: a scalar has no axes" if axis else self._excluded_argument(given, scope)

    def _scope(self, given: Mapping[str, Value]) -> SamplingScope:
        """Return the arguments as other arguments refer to them: converted, if they will be."""
        dtypes = [value.dtype for value in given.values() if isinstance(value, TensorValue)]
        scope = SamplingScope()
        for name, value in given.items():
            admitted = self._all.get(name)
            if admitted is not None:
                tensors = conversions(value, dtypes[:1]) if admitted.is_converted else iter(())
                scope.values[name] = passed = next(tensors, value)
                dtypes += [passed.dtype] if isinstance(passed, TensorValue) else []
        return scope

    def _excluded_argument(self, given: Mapping[str, Value], scope: SamplingScope) -> str:
        for name, value in given.items():
            admitted = self._all.get(name)
            if admitted is None:
                continue
            reason = _refusal(value, scope.values[name], admitted, scope)
            if reason and self._is_number(value):
                reason = min(_refusal(n, n, admitted, scope) for n in numbers_of(value))
            if reason and self._is_admitted(name, reason, given, scope):
                continue
            reason = reason or self._growth(value, admitted.constraint, scope)
            if reason:
                return f"{name}: {reason}"
        return ""

    def _is_admitted(
        self, name: str, reason: str, given: Mapping[str, Value], scope: SamplingScope
    ) -> bool:
        """Return whether calls passed with all traits of an argument that is excluded."""
        if self._evidence is None or not all(map(_BY_TRAITS.fullmatch, reason.split("; "))):
            return False
        converted = {**given, name: scope.values[name]}
        return any(self._evidence.admits(name, values) for values in (given, converted))

    def _is_number(self, value: Value) -> bool:
        """Return whether the library takes a tensor without dimensions for a number."""
        is_scalar = isinstance(value, TensorValue) and value.shape == ()
        return is_scalar and self._api.record.api.startswith("torch.")

    def _growth(self, value: Value, constraint: Constraint, scope: SamplingScope) -> str:
        """Return why an operand would change the shape of the tensor that is changed in place."""
        if not _IN_PLACE.search(self._api.record.api) or not isinstance(value, TensorValue):
            return ""
        shape = scope.shape(constraint.broadcast_with) if isinstance(constraint, Tensor) else None
        if shape is None:
            return ""
        sizes = zip(reversed(value.shape), reversed(shape), strict=False)
        fits = len(value.shape) <= len(shape) and all(a in {1, b} for a, b in sizes)
        return "" if fits else f"shape {value.shape} does not broadcast to {shape}"

    def _axis_of_scalar(self, given: Mapping[str, Value], scope: SamplingScope) -> str:
        """Return the parameter that is an axis of a scalar, by its argument or its default."""
        for parameter in self._api.record.parameters:
            admitted = self._all.get(parameter.name)
            tensor = _axis_of(admitted.constraint) if admitted else ""
            default = parameter.default if isinstance(parameter.default, str) else ""
            is_axis = _INT.fullmatch(default) is not None
            if parameter.name in given:
                is_axis = _is_int(given[parameter.name])
            if is_axis and tensor and scope.shape(tensor) == ():
                return parameter.name
        return ""


def stated(api: Api) -> Api:
    """Return the API with only those constraints that a source states."""
    clues = {name: tuple(map(_without_guesses, clues)) for name, clues in api.clues.items()}
    return from_clues(api.record, clues)


def arguments_of(call: ApiCall, api: Api) -> Iterator[tuple[str, Value]]:
    """Yield the arguments of a call with the names of their parameters."""
    required = [parameter.name for parameter in api.record.parameters if parameter.required]
    yield from zip(required, call.arguments, strict=False)
    yield from call.keywords
    yield from zip((parameter.name for parameter in api.inputs), call.inputs, strict=False)


def _without_guesses(clue: Clue) -> Clue:
    if clue.source not in _GUESSES:
        return clue
    return Clue(
        source=clue.source,
        evidence=clue.evidence,
        structures=clue.structures,
        axis_of=clue.axis_of,
        allowed=clue.allowed,
        nullable=clue.nullable,
    )


def _admitted(parameter: Parameter, record: ApiRecord, described: ParameterRecord) -> _Admitted:
    doc, is_converting = described.doc, record.api.startswith(_CONVERTING)
    aspects = frozenset(evidence.aspect for evidence in parameter.evidence)
    is_sparse = bool(_SPARSE.search(doc)) and not _DENSE.search(doc)
    return _Admitted(
        widened(parameter.constraint, Stated(aspects, frozenset(record.lacks))),
        is_stated=bool(aspects & {"structures", "allowed"}) or is_sparse,
        is_converted=is_converting and _has_tensor(parameter.constraint),
        is_sparse=is_sparse,
        is_iterated=is_converting or "Iterable" in described.annotation,
        is_required=described.required,
        is_object=(not parameter.is_generated or _is_of_layout(described, record))
        and parameter.kind is not ParameterKind.VAR_KEYWORD,
    )


def _is_of_layout(parameter: ParameterRecord, record: ApiRecord) -> bool:
    """Return whether a parameter is the tensor of an operator for special layouts."""
    return "layout" in record.tags and parameter == record.parameters[0]


def _refusal(value: Value, passed: Value, admitted: _Admitted, scope: SamplingScope) -> str:
    is_none = isinstance(value, LiteralValue) and value.value is None
    if not admitted.is_stated:
        return "None is required" if is_none and admitted.is_required else ""
    if admitted.is_object or admitted.is_sparse:
        is_admitted = is_none and isinstance(admitted.constraint, Optional)
        return "" if is_admitted else "not an object of its class"
    reason = problem(passed, admitted.constraint, scope)
    if not reason or any(
        not problem(other, admitted.constraint, scope) for other in _others(value, passed, admitted)
    ):
        return ""
    return reason


def _others(value: Value, passed: Value, admitted: _Admitted) -> Iterator[Value]:
    """Yield what else the library may take an argument for."""
    if admitted.is_converted:
        yield from conversions(value, _only_dtype(admitted.constraint))
        if isinstance(value, ListValue):
            yield ListValue(tuple(next(conversions(item), item) for item in value.items))
    if passed is not value:
        yield value
    if admitted.is_iterated and isinstance(value, TensorValue) and value.shape:
        rows = (TensorValue(value.dtype, value.shape[1:], Constant(0)),) * value.shape[0]
        yield ListValue(rows)


def _admitted_input(parameter: Parameter, record: ApiRecord) -> _Admitted:
    """Return what is known of a layer's input.

    Layers compute in every floating dtype, and those of Keras convert what they are given. So do
    the losses, regularizers and constraints of Keras, and their tensors have any rank.
    """
    constraint = parameter.constraint
    is_converted = record.api.startswith(_CONVERTING) and ".layers." not in record.api
    if _KERAS_FUNCTION.search(record.api):
        related = next(iter(references(constraint)), "")
        tensor = Tensor(dtypes=PLAIN_DTYPES, ndim=ANY_RANK, broadcast_with=related)
        return _Admitted(tensor, is_stated=True, is_converted=True)
    if not isinstance(constraint, Tensor):
        return _Admitted(constraint, is_stated=True)
    if set(constraint.dtypes) <= set(element_types.FLOATING):
        constraint = replace(constraint, dtypes=element_types.FLOATING)
    if constraint.shape is None and constraint.ndim == USUAL_RANKS:
        constraint = replace(constraint, ndim=ANY_RANK)
    return _Admitted(constraint, is_stated=True, is_converted=is_converted)


def _axis_of(constraint: Constraint) -> str:
    """Return the name of the tensor of which a parameter is an axis; empty for others."""
    match constraint:
        case Int(axis_of=name) | Tensor(axis_of=name):
            return name
        case Optional(inner):
            return _axis_of(inner)
        case AnyOf(options):
            return next(filter(None, (_axis_of(option) for _, option in options)), "")
        case _:
            return ""


def _is_int(value: Value) -> bool:
    return isinstance(value, LiteralValue) and type(value.value) is int


def _has_tensor(constraint: Constraint) -> bool:
    match constraint:
        case Tensor():
            return True
        case Optional(inner) | List(item=inner):
            return _has_tensor(inner)
        case AnyOf(options):
            return any(_has_tensor(option) for _, option in options)
        case _:
            return False


def _only_dtype(constraint: Constraint) -> tuple[str, ...]:
    """Return the only dtype of a tensor; empty if it may have several."""
    match constraint:
        case Tensor(dtypes=(dtype,)):
            return (dtype,)
        case Optional(inner):
            return _only_dtype(inner)
        case _:
            return ()
