"""Reader of an API's specifications in its operator definition, signature and documentation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind
from ciguard.domain.values import LiteralValue
from ciguard.knowledge import ClueSource
from ciguard.oracles.specifications.conventions import conventions_for
from ciguard.oracles.specifications.requirements import (
    Requirement,
    aspect_of,
    choice,
    interval,
    requirement_in_words,
    violation_in_words,
)
from ciguard.oracles.specifications.sentences import requirements_in, sentences
from ciguard.values import Dtype, Float, OneOf, Tensor, in_range

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from ciguard.domain.records import ApiRecord, ParameterRecord

_MAX_QUOTE_LENGTH = 200
_POSITIONAL_KINDS = (ParameterKind.POSITIONAL_ONLY, ParameterKind.POSITIONAL_OR_KEYWORD)
_EXACT_TYPES = {
    "LongTensor": ("int64",),
    "IntTensor": ("int32",),
    "BoolTensor": ("bool", "uint8"),
    "ByteTensor": ("uint8",),
}
"""Dtypes of the tensor types that documentation means literally. `FloatTensor` is left out, because
it may mean any real type. A `BoolTensor` may be uint8, because libraries accept byte masks."""
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
class Specification:
    """One requirement that an API's documentation states for an argument."""

    parameter: str
    position: int | None
    """Index among the positional arguments; None if the parameter is keyword-only."""
    requirement: Requirement
    source: ClueSource
    sentence: str
    """Sentence of the documentation, line of the operator definition, or convention."""

    @property
    def is_convention(self) -> bool:
        """True if no text of the library states it, but the parameter's name implies it."""
        return self.source is ClueSource.NAME

    @property
    def aspect(self) -> str:
        """Property of the argument that is restricted: `range`, `member`, `rank` or `dtype`."""
        return aspect_of(self.requirement)

    @property
    def words(self) -> str:
        """The requirement as words that can follow `is`, such as `at least 0`."""
        return requirement_in_words(self.requirement)


def specifications_of(record: ApiRecord) -> dict[str, tuple[Specification, ...]]:
    """Return the specifications of an API by parameter, without parameters that have none.

    If several sources restrict the same aspect, the first of these is used: operator definition,
    signature, documentation. A specification is left out if the parameter's default or description
    contradicts it.
    """
    specifications_by_parameter: dict[str, tuple[Specification, ...]] = {}
    for index, parameter in enumerate(record.parameters):
        position = index if parameter.kind in _POSITIONAL_KINDS else None
        specifications: dict[str, Specification] = {}
        for source, requirement, sentence in _stated_requirements(record, parameter):
            specification = Specification(
                parameter=parameter.name,
                position=position,
                requirement=requirement,
                source=source,
                sentence=sentence[:_MAX_QUOTE_LENGTH],
            )
            specifications.setdefault(specification.aspect, specification)
        if specifications:
            specifications_by_parameter[parameter.name] = tuple(specifications.values())
    return specifications_by_parameter


def with_conventions(
    record: ApiRecord, stated: Mapping[str, tuple[Specification, ...]]
) -> dict[str, tuple[Specification, ...]]:
    """Return stated specifications and, for aspects without one, those of conventions.

    A default or a number in the description that a convention forbids refutes it. A parameter that
    the library may ignore has none: it has nothing to reject there.
    """
    specifications = dict(stated)
    for index, parameter in enumerate(record.parameters):
        if _may_be_ignored(record, parameter):
            continue
        aspects = {specification.aspect for specification in stated.get(parameter.name, ())}
        for requirement, sentence in conventions_for(record.api, parameter.name):
            if aspect_of(requirement) in aspects or _is_contradicted(parameter, requirement, ""):
                continue
            aspects.add(aspect_of(requirement))
            specification = Specification(
                parameter=parameter.name,
                position=index if parameter.kind in _POSITIONAL_KINDS else None,
                requirement=requirement,
                source=ClueSource.NAME,
                sentence=sentence,
            )
            earlier = specifications.get(parameter.name, ())
            specifications[parameter.name] = (*earlier, specification)
    return specifications


def _may_be_ignored(record: ApiRecord, parameter: ParameterRecord) -> bool:
    """Return whether a parameter may have no effect.

    It may if the documentation describes other parameters but not this one, as for deprecated ones,
    or if its description says for which value of another parameter it is used.
    """
    others = [other for other in record.parameters if other is not parameter]
    if not parameter.doc:
        return any(other.doc for other in others)
    return any(
        re.search(rf"\b(?:when|if)\b[^.]*\b{re.escape(other.name)}\b\W{{0,6}}=", parameter.doc)
        for other in others
    )


