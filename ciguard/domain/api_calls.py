"""Cases of level `api`: one call of one API each."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, ClassVar

from ciguard.domain.case import CaseKind
from ciguard.domain.intent import Intent
from ciguard.domain.values import Json, Value, value_from_json, value_to_json

if TYPE_CHECKING:
    from ciguard.domain.case import Case


class CallKind(StrEnum):
    """The form of an API call."""

    FUNCTION = "function"
    """`api(*arguments, **keywords)`."""
    LAYER = "layer"
    """`api(*arguments, **keywords)(*inputs)`: a layer object is created and then called."""
    METHOD = "method"
    """`arguments[0].name(*arguments[1:], **keywords)`: a method of the library's tensor."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiCall:
    """One call of one library API."""

    api: str
    """Qualified public name, e.g. `torch.nn.functional.conv2d`."""
    kind: CallKind
    arguments: tuple[Value, ...] = ()
    keywords: tuple[tuple[str, Value], ...] = ()
    inputs: tuple[Value, ...] = ()
    """Arguments with which the layer object is called; empty for functions and methods."""
    seed: int = 0
    """Seed of the library's random generators, set before the call."""
    intent: Intent = Intent.CONFORMING
    focus: str = ""
    """Name of the parameter whose value violates its constraint or lies on its boundary; empty if
    there is none."""
    relation: str = ""
    """Name of the metamorphic relation that the call is checked with; empty for none."""

    level: ClassVar[str] = "api"
    noun: ClassVar[str] = "call"
    given: ClassVar[str] = "arguments"
    is_api_use: ClassVar[bool] = True
    is_user_code: ClassVar[bool] = False
    place: ClassVar[tuple[str, int]] = ("", 0)
    is_run_by_worker: ClassVar[bool] = True
    has_verdict_alone: ClassVar[bool] = False

    @property
    def apis(self) -> tuple[str, ...]:
        """The called API."""
        return (self.api,)

    @property
    def values(self) -> tuple[Value, ...]:
        """All values passed to the call."""
        return (*self.arguments, *self.inputs, *(value for _, value in self.keywords))

    def lowered(self) -> ApiCall:
        """Return the case itself: workers run it unchanged."""
        return self

    def to_json(self) -> Json:
        """Return the JSON form of the call: `[api, kind, arguments, …]`."""
        encoded = [
            self.api,
            self.kind.value,
            [value_to_json(value) for value in self.arguments],
            [[key, value_to_json(value)] for key, value in self.keywords],
            [value_to_json(value) for value in self.inputs],
            self.seed,
            self.intent.value,
            self.focus,
        ]
        if self.relation:
            encoded.append(self.relation)
        return encoded


def _call_from_json(encoded: Json) -> ApiCall:
    api, kind, arguments, keywords, inputs, seed, intent, focus, *relation = encoded
    (relation_name,) = relation or ("",)
    return ApiCall(
        api=str(api),
        kind=CallKind(kind),
        arguments=tuple(value_from_json(value) for value in arguments),
        keywords=tuple((str(key), value_from_json(value)) for key, value in keywords),
        inputs=tuple(value_from_json(value) for value in inputs),
        seed=int(seed),
        intent=Intent(intent),
        focus=str(focus),
        relation=str(relation_name),
    )


CALL_KIND = CaseKind(read=_call_from_json)


def as_call(case: Case) -> ApiCall:
    """Return `case` typed as an `ApiCall`.

    Raises:
        TypeError: if the case is of another level than `api`.
    """
    if not isinstance(case, ApiCall):
        msg = f"expected a case of level api, got one of level {case.level}"
        raise TypeError(msg)
    return case
