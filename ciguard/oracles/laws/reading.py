"""The laws of an API: from its operator definition, its signature and its documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind
from ciguard.domain.values import LiteralValue
from ciguard.knowledge import ClueSource
from ciguard.oracles.laws.demands import (
    Demand,
    aspect_of,
    breach,
    choice,
    demand_in_words,
    interval,
)
from ciguard.oracles.laws.sentences import demands_in, sentences
from ciguard.values import Dtype, Float, OneOf, Tensor, in_range

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.records import ApiRecord, ParameterRecord

_MAX_QUOTED = 200
_BY_POSITION = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_EXACT_TYPES = {
    "LongTensor": ("int64",),
    "IntTensor": ("int32",),
    "BoolTensor": ("bool", "uint8"),
    "ByteTensor": ("uint8",),
}
"""Types that documentation means to the letter; `FloatTensor` is any of real numbers there, and a
mask of bytes is taken with a warning."""
_TENSOR_TYPE = re.compile(r"(?:torch\.)?(\w+Tensor)(?: or (?:torch\.)?(\w+Tensor))?(?:, optional)?")
_WITHOUT_EFFECT = re.compile(
    r"\b(?:ignored|only used|only relevant|unused|not used|deprecated|no effect|has no meaning"
    r"|only applies|only applicable|not supported|for compatibility)\b",
    re.IGNORECASE,
)
_LITERAL = re.compile(r"\bLiteral\[([^\[\]]*)\]")
_ANY_NUMBER = re.compile(r"(?<![\w.\]\[(,])-?\d+(?:\.\d+)?(?![\w.]*\w)(?! ?-?[dD]\b)")
_ANY_RANK = re.compile(r"(?<![\w.])(\d)-?[dD](?:imensional)?\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Law:
    """One thing that an API's own words forbid one of its arguments to be."""

    parameter: str
    position: int | None
    """Its place among the positional arguments; None if it goes by name only."""
    demand: Demand
    source: ClueSource
    sentence: str
    """The words that say so: a sentence of the documentation, or a line of the definition."""

    @property
    def aspect(self) -> str:
        """Which side of the argument it is about."""
        return aspect_of(self.demand)

    @property
    def words(self) -> str:
        """What the argument must be, in words that follow `is`."""
        return demand_in_words(self.demand)


def laws_of(record: ApiRecord) -> dict[str, tuple[Law, ...]]:
    """Return the laws of an API by parameter, without parameters that have none.

    Of one aspect the first source that speaks counts: the operator definition, the signature, the
    documentation. A law that the parameter's own default or description contradicts is none.
    """
    found: dict[str, tuple[Law, ...]] = {}
    for place, parameter in enumerate(record.parameters):
        position = place if parameter.kind in _BY_POSITION else None
        laws: dict[str, Law] = {}
        for source, demand, sentence in _demands(record, parameter):
            law = Law(
                parameter=parameter.name,
                position=position,
                demand=demand,
                source=source,
                sentence=sentence[:_MAX_QUOTED],
            )
            laws.setdefault(law.aspect, law)
        if laws:
            found[parameter.name] = tuple(laws.values())
    return found


def _demands(
    record: ApiRecord, parameter: ParameterRecord
) -> Iterator[tuple[ClueSource, Demand, str]]:
    if record.source == "opdef":
        yield from _of_definition(parameter)
    for source, demand, sentence in (*_of_hint(parameter), *_of_words(parameter)):
        if not _is_contradicted(parameter, demand, sentence):
            yield source, demand, sentence


