"""Cases of level `graph`: programs of several calls, in which calls use the results of others.

A graph is a sequence of steps. A step is an input tensor, or a call whose arguments may be results
of earlier steps. Workers write a graph as a function of its tensors and run, compile or trace it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, TypeAlias

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.case import CaseKind
from ciguard.domain.intent import Intent
from ciguard.domain.text import shortened
from ciguard.domain.values import (
    CallValue,
    DictValue,
    Json,
    ListValue,
    ResultValue,
    TensorValue,
    TupleValue,
    Value,
    value_from_json,
    value_to_json,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

GRAPH = "graph"
"""Second member of an encoded `GraphCase`, where an API call has its kind."""
READ = "__getitem__"
"""Name of the method that graphs call as `tensor[index]`."""
ASSIGN = "__setitem__"
"""Name of the method that graphs call as `tensor[index] = value`; its result is the tensor."""
OUT = "out"
"""Name of the argument to which a call writes its result."""
SLICE = "builtins.slice"
ELLIPSIS = "builtins.Ellipsis"
MAX_STEPS = 512
"""Maximum number of steps of a graph."""
_MAX_LABEL = 120

Step: TypeAlias = ApiCall | TensorValue
"""An input tensor, or a call."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphCase:
    """One run of one graph."""

    api: str
    """API under test: that of the call whose result is compared, or of the first call."""
    steps: tuple[Step, ...]
    outputs: tuple[int, ...]
    """Indices of the steps whose results the graph returns."""
    seed: int = 0
    """Seed of the library's random generators, set before the run."""
    is_probe: bool = False
    """True to run the steps one by one, eagerly, and to return the result of each. A step that
    fails, or whose result is not finite, is left out: later steps use tensors like its result."""
    is_special: bool = False
    """True if inputs and results may be NaN or infinite, or without elements."""
    is_wide: bool = False
    """True to compute in double precision."""
    has_gradients: bool = False
    """True to return the gradients of a weighted sum of the outputs, too, one per input tensor."""
    grows: bool = False
    """True to run a second time with larger tensors, and to return both results; a probe leaves out
    the steps that fail with these. Compilers compile again, for dynamic shapes."""
    is_mapped: bool = False
    """True to run for two examples, the tensors and the flipped tensors: one after the other where
    nothing is compiled, and in a compiler both at once, as one function of stacked tensors."""
    autocast: str = ""
    """Name of the lower precision in which autocast lets calls compute; empty for none. A run in
    double precision ignores it."""
    layout: str = ""
    """Name of the layout in which the tensors lie in memory; empty for contiguous tensors."""
    copies: bool = False
    """True to return copies of the results: compilers make views outside of compiled code."""
    raises_division: bool = False
    """True to raise an error where the library divides by 0 in numpy, for which it returns 0."""
    options: str = ""
    """Name of the options with which the compiler runs; empty for its own."""
    stage: str = ""
    """Stage of the compiler that has the defect, a part of fingerprints; empty if unknown."""
    runs_stage: str = ""
    """Name of the stage of the compiler after which compiling ends; empty to compile wholly."""

    relation: ClassVar[str] = ""
    focus: ClassVar[str] = ""
    level: ClassVar[str] = "graph"
    noun: ClassVar[str] = "graph"
    given: ClassVar[str] = "inputs"
    is_api_use: ClassVar[bool] = True
    is_user_code: ClassVar[bool] = False
    place: ClassVar[tuple[str, int]] = ("", 0)
    is_run_by_worker: ClassVar[bool] = True
    has_verdict_alone: ClassVar[bool] = False

    @property
    def intent(self) -> Intent:
        """What the values are drawn for: oracles do not compare NaN where none is expected."""
        return Intent.SPECIAL if self.is_special else Intent.CONFORMING

    @property
    def calls(self) -> tuple[ApiCall, ...]:
        """The calls, in order."""
        return tuple(step for step in self.steps if isinstance(step, ApiCall))

    @property
    def apis(self) -> tuple[str, ...]:
        """Names of the called APIs, in order of their first call."""
        return tuple(dict.fromkeys(call.api for call in self.calls))

    @property
    def values(self) -> tuple[Value, ...]:
        """All input tensors, and all arguments of calls."""
        return tuple(
            value
            for step in self.steps
            for value in (step.values if isinstance(step, ApiCall) else (step,))
        )

    @property
    def label(self) -> str:
        """The called APIs in order, such as `torch.add → torch.sum`."""
        return shortened(" → ".join(call.api for call in self.calls), _MAX_LABEL)

    def lowered(self) -> GraphCase:
        """Return the case itself: workers run it unchanged."""
        return self

    def to_json(self) -> Json:
        """Return the JSON form of the case: `[api, "graph", {…}]`, without empty members."""
        rest = {
            "steps": [step_to_json(step) for step in self.steps],
            "outputs": [*self.outputs],
            "seed": self.seed,
            "probe": self.is_probe,
            "special": self.is_special,
            "wide": self.is_wide,
            "gradients": self.has_gradients,
            "grows": self.grows,
            "mapped": self.is_mapped,
            "autocast": self.autocast,
            "layout": self.layout,
            "copies": self.copies,
            "divides": self.raises_division,
            "options": self.options,
            "stage": self.stage,
            "runs": self.runs_stage,
        }
        return [self.api, GRAPH, {key: item for key, item in rest.items() if item}]


