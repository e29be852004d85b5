"""What a rejection says of the parameters: expected and got, read from the library's own message.

Patterns of English, not of APIs: each sentence that says what must be is searched for the parameter
that it names, or for the one whose argument it quotes, and its requirement becomes the fields of a
clue. Documentation is often silent; a rejection states the rule that the call has just broken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from functools import lru_cache
from typing import TYPE_CHECKING

from ciguard.domain.values import LiteralValue, TensorValue, Value
from ciguard.knowledge.clues import Structure
from ciguard.knowledge.refinement.dtypes import about_dtypes
from ciguard.knowledge.refinement.interpreter import structures_missing
from ciguard.knowledge.refinement.objects import object_named
from ciguard.knowledge.refinement.requirements import Fields, dtype_named, requirement
from ciguard.knowledge.refinement.traits import kind_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


class Presence(StrEnum):
    """Whether a parameter is to be given, as far as rejections say."""

    UNSAID = ""
    ALWAYS = "always"
    NEVER = "never"


@dataclass(frozen=True, slots=True)
class Advice:
    """What one message says of one parameter."""

    parameter: str
    fields: Fields
    """Fields of a clue."""
    presence: Presence = Presence.UNSAID


_MAX_LENGTH = 800
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
_NAMED = re.compile(
    r"\b(?:argument|parameter|arg|keyword|attr|attribute|input)s? (?:#?\d+ )?['\"`]{0,2}(\w+)"
    r"|\b(\w+)(?:\.\w+)?(?: argument| parameter| tensor)?,? "
    r"(?:must|should|has to|have to|to be|needs|cannot)\b"
    r"|\b(\w+)=|^(\w+): "
    r"|\b(?:expect\w*|requires?|supports?|for|invalid) (?:the )?(\w+)\b"
)
_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
_UNEXPECTED = re.compile(r"unexpected (?:keyword )?argument:? ['\"`]?(\w+)")
_TOO_MANY = re.compile(r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were)")
_OVERLOAD = re.compile(r"^\s*\* \((.*?)\)\s*$", re.MULTILINE)
_NEITHER = re.compile(
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


@lru_cache(maxsize=2048)  # libraries repeat themselves, and one message is read more than once
def bare(text: str) -> str:
    """Return a message without what the library wraps around it."""
    unwrapped = _WRAPPING.sub(" ", text)[:_MAX_LENGTH].strip()
    return re.sub(r"[ \t]+", " ", unwrapped)


def advice_in(
    message: str, values: Mapping[str, Value], names: Sequence[str]
) -> tuple[Advice, ...]:
    """Return what a rejection's message says of the parameters of the call.

    Args:
        message: of the exception.
        values: the arguments of the call that was rejected, by parameter.
        names: all parameters, in the order in which they are declared.
    """
    text = bare(message)
    about_form = [*_missing(text, names), *_unexpected(text, names), *_overloads(text, names)]
    if about_form:
        return tuple(about_form)
    wanted = object_named(message)
    if wanted:
        return _replaced(text, wanted, values, names)
    mistyped = structures_missing(text, values)
    if mistyped:
        return tuple(Advice(name, fields) for name, fields in mistyped.items())
    if _LIST_OF_INPUTS.search(text):
        inputs = [name for name in names if name.startswith("input:")]
        return tuple(Advice(name, {"structures": (Structure.TENSORS,)}) for name in inputs[:1])
    typed = about_dtypes(message, text, values, names)
    if typed:
        return tuple(Advice(name, fields) for name, fields in typed.items())
    found = [
        advice
        for sentence in _SENTENCES.split(text)
        if _DEMANDS.search(sentence)
        for advice in _demanded(sentence, values, names)
    ]
    if not found and _SAME_SIZE.search(text):
        found = _alike(text, values, names)
    return tuple({one.parameter: one for one in reversed(found)}.values())


def mentioned(message: str, names: Sequence[str]) -> frozenset[str]:
    """Return the parameters that a message names."""
    return _mentioned(message, tuple(names))


@lru_cache(maxsize=2048)
def _mentioned(message: str, names: tuple[str, ...]) -> frozenset[str]:
    text = bare(message)
    words = set(_QUOTED_NAME.findall(text))
    words |= {word for match in _NAMED.finditer(text) for word in match.groups() if word}
    lowered = f" {text.lower()} "
    return frozenset(
        name
        for name, plain in ((name, _PREFIXES.sub("", name)) for name in names)
        if plain in words or ("_" in plain and _is_spoken(plain.lower(), lowered))
    )


def _is_spoken(name: str, text: str) -> bool:
    """Return whether a name of several words stands in a text: `frame_length`, "frame length"."""
    return name in text or f" {name.replace('_', ' ')} " in text


# --- the form of the call -----------------------------------------------------------------------


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _missing(text: str, names: Sequence[str]) -> list[Advice]:
    found = _MISSING.search(text)
    words = _words(found.group(1)) if found else []
    neither = _NEITHER.search(text)
    if neither:
        words += re.findall(r"(?<=[`'\"])\w+(?=[`'\"])|\w+_\w+", neither.group(1))
    known = [name for name in names if _PREFIXES.sub("", name) in words]
    # A parameter that no source has told of: the library knows better what it is called.
    unheard = _QUOTED_NAME.findall(found.group(1)) if found else []
    return [
        Advice(name, {}, Presence.ALWAYS)
        for name in (*known, *(word for word in unheard if not known))
    ]


def _unexpected(text: str, names: Sequence[str]) -> list[Advice]:
    found = _UNEXPECTED.search(text)
    if found and found.group(1) in names:
        return [Advice(found.group(1), {}, Presence.NEVER)]
    found = _TOO_MANY.search(text)
    if found and "args" in names:
        return [Advice("args", {}, Presence.NEVER)]
    return []


def _overloads(text: str, names: Sequence[str]) -> list[Advice]:
    """Read the signatures that torch lists when it has found none that fits."""
    signatures = [_signature(match.group(1)) for match in _OVERLOAD.finditer(text)]
    if not signatures:
        return []
    found: list[Advice] = []
    spoken = dict.fromkeys(name for signature in signatures for name in signature)
    for name in spoken:
        said = [signature[name] for signature in signatures if name in signature]
        structures = tuple(dict.fromkeys(s for types, _ in said for s in types))
        always = len(said) == len(signatures) and all(required for _, required in said)
        fields: Fields = {"structures": structures} if structures else {}
        if always or name in names:
            found.append(Advice(name, fields, Presence.ALWAYS if always else Presence.UNSAID))
    return found


def _signature(text: str) -> dict[str, tuple[tuple[Structure, ...], bool]]:
    """Return types and need by parameter, of `Tensor input, *, Tensor out = None`."""
    read: dict[str, tuple[tuple[Structure, ...], bool]] = {}
    for part in text.split(","):
        declared, _, default = part.partition("=")
        words = declared.split()
        if len(words) > 1:
            fields = requirement("must be " + " ".join(words[:-1]))
            read[words[-1]] = (fields.get("structures", ()), not default)
    return read


# --- objects ------------------------------------------------------------------------------------


def _replaced(
    text: str, wanted: tuple[Value, ...], values: Mapping[str, Value], names: Sequence[str]
) -> tuple[Advice, ...]:
    """Put an object in the place that is named, else in that of the first other thing."""
    kinds = {kind_of(value) for value in wanted}
    others = [
        name
        for name, value in values.items()
        if kind_of(value) not in kinds and (isinstance(value, TensorValue) or "NoneType" in text)
    ] or [name for name, value in values.items() if kind_of(value) not in kinds]
    named = [name for name in others if name in mentioned(text, names)]
    return tuple(Advice(name, {"allowed": wanted}) for name in (named or others)[:1])


# --- what must be -------------------------------------------------------------------------------


def _demanded(sentence: str, values: Mapping[str, Value], names: Sequence[str]) -> list[Advice]:
    wanted, _ = _split(sentence)
    fields = requirement(wanted)
    if not fields:
        return []
    named = [name for name in names if name in mentioned(wanted, names)]
    suspects = named or _quoted(fields, sentence, values)
    return [
        Advice(name, _for_value(fields, value))
        for name, value in ((name, values.get(name, _NONE)) for name in suspects)
        if _is_news(fields, value)
    ]


_NONE = LiteralValue(None)
_NO_NUMBER = {"structures": (Structure.INTS, Structure.TENSOR)}


def _for_value(fields: Fields, value: Value) -> Fields:
    """Return what is demanded, and what the argument that was refused adds to it."""
    if not isinstance(value, LiteralValue) or isinstance(value.value, str):
        return fields
    if fields.get("ndim", (0, 0))[0] > 0 or "length" in fields:
        return {**_NO_NUMBER, **fields}  # a number where a vector was wanted
    if value == _NONE and "structures" in fields:
        return {**fields, "nullable": False}
    return fields


def _split(sentence: str) -> tuple[str, str]:
    """Split a sentence into what is wanted and what was got."""
    for met in _GOT.finditer(sentence):
        if met.start() > 0 and _DEMANDS.search(sentence[: met.start()]):
            return sentence[: met.start()], sentence[met.end() :]
    return sentence, ""


def _quoted(fields: Fields, sentence: str, values: Mapping[str, Value]) -> list[str]:
    """Return the parameter whose argument the message quotes, or the first that breaks the rule."""
    breaking = [name for name, value in values.items() if _breaks(fields, value)]
    quoted = [name for name in breaking if _is_quoted(values[name], sentence)]
    return (quoted or breaking)[:1]


def _is_quoted(value: Value, sentence: str) -> bool:
    match value:
        case LiteralValue(str() as text):
            return bool(text) and text in sentence
        case LiteralValue(scalar):
            return re.search(rf"(?<![\w.]){re.escape(str(scalar))}(?![\w.])", sentence) is not None
        case TensorValue(dtype=dtype, shape=shape):
            sizes = [match.group(1) for match in _SHAPES.finditer(sentence)]
            if any(tuple(map(int, _words(text))) == shape for text in sizes):
                return True
            return any(dtype_named(word) == dtype for word in _words(sentence)[-6:])
        case _:
            return False


def _breaks(fields: Fields, value: Value) -> bool:
    """Return whether an argument breaks what a message demands of some argument."""
    broken = False
    match value:
        case TensorValue():
            broken = _tensor_breaks(fields, value)
        case LiteralValue(bool() | None):
            pass
        case LiteralValue(str()):
            broken = bool(fields.get("allowed")) and value not in fields["allowed"]
        case LiteralValue(int() | float() as number):
            low, high = fields.get("low"), fields.get("high")
            broken = (low is not None and number < low) or (high is not None and number > high)
        case _:
            pass
    return broken


def _tensor_breaks(fields: Fields, value: TensorValue) -> bool:
    dtypes, ndim = fields.get("dtypes", ()), fields.get("ndim")
    if dtypes and value.dtype not in dtypes:
        return True
    return ndim is not None and not ndim[0] <= len(value.shape) <= ndim[1]


def _is_news(fields: Fields, value: Value) -> bool:
    """Return whether the argument that was refused lets the demand be the reason."""
    if isinstance(value, TensorValue) and set(fields) <= {"dtypes", "ndim"}:
        return _tensor_breaks(fields, value)
    return True


def _alike(text: str, values: Mapping[str, Value], names: Sequence[str]) -> list[Advice]:
    """Read that tensors must agree in shape: those that are named or quoted, else all."""
    tensors = [name for name, value in values.items() if isinstance(value, TensorValue)]
    named = [name for name in tensors if name in mentioned(text, names)]
    if len(named) > 1:
        return [Advice(name, {"shape_of": named[0]}) for name in named[1:]]
    if len(tensors) < 2:  # noqa: PLR2004 - a pair
        return []
    quoted = {tuple(map(int, _words(match.group(1)))) for match in _SHAPES.finditer(text)}
    lead = tensors[0]
    others = [name for name in tensors[1:] if _shape(values[name]) in quoted] or tensors[1:]
    return [Advice(name, {"shape_of": lead}) for name in others]


def _shape(value: Value) -> tuple[int, ...] | None:
    return value.shape if isinstance(value, TensorValue) else None