def _of_definition(parameter: ParameterRecord) -> Iterator[tuple[ClueSource, Demand, str]]:
    is_list = parameter.schema_type.startswith("list")
    if parameter.minimum is not None and not is_list:
        text = f"{parameter.name}: {parameter.schema_type} >= {parameter.minimum}"
        yield ClueSource.OPDEF, interval(low=parameter.minimum), text
    if parameter.allowed:
        text = f"{parameter.name}: one of {', '.join(parameter.allowed)}"
        yield ClueSource.OPDEF, choice(parameter.allowed), text
    if parameter.dtypes:
        text = f"{parameter.name}: of type {', '.join(parameter.dtypes)}"
        yield ClueSource.OPDEF, Dtype(parameter.dtypes), text


def _of_hint(parameter: ParameterRecord) -> Iterator[tuple[ClueSource, Demand, str]]:
    """Yield the enumeration of the signature: `Literal['mean', 'sum']`."""
    texts = [text for listed in _LITERAL.findall(parameter.annotation) for text in listed]
    strings = tuple(re.findall(r"['\"]([^'\"]*)['\"]", "".join(texts)))
    if strings and not re.search(r"\bstr\b", parameter.annotation):
        yield ClueSource.ANNOTATION, choice(strings), f"{parameter.name}: {parameter.annotation}"


def _of_words(parameter: ParameterRecord) -> Iterator[tuple[ClueSource, Demand, str]]:
    typed = _TENSOR_TYPE.fullmatch(parameter.doc_type)
    if typed and all(name in _EXACT_TYPES for name in typed.groups() if name):
        names = [name for given in typed.groups() if given for name in _EXACT_TYPES[given]]
        yield (
            ClueSource.DOC_TYPE,
            Dtype(tuple(names)),
            f"{parameter.name} ({parameter.doc_type})",
        )
    for sentence in sentences(parameter.doc):
        for demand in demands_in(sentence, parameter.name):
            yield ClueSource.DOC_PHRASE, demand, sentence


def _is_contradicted(parameter: ParameterRecord, demand: Demand, sentence: str) -> bool:
    """Return whether something else that is said of the parameter lets in what the law forbids."""
    if _WITHOUT_EFFECT.search(parameter.doc) or _excepts(demand, sentence):
        return True
    match demand:
        case Float():
            default = _number(parameter.default)
            rest = " ".join(other for other in sentences(parameter.doc) if other != sentence)
            named = [float(text) for text in _ANY_NUMBER.findall(rest)]
            if _ZERO.search(rest):
                named.append(0.0)
            if default is not None:
                named.append(default)
            return not all(in_range(number, demand) for number in named)
        case OneOf(values):
            texts = re.findall(r"['\"]([\w\-+ ]+)['\"]", parameter.doc)
            quoted = set(map(LiteralValue, texts)) - set(values)
            default = parameter.default
            is_text = isinstance(default, str) and default[:1] in {"'", '"'}
            other = is_text and bool(breach(LiteralValue(str(default)[1:-1]), demand))
            return bool(quoted) or other
        case Tensor(ndim=(least, most)):
            named_ranks = map(int, _ANY_RANK.findall(parameter.doc))
            return not all(least <= rank <= most for rank in named_ranks)
        case _:
            return False


_OR_EQUAL = re.compile(r"\b(?:greater|larger|more|less|smaller|higher)\s+(?:than\s+)?or\s+equal")
_EXCEPTION = re.compile(
    r"\bor\b[^.;]*?(?:-?\d|\b(?:zero|one|none|higher|more|greater|larger|callable)\b)",
    re.IGNORECASE,
)
_ZERO = re.compile(r"\bzero\b (?:disables|means|is|turns|will)", re.IGNORECASE)


def _excepts(demand: Demand, sentence: str) -> bool:
    """Return whether the sentence itself lets in more than the law that was read from it.

    `non-negative integer or -1`, `positive, or zero to disable it`, `2-D, or higher rank`.
    """
    if not isinstance(demand, Float | Tensor):
        return False
    return bool(_EXCEPTION.search(_OR_EQUAL.sub("at least", sentence)))


def _number(text: object) -> float | None:
    try:
        return float(text) if isinstance(text, str) else None
    except ValueError:
        return None