def results_used(step: Step) -> Iterator[ResultValue]:
    """Yield the results of earlier steps that a step uses, in order of its arguments."""
    pending: list[Value] = list(reversed(step.values)) if isinstance(step, ApiCall) else []
    while pending:
        value = pending.pop()
        match value:
            case ResultValue():
                yield value
                pending.extend([value.other] if value.other is not None else [])
            case ListValue(items) | TupleValue(items):
                pending.extend(reversed(items))
            case DictValue(pairs):
                pending.extend(item for _, item in reversed(pairs))
            case CallValue(_, arguments, keywords):
                pending.extend([*arguments, *(item for _, item in keywords)])
            case _:
                pass


def step_to_json(step: Step) -> Json:
    """Return the JSON form of a step: of a tensor, or `[api, kind, arguments, keywords, inputs]`.

    The second member distinguishes them: the first one of a tensor is a tag, which is no API.
    """
    if isinstance(step, TensorValue):
        return value_to_json(step)
    return [
        step.api,
        step.kind.value,
        [value_to_json(value) for value in step.arguments],
        [[key, value_to_json(value)] for key, value in step.keywords],
        [value_to_json(value) for value in step.inputs],
    ]


def step_from_json(encoded: Json) -> Step:
    """Rebuild a step.

    Raises:
        AttributeError, KeyError, TypeError, ValueError: if `encoded` is malformed.
    """
    if encoded[0] == "t":
        value = value_from_json(encoded)
        if isinstance(value, TensorValue):
            return value
    api, kind, arguments, keywords, inputs = encoded
    return ApiCall(
        api=str(api),
        kind=CallKind(kind),
        arguments=tuple(value_from_json(value) for value in arguments),
        keywords=tuple((str(key), value_from_json(value)) for key, value in keywords),
        inputs=tuple(value_from_json(value) for value in inputs),
    )


def graph_case_from_json(encoded: Json) -> GraphCase:
    """Rebuild a case.

    Raises:
        ValueError: if `encoded` is not the JSON form of a case of this level.
    """
    try:
        api, _, rest = encoded
        steps = tuple(map(step_from_json, rest["steps"]))
        outputs = tuple(map(int, rest.get("outputs", ())))
        case = GraphCase(
            api=str(api),
            steps=steps,
            outputs=outputs,
            seed=int(rest.get("seed", 0)),
            is_probe=bool(rest.get("probe", False)),
            is_special=bool(rest.get("special", False)),
            is_wide=bool(rest.get("wide", False)),
            has_gradients=bool(rest.get("gradients", False)),
            grows=bool(rest.get("grows", False)),
            is_mapped=bool(rest.get("mapped", False)),
            autocast=str(rest.get("autocast", "")),
            layout=str(rest.get("layout", "")),
            copies=bool(rest.get("copies", False)),
            raises_division=bool(rest.get("divides", False)),
            options=str(rest.get("options", "")),
            stage=str(rest.get("stage", "")),
            runs_stage=str(rest.get("runs", "")),
        )
    except (AttributeError, KeyError, OverflowError, TypeError, ValueError) as error:
        msg = f"malformed graph case: {error!r}"
        raise ValueError(msg) from error
    _check(case)
    return case


def _check(case: GraphCase) -> None:
    """Raise a ValueError if a step uses a later one, or an output is not a step."""
    count = len(case.steps)
    if count > MAX_STEPS or not all(0 <= output < count for output in case.outputs):
        msg = "malformed graph case: an output is not among the steps, or there are too many steps"
        raise ValueError(msg)
    for number, step in enumerate(case.steps):
        if not all(0 <= result.step < number for result in results_used(step)):
            msg = f"malformed graph case: step {number} uses the result of no earlier step"
            raise ValueError(msg)


GRAPH_KIND = CaseKind(read=graph_case_from_json)
