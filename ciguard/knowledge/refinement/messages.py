"""Requirements on parameters, read from the messages with which a library rejects calls.

The patterns describe English phrases, not particular APIs. A sentence that states a requirement
names a parameter or quotes its argument; the requirement becomes fields of a clue. Documentation
often lacks the rule that a rejection states.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue, TensorValue, Value
from ciguard.knowledge.clues import Structure
from ciguard.knowledge.refinement.dtypes import demanded_dtypes
from ciguard.knowledge.refinement.interpreter import demanded_structures
from ciguard.knowledge.refinement.objects import demanded_object
from ciguard.knowledge.refinement.requirements import (
    MAX_CACHED_TEXTS,
    Fields,
    named_dtype,
    requirement,
)
from ciguard.knowledge.refinement.traits import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Presence(StrEnum):
    """Demand of a rejection that calls pass or omit a parameter."""

    UNSPECIFIED = ""
    """The message demands neither: calls may pass or omit the parameter."""
    ALWAYS = "always"
    """Calls must pass the parameter."""
    NEVER = "never"
    """Calls must omit the parameter."""


@dataclass(frozen=True, slots=True)
class Advice:
    """Requirement on one parameter that one message states."""

    parameter: str
    """Name of the parameter."""
    fields: Fields
    """Fields of a clue that the message states."""
    presence: Presence = Presence.UNSPECIFIED
    """Demand that calls pass or omit the parameter."""


_MAX_MESSAGE_LENGTH = 800
_WRAPPING = re.compile(
    r"\{\{.*?\}\} ?|\[Op:[^\]]*\]|\x1b\[\d*m|<tf\.Tensor.*|tf\.Tensor\([^)]*\)[^)]*\)|"
    r"Exception encountered when calling \S+\.|Arguments received by.*|; NodeDef.*",
    re.DOTALL,
)
_SENTENCES = re.compile(r"(?:[.;:!]\s+|\n+)(?=[A-Z\"'`*(])")
_DEMANDS = re.compile(
    r"\b(?:must|should|expect\w*|requires?|required|needs?|only|has to|have to|allowed|supports?|"
    r"invalid|not a valid|unknown|unsupported|other than|inputs? to be|out of range|of range|"
    r"cannot be|can't be|not a)\b",
    re.IGNORECASE,
)
_GOT = re.compile(
    r"\b(?:(?:but )?(?:got|received|found|given|was|is an?|instead of|not)|but is|"
    r"but its|but has|but have|is rank)\b:?(?! (?:of|to|be)\b)",
    re.IGNORECASE,
)
_QUOTED_NAME = re.compile(r"['\"`]{1,2}(\w+)(?:\.\w+)*['\"`]{1,2}")
_NAME_IN_CONTEXT = re.compile(
    r"\b(?:argument|parameter|arg|keyword|attr|attribute|input)s? (?:#?\d+ )?['\"`]{0,2}(\w+)"
    r"|\b(\w+)(?:\.\w+)?(?: argument| parameter| tensor| field| attribute| input)?,? "
    r"(?:must|should|has to|have to|to be|needs|cannot)\b"
    r"|\b(\w+)=|^(\w+): "
    r"|\b(?:expect\w*|requires?|supports?|for|invalid) (?:the )?(\w+)\b"
)
_SUBJECT = re.compile(
    r"\battr \W(\w+)|`(\w+)(?:\.\w+)*` (?:must|should)\b"
    r"|\b([a-z]+_\w+)(?: argument| input| field| attribute)? (?:must|should)\b"
)
"""Name of what a sentence is about, which may be an argument of another operation."""
_COUNT = "num_"
"""Start of the name of a number that the operation derives from its arguments."""
_MIN_COMMON_PREFIX, _MIN_COMMON_SUFFIX = 6, 4
_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
_UNEXPECTED = re.compile(r"unexpected (?:keyword )?argument:? ['\"`]?(\w+)")
_TOO_MANY = re.compile(r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were)")
_OVERLOAD_SIGNATURE = re.compile(r"^\s*\* \((.*?)\)\s*$", re.MULTILINE)
_ALTERNATIVES = re.compile(
    r"(?:at least one of|both|either|(?:must|should) (?:pass|specify|provide)(?: a| an| the)?|"
    r"requires specifying either(?: an?| the)?) "
    r"([`'\"]?\w.*?)(?:\.|$| must| should| has| have| is\b| are\b)",
    re.IGNORECASE,
)
_SAME_SIZE = re.compile(
    r"must match|must be equal|(?:must|should) have (?:the )?same|incompatible shapes|"
    r"same (?:shape|size|length|number)|shapes? .*?(?:mismatch|do not match)|are not compatible|"
    r"not broadcastable|must be broadcastable|inconsistent|doesn't match the broadcast",
    re.IGNORECASE,
)
_SHAPES = re.compile(r"[\[(]((?:\d+, ?)*\d*,?)[\])]")
_LIST_OF_INPUTS = re.compile(r"(?:must|should) be called on a list|expects? a list of .*inputs")
_PREFIXES = re.compile(r"^\w+:")
_BLANKS = re.compile(r"[ \t]+")
_WORD = re.compile(r"\w+")
_QUOTED_OR_JOINED = re.compile(r"(?<=[`'\"])\w+(?=[`'\"])|\w+_\w+")


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def unwrap(text: str) -> str:
    """Return a message without text that the library adds to every message."""
    unwrapped = _WRAPPING.sub(" ", text)[:_MAX_MESSAGE_LENGTH].strip()
    return _BLANKS.sub(" ", unwrapped)


def advice_in(
    message: str, values: Mapping[str, Value], names: Sequence[str], operator: str = ""
) -> tuple[Advice, ...]:
    """Return the requirements on parameters that a rejection's message states.

    Args:
        message: the message of the exception.
        values: the arguments of the rejected call, by parameter.
        names: the names of all parameters, in the order of their declaration.
        operator: the name of the operator that the API is; empty if it is none.
    """
    text = unwrap(message)
    presence_advice = _presence_advice(text, tuple(names))
    if presence_advice:
        return presence_advice
    expected = demanded_object(message)
    if expected:
        return _object_advice(text, expected, values, names)
    structures = demanded_structures(text, values)
    if structures:
        return tuple(Advice(name, fields) for name, fields in structures.items())
    if _demands_list_of_inputs(text):
        inputs = [name for name in names if name.startswith("input:")]
        return tuple(Advice(name, {"structures": (Structure.TENSORS,)}) for name in inputs[:1])
    dtypes = demanded_dtypes(message, values, names, text=text, operator=operator)
    if dtypes:
        return tuple(Advice(name, fields) for name, fields in dtypes.items())
    requirements = [
        advice for demand in _demands_in(text) for advice in _sentence_advice(demand, values, names)
    ]
    if not requirements and _demands_same_size(text):
        requirements = _same_shape_advice(text, values, names)
    return tuple({advice.parameter: advice for advice in reversed(requirements)}.values())


def parameters_in(message: str, names: Sequence[str]) -> frozenset[str]:
    """Return the parameters that a message names."""
    return _parameters_in(message, tuple(names))


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _parameters_in(message: str, names: tuple[str, ...]) -> frozenset[str]:
    text = unwrap(message)
    words = set(_QUOTED_NAME.findall(text))
    words |= {word for match in _NAME_IN_CONTEXT.finditer(text) for word in match.groups() if word}
    lowered_text = f" {text.lower()} "
    return frozenset(
        name
        for name, bare_name in ((name, _PREFIXES.sub("", name)) for name in names)
        if bare_name in words or ("_" in bare_name and _is_name_in(bare_name.lower(), lowered_text))
    )


def _is_name_in(name: str, text: str) -> bool:
    """Return whether a text contains a name with `_` or spaces: `frame_length`, "frame length"."""
    return name in text or f" {name.replace('_', ' ')} " in text


# --- parameters to pass or to omit ---------------------------------------------------------------


def _words(text: str) -> list[str]:
    return _WORD.findall(text)


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _presence_advice(text: str, names: tuple[str, ...]) -> tuple[Advice, ...]:
    """Return the advice of a message that demands to pass or omit parameters; empty without one."""
    return (
        *_missing_advice(text, names),
        *_unexpected_advice(text, names),
        *_overload_advice(text, names),
    )


def _missing_advice(text: str, names: Sequence[str]) -> list[Advice]:
    """Return the advice to pass the parameters that a message reports as missing."""
    match = _MISSING.search(text)
    words = _words(match.group(1)) if match else []
    alternatives = _ALTERNATIVES.search(text)
    if alternatives:
        words += _QUOTED_OR_JOINED.findall(alternatives.group(1))
    declared_names = [name for name in names if _PREFIXES.sub("", name) in words]
    # If no source declares the parameter, the name in the message is used.
    undeclared_names = _QUOTED_NAME.findall(match.group(1)) if match else []
    return [
        Advice(name, {}, Presence.ALWAYS)
        for name in (*declared_names, *(word for word in undeclared_names if not declared_names))
    ]


def _unexpected_advice(text: str, names: Sequence[str]) -> list[Advice]:
    """Return the advice to omit a parameter that a message reports as unexpected."""
    match = _UNEXPECTED.search(text)
    if match and match.group(1) in names:
        return [Advice(match.group(1), {}, Presence.NEVER)]
    match = _TOO_MANY.search(text)
    if match and "args" in names:
        return [Advice("args", {}, Presence.NEVER)]
    return []


def _overload_advice(text: str, names: Sequence[str]) -> list[Advice]:
    """Return the requirements of the signatures that torch lists when none of them matches."""
    signatures = [_signature(match.group(1)) for match in _OVERLOAD_SIGNATURE.finditer(text)]
    if not signatures:
        return []
    advice: list[Advice] = []
    parameters = dict.fromkeys(name for signature in signatures for name in signature)
    for name in parameters:
        declarations = [signature[name] for signature in signatures if name in signature]
        structures = tuple(dict.fromkeys(s for types, _ in declarations for s in types))
        is_required = len(declarations) == len(signatures) and all(
            requires_argument for _, requires_argument in declarations
        )
        fields: Fields = {"structures": structures} if structures else {}
        if is_required or name in names:
            advice.append(
                Advice(name, fields, Presence.ALWAYS if is_required else Presence.UNSPECIFIED)
            )
    return advice


def _signature(text: str) -> dict[str, tuple[tuple[Structure, ...], bool]]:
    """Return each parameter's structures and whether it is required.

    The text has the form `Tensor input, *, Tensor out = None`.
    """
    parameters: dict[str, tuple[tuple[Structure, ...], bool]] = {}
    for part in text.split(","):
        declaration, _, default = part.partition("=")
        words = declaration.split()
        if len(words) > 1:
            fields = requirement("must be " + " ".join(words[:-1]))
            parameters[words[-1]] = (fields.get("structures", ()), not default)
    return parameters


# --- objects ------------------------------------------------------------------------------------


def _object_advice(
    text: str, expected: tuple[Value, ...], values: Mapping[str, Value], names: Sequence[str]
) -> tuple[Advice, ...]:
    """Return the advice to pass one of `expected` as the parameter that the message names.

    If the message names none, the advice is for the first parameter that may be the cause.
    """
    kinds = {kind_of(value) for value in expected}
    candidates = [
        name
        for name, value in values.items()
        if kind_of(value) not in kinds and (isinstance(value, TensorValue) or "NoneType" in text)
    ] or [name for name, value in values.items() if kind_of(value) not in kinds]
    mentioned_candidates = [name for name in candidates if name in parameters_in(text, names)]
    return tuple(
        Advice(name, {"allowed": expected}) for name in (mentioned_candidates or candidates)[:1]
    )


# --- requirements of sentences ------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Demand:
    """Sentence of a message that demands something of an argument."""

    sentence: str
    expected: str
    """Part of the sentence about the expected argument."""
    fields: Fields
    """Fields of a clue that the sentence states."""


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _demands_in(text: str) -> tuple[_Demand, ...]:
    """Return the sentences of a message that demand something."""
    sentences = [sentence for sentence in _SENTENCES.split(text) if _DEMANDS.search(sentence)]
    expected = [_split_expected_and_actual(sentence)[0] for sentence in sentences]
    return tuple(
        _Demand(sentence, part, fields)
        for sentence, part in zip(sentences, expected, strict=True)
        if (fields := requirement(part))
    )


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _demands_same_size(text: str) -> bool:
    return _SAME_SIZE.search(text) is not None


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _demands_list_of_inputs(text: str) -> bool:
    return _LIST_OF_INPUTS.search(text) is not None


def _sentence_advice(
    demand: _Demand, values: Mapping[str, Value], names: Sequence[str]
) -> list[Advice]:
    """Return the requirements of one sentence on the parameters that it names or quotes."""
    fields = demand.fields
    mentioned = parameters_in(demand.expected, names)
    named_parameters = [name for name in names if name in mentioned]
    subject = _subject_of(demand.expected)
    if subject and not named_parameters:
        # The operation that rejects the call may not be the called one, and call it otherwise.
        suspects = [name for name in names if _are_similar(name, subject)]
        suspects = suspects or _only(_violating(fields, values))
    else:
        suspects = named_parameters or _suspects(fields, demand.sentence, values)
    return [
        Advice(name, _with_value_constraints(fields, value))
        for name, value in ((name, values.get(name, _NONE_VALUE)) for name in suspects)
        if _may_be_violated(fields, value)
    ]


@lru_cache(maxsize=MAX_CACHED_TEXTS)
def _subject_of(text: str) -> str:
    """Return the name of what a sentence is about; empty if it has no such name."""
    match = _SUBJECT.search(text)
    subject = next(filter(None, match.groups()), "") if match else ""
    return "" if subject.startswith(_COUNT) else subject


def _are_similar(name: str, other: str) -> bool:
    """Return whether two names have a long prefix in common, or one ends with the other."""
    shorter, longer = sorted((_PREFIXES.sub("", name), other), key=len)
    is_suffix = longer.endswith(shorter) and len(shorter) >= _MIN_COMMON_SUFFIX
    prefix = shorter[:_MIN_COMMON_PREFIX]
    return is_suffix or (len(prefix) == _MIN_COMMON_PREFIX and longer.startswith(prefix))


_NONE_VALUE = LiteralValue(None)
_VECTOR_FIELDS = {"structures": (Structure.INTS, Structure.TENSOR)}


def _with_value_constraints(fields: Fields, value: Value) -> Fields:
    """Return the fields that a message demands, and the fields that the rejected value implies."""
    if not isinstance(value, LiteralValue) or isinstance(value.value, str):
        return fields
    if fields.get("ndim", (0, 0))[0] > 0 or "length" in fields:
        return {**_VECTOR_FIELDS, **fields}  # a number where a vector was expected
    if value == _NONE_VALUE and "structures" in fields:
        return {**fields, "nullable": False}
    return fields


def _split_expected_and_actual(sentence: str) -> tuple[str, str]:
    """Return the part of a sentence about the expected argument, and about the actual one."""
    for match in _GOT.finditer(sentence):
        if match.start() > 0 and _DEMANDS.search(sentence[: match.start()]):
            return sentence[: match.start()], sentence[match.end() :]
    return sentence, ""


def _suspects(fields: Fields, sentence: str, values: Mapping[str, Value]) -> list[str]:
    """Return the violating parameter whose argument is quoted, or else the first; empty if none."""
    violating_names = _violating(fields, values)
    quoted_names = [name for name in violating_names if _is_quoted(values[name], sentence)]
    return (quoted_names or violating_names)[:1]


def _violating(fields: Fields, values: Mapping[str, Value]) -> list[str]:
    return [name for name, value in values.items() if _violates(fields, value)]


def _only(names: list[str]) -> list[str]:
    """Return the name if there is one only, and none otherwise."""
    return names if len(names) == 1 else []


def _is_quoted(value: Value, sentence: str) -> bool:
    """Return whether a sentence quotes an argument, its shape or its dtype."""
    match value:
        case LiteralValue(str() as text):
            return bool(text) and text in sentence
        case LiteralValue(scalar):
            return _contains_number(sentence, str(scalar))
        case TensorValue(dtype=dtype, shape=shape):
            sizes = [match.group(1) for match in _SHAPES.finditer(sentence)]
            if any(tuple(map(int, _words(text))) == shape for text in sizes):
                return True
            return any(named_dtype(word) == dtype for word in _words(sentence)[-6:])
        case _:
            return False


def _contains_number(sentence: str, number: str) -> bool:
    """Return whether a sentence contains a number that is not part of a longer one."""
    if number not in sentence:  # the usual case, in which no pattern is compiled
        return False
    return re.search(rf"(?<![\w.]){re.escape(number)}(?![\w.])", sentence) is not None


def _violates(fields: Fields, value: Value) -> bool:
    """Return whether an argument violates the demanded fields."""
    is_violation = False
    match value:
        case TensorValue():
            is_violation = _tensor_violates(fields, value)
        case LiteralValue(bool() | None):
            pass
        case LiteralValue(str()):
            is_violation = bool(fields.get("allowed")) and value not in fields["allowed"]
        case LiteralValue(int() | float() as number):
            low, high = fields.get("low"), fields.get("high")
            is_violation = (low is not None and number < low) or (
                high is not None and number > high
            )
        case _:
            pass
    return is_violation


def _tensor_violates(fields: Fields, value: TensorValue) -> bool:
    dtypes, ndim = fields.get("dtypes", ()), fields.get("ndim")
    if dtypes and value.dtype not in dtypes:
        return True
    return ndim is not None and not ndim[0] <= len(value.shape) <= ndim[1]


def _may_be_violated(fields: Fields, value: Value) -> bool:
    """Return whether the rejected argument may have violated the demanded fields."""
    if isinstance(value, TensorValue) and set(fields) <= {"dtypes", "ndim"}:
        return _tensor_violates(fields, value)
    return True


def _same_shape_advice(
    text: str, values: Mapping[str, Value], names: Sequence[str]
) -> list[Advice]:
    """Return the advice to pass tensors of one shape: the named or quoted ones, else all."""
    tensors = [name for name, value in values.items() if isinstance(value, TensorValue)]
    mentioned_tensors = [name for name in tensors if name in parameters_in(text, names)]
    if len(mentioned_tensors) > 1:
        return [Advice(name, {"shape_of": mentioned_tensors[0]}) for name in mentioned_tensors[1:]]
    if len(tensors) < 2:  # noqa: PLR2004 - a relation needs two
        return []
    quoted_shapes = {tuple(map(int, _words(match.group(1)))) for match in _SHAPES.finditer(text)}
    lead = tensors[0]
    related_names = [
        name for name in tensors[1:] if _shape(values[name]) in quoted_shapes
    ] or tensors[1:]
    return [Advice(name, {"shape_of": lead}) for name in related_names]


def _shape(value: Value) -> tuple[int, ...] | None:
    return value.shape if isinstance(value, TensorValue) else None