def _stated_requirements(
    record: ApiRecord, parameter: ParameterRecord
) -> Iterator[tuple[ClueSource, Requirement, str]]:
    """Yield each requirement for a parameter with its source and sentence."""
    if record.source == "opdef":
        yield from _requirements_of_definition(parameter)
    for source, requirement, sentence in (
        *_requirements_of_annotation(parameter),
        *_requirements_of_documentation(parameter),
    ):
        if not _is_contradicted(parameter, requirement, sentence):
            yield source, requirement, sentence


def _requirements_of_definition(
    parameter: ParameterRecord,
) -> Iterator[tuple[ClueSource, Requirement, str]]:
    """Yield the requirements in the operator definition."""
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


def _requirements_of_annotation(
    parameter: ParameterRecord,
) -> Iterator[tuple[ClueSource, Requirement, str]]:
    """Yield the choice in the annotation, such as `Literal['mean', 'sum']`."""
    listed_texts = [text for listed in _LITERAL.findall(parameter.annotation) for text in listed]
    strings = tuple(re.findall(r"['\"]([^'\"]*)['\"]", "".join(listed_texts)))
    if strings and not re.search(r"\bstr\b", parameter.annotation):
        yield ClueSource.ANNOTATION, choice(strings), f"{parameter.name}: {parameter.annotation}"


def _requirements_of_documentation(
    parameter: ParameterRecord,
) -> Iterator[tuple[ClueSource, Requirement, str]]:
    """Yield the requirements in the documented type and in each sentence of the description."""
    type_match = _TENSOR_TYPE.fullmatch(parameter.doc_type)
    if type_match and all(name in _EXACT_TYPES for name in type_match.groups() if name):
        names = [dtype for name in type_match.groups() if name for dtype in _EXACT_TYPES[name]]
        yield (
            ClueSource.DOC_TYPE,
            Dtype(tuple(names)),
            f"{parameter.name} ({parameter.doc_type})",
        )
    for sentence in sentences(parameter.doc):
        for requirement in requirements_in(sentence, parameter.name):
            yield ClueSource.DOC_PHRASE, requirement, sentence


def _is_contradicted(parameter: ParameterRecord, requirement: Requirement, sentence: str) -> bool:
    """Return whether another statement about the parameter allows what the requirement forbids."""
    if _WITHOUT_EFFECT.search(parameter.doc) or _has_exception(requirement, sentence):
        return True
    match requirement:
        case Float():
            default = _number(parameter.default)
            rest = " ".join(other for other in sentences(parameter.doc) if other != sentence)
            mentioned = [float(text) for text in _ANY_NUMBER.findall(rest)]
            if _ZERO.search(rest):
                mentioned.append(0.0)
            if default is not None:
                mentioned.append(default)
            return not all(in_range(number, requirement) for number in mentioned)
        case OneOf(values):
            listed_texts = re.findall(r"['\"]([\w\-+ ]+)['\"]", parameter.doc)
            quoted = set(map(LiteralValue, listed_texts)) - set(values)
            default = parameter.default
            is_text = isinstance(default, str) and default[:1] in {"'", '"'}
            has_other_default = is_text and bool(
                violation_in_words(LiteralValue(str(default)[1:-1]), requirement)
            )
            return bool(quoted) or has_other_default
        case Tensor(ndim=(min_rank, max_rank)):
            mentioned_ranks = map(int, _ANY_RANK.findall(parameter.doc))
            return not all(min_rank <= rank <= max_rank for rank in mentioned_ranks)
        case _:
            return False


_OR_EQUAL_PHRASE = re.compile(
    r"\b(?:greater|larger|more|less|smaller|higher)\s+(?:than\s+)?or\s+equal"
)
_EXCEPTION = re.compile(
    r"\bor\b[^.;]*?(?:-?\d|\b(?:zero|one|none|higher|more|greater|larger|callable)\b)",
    re.IGNORECASE,
)
_ZERO = re.compile(r"\bzero\b (?:disables|means|is|turns|will)", re.IGNORECASE)


def _has_exception(requirement: Requirement, sentence: str) -> bool:
    """Return whether the sentence itself allows more than the requirement that was read from it.

    Examples: `non-negative integer or -1`, `positive, or zero to disable it`, `2-D, or higher
    rank`.
    """
    if not isinstance(requirement, Float | Tensor):
        return False
    return bool(_EXCEPTION.search(_OR_EQUAL_PHRASE.sub("at least", sentence)))


def _number(text: object) -> float | None:
    """Return the number that a text consists of; None for any other object."""
    try:
        return float(text) if isinstance(text, str) else None
    except ValueError:
        return None
