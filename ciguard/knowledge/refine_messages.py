"""What a rejection says of the parameters: expected and got, read from the library's own message.

Patterns of English, not of APIs: each sentence that says what must be is searched for the parameter
that it names, or for the one whose argument it quotes, and its requirement becomes the fields of a
clue. Documentation is often silent; a rejection states the rule that the call has just broken.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from ciguard.domain import DtypeValue, ListValue, LiteralValue, TensorValue, TupleValue, Value
from ciguard.knowledge.refine_requirements import Fields, dtype_named, requirement

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ciguard.knowledge.clues import Structure


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


_LONGEST = 600
_WRAPPING = re.compile(r"\{\{[^}]*\}\}|\[Op:[^\]]*\]|\bname: *$")
_SENTENCES = re.compile(r"(?:[.;:!]\s+|\n+)(?=[A-Z\"'`*(])")
_DEMANDS = re.compile(
    r"\b(?:must|should|expect\w*|requires?|required|needs?|only|has to|have to|allowed|supports?|"
    r"invalid|not a valid|unknown|unsupported|at least|inputs? to be|out of range)\b",
    re.IGNORECASE,
)
_GOT = re.compile(
    r"\b(?:but )?(?:got|received|found|given|was|is a|instead of|not)\b:?(?! of\b)", re.IGNORECASE
)
_QUOTED_NAME = re.compile(r"['\"`]{1,2}(\w+)['\"`]{1,2}")
_NAMED = re.compile(
    r"\b(?:argument|parameter|arg|keyword|attr|attribute|input)s? (?:#?\d+ )?['\"`]{0,2}(\w+)"
    r"|\b(\w+)(?: argument| parameter)?,? (?:must|should|has to|have to|to be|needs|cannot)\b"
    r"|\b(\w+)=|^(\w+): "
    r"|\b(?:expect\w*|requires?|supports?|for|invalid) (?:the )?(\w+)\b"
)
_MISSING = re.compile(r"missing \d+ required (?:positional|keyword-only) arguments?: (.+)")
_UNEXPECTED = re.compile(r"unexpected (?:keyword )?argument:? ['\"`]?(\w+)")
_TOO_MANY = re.compile(r"takes (?:from \d+ to )?(\d+) positional arguments? but (\d+) (?:was|were)")
_OVERLOAD = re.compile(r"^\s*\* \((.*?)\)\s*$", re.MULTILINE)
_NEITHER = re.compile(
    r"(?:at least one of|both|either) (.+?) (?:must|should|has|have|is|are)\b", re.IGNORECASE
)
_NOT_ALLOWED_ATTR = re.compile(
    r"[Vv]alue for attr '\w+' of \"?(\w+)\"? is not in the list of allowed values: ([\w\", ]+)"
)
_NTH_INPUT = re.compile(
    r"input #(\d+) ?\(zero-based\) was expected to be an? (\w+) tensor but is an? (\w+)"
)
_CONVERSION = re.compile(r"conversion requested dtype (\w+) for Tensor with dtype (\w+)")
_SCALAR_TYPE = re.compile(r"expected (?:scalar type|tensor for .*? to have .*?type) (\w+)[^.]*?"
                          r"(?:but found|got|but got) (?:\w+\.)?(\w+)")  # fmt: skip
_SAME_SIZE = re.compile(
    r"(?:must match|must be equal|must have the same|should have the same|incompatible shapes|"
    r"same (?:shape|size)|shapes? .*?(?:mismatch|do not match)|are not compatible|"
    r"not broadcastable|must be broadcastable|inconsistent|doesn't match the broadcast)",
    re.IGNORECASE,
)
_SHAPES = re.compile(r"[\[(]((?:\d+, ?)*\d*,?)[\])]")


def advice_in(
    message: str, values: Mapping[str, Value], names: Sequence[str]
) -> tuple[Advice, ...]:
    """Return what a rejection's message says of the parameters of the call.

    Args:
        message: of the exception.
        values: the arguments of the call that was rejected, by parameter.
        names: all parameters, in the order in which they are declared.
    """
    text = _WRAPPING.sub("", message[: _LONGEST * 2]).strip()
    about_form = [*_missing(text, names), *_unexpected(text, names), *_overloads(text, names)]
    if about_form:
        return tuple(about_form)
    typed = _about_dtypes(text, values)
    if typed:
        return tuple(typed)
    found = [
        advice
        for sentence in _SENTENCES.split(text[:_LONGEST])
        if _DEMANDS.search(sentence)
        for advice in _demanded(sentence, values, names)
    ]
    if not found and _SAME_SIZE.search(text):
        found = _alike(text, values)
    return tuple({one.parameter: one for one in reversed(found)}.values())


def mentioned(message: str, names: Sequence[str]) -> frozenset[str]:
    """Return the parameters that a message names."""
    text = _WRAPPING.sub("", message[:_LONGEST])
    words = {word for match in _QUOTED_NAME.finditer(text) for word in match.groups()}
    words |= {word for match in _NAMED.finditer(text) for word in match.groups() if word}
    return frozenset(words.intersection(names))


# --- the form of the call -----------------------------------------------------------------------


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


def _missing(text: str, names: Sequence[str]) -> list[Advice]:
    found = _MISSING.search(text)
    words = _words(found.group(1)) if found else []
    neither = _NEITHER.search(text)
    words += _words(neither.group(1)) if neither else []
    return [Advice(word, {}, Presence.ALWAYS) for word in words if word in names]


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
    for name in names:
        said = [signature[name] for signature in signatures if name in signature]
        if not said:
            continue
        structures = tuple(dict.fromkeys(s for types, _ in said for s in types))
        always = len(said) == len(signatures) and all(required for _, required in said)
        fields: Fields = {"structures": structures} if structures else {}
        found.append(Advice(name, fields, Presence.ALWAYS if always else Presence.UNSAID))
    return found


def _signature(text: str) -> dict[str, tuple[tuple[Structure, ...], bool]]:
    """Return types and need by parameter, of `Tensor input, *, Tensor out = None`."""
    parts = [part.strip() for part in text.split(",")]
    read: dict[str, tuple[tuple[Structure, ...], bool]] = {}
    for part in parts:
        declared, _, default = part.partition("=")
        words = declared.split()
        if len(words) > 1:
            fields = requirement("must be " + " ".join(words[:-1]))
            read[words[-1]] = (fields.get("structures", ()), not default)
    return read


# --- dtypes -------------------------------------------------------------------------------------


def _about_dtypes(text: str, values: Mapping[str, Value]) -> list[Advice]:
    """Read the phrases that name a wanted dtype and the one that was met."""
    found = _NOT_ALLOWED_ATTR.search(text)
    if found:
        wanted = tuple(d for d in map(dtype_named, _words(found.group(2))) if d)
        return _retyped(values, dtype_named(found.group(1)), wanted)
    found = _NTH_INPUT.search(text)
    if found:
        return _nth_retyped(values, int(found.group(1)), (found.group(3), found.group(2)))
    found = _CONVERSION.search(text) or _SCALAR_TYPE.search(text)
    if found:
        wanted_one = dtype_named(found.group(1))
        met = _retyped(values, dtype_named(found.group(2)), (wanted_one,) if wanted_one else ())
        return met[-1:]  # the leading tensor is most often the one that the others must follow
    return []


def _retyped(values: Mapping[str, Value], met: str, wanted: tuple[str, ...]) -> list[Advice]:
    if not met or not wanted:
        return []
    return [Advice(name, {"dtypes": wanted}) for name, v in values.items() if _dtype(v) == met]


def _nth_retyped(values: Mapping[str, Value], nth: int, words: tuple[str, str]) -> list[Advice]:
    met, wanted = map(dtype_named, words)
    tensors = [name for name, value in values.items() if _dtype(value)]
    candidates = [name for name in tensors if _dtype(values[name]) == met]
    if not candidates or not wanted:
        return []
    chosen = tensors[nth] if nth < len(tensors) and tensors[nth] in candidates else candidates[-1]
    return [Advice(chosen, {"dtypes": (wanted,)})]


def _dtype(value: Value) -> str:
    match value:
        case TensorValue(dtype=dtype) | DtypeValue(dtype):
            return dtype
        case ListValue((first, *_)) | TupleValue((first, *_)):
            return _dtype(first)
        case _:
            return ""


# --- what must be -------------------------------------------------------------------------------


def _demanded(sentence: str, values: Mapping[str, Value], names: Sequence[str]) -> list[Advice]:
    wanted, _, got = _split(sentence)
    fields = requirement(wanted)
    if not fields:
        return []
    named = [name for name in names if name in mentioned(wanted, names)]
    suspects = named or _quoted(fields, got, values)
    return [
        Advice(name, fields)
        for name in suspects
        if _is_news(fields, values.get(name, LiteralValue(None)))
    ]


def _split(sentence: str) -> tuple[str, str, str]:
    """Split a sentence into what is wanted and what was got."""
    met = [match for match in _GOT.finditer(sentence) if match.start() > 0]
    if not met:
        return sentence, "", ""
    cut = next((m for m in met if _DEMANDS.search(sentence[: m.start()])), None)
    if cut is None:
        return sentence, "", ""
    return sentence[: cut.start()], cut.group(), sentence[cut.end() :]


def _quoted(fields: Fields, got: str, values: Mapping[str, Value]) -> list[str]:
    """Return the parameters whose argument the message quotes, or that alone break the rule."""
    breaking = [name for name, value in values.items() if _breaks(fields, value)]
    if len(breaking) < 2:  # noqa: PLR2004 - more than one
        return breaking
    quoted = [name for name in breaking if _is_quoted(values[name], got)]
    return quoted[:1] if quoted else breaking[:1]


def _is_quoted(value: Value, got: str) -> bool:
    match value:
        case LiteralValue(str() as text):
            return bool(text) and text in got
        case LiteralValue(scalar):
            return re.search(rf"(?<![\w.]){re.escape(str(scalar))}(?![\w.])", got) is not None
        case TensorValue(dtype=dtype, shape=shape):
            sizes = ", ".join(map(str, shape))
            return sizes in got or any(dtype_named(word) == dtype for word in _words(got)[:4])
        case _:
            return False


def _breaks(fields: Fields, value: Value) -> bool:
    """Tell whether an argument breaks what a message demands of some argument."""
    match value:
        case TensorValue():
            return _tensor_breaks(fields, value)
        case LiteralValue(bool() | None):
            return False
        case LiteralValue(str()):
            return bool(fields.get("allowed")) and value not in fields["allowed"]
        case LiteralValue(int() | float() as number):
            low, high = fields.get("low"), fields.get("high")
            return (low is not None and number < low) or (high is not None and number > high)
        case _:
            return False


def _tensor_breaks(fields: Fields, value: TensorValue) -> bool:
    dtypes, ndim = fields.get("dtypes", ()), fields.get("ndim")
    if dtypes and value.dtype not in dtypes:
        return True
    return ndim is not None and not ndim[0] <= len(value.shape) <= ndim[1]


def _is_news(fields: Fields, value: Value) -> bool:
    """Tell whether the argument that was refused lets the demand be the reason."""
    if isinstance(value, TensorValue) and set(fields) <= {"dtypes", "ndim"}:
        return _tensor_breaks(fields, value)
    return True


def _alike(text: str, values: Mapping[str, Value]) -> list[Advice]:
    """Read that tensors must agree in shape: those that are quoted, else all."""
    tensors = [name for name, value in values.items() if isinstance(value, TensorValue)]
    if len(tensors) < 2:  # noqa: PLR2004 - a pair
        return []
    quoted = {tuple(map(int, _words(match.group(1)))) for match in _SHAPES.finditer(text)}
    lead = tensors[0]
    others = [name for name in tensors[1:] if _shape(values[name]) in quoted] or tensors[1:]
    return [Advice(name, {"shape_of": lead}) for name in others]


def _shape(value: Value) -> Any:
    return value.shape if isinstance(value, TensorValue) else None
