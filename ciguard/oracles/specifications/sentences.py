"""Requirements in sentences of documentation, read only from sentences with a single reading.

A sentence with a condition or a hedge (`if`, `unless`, `usually`, …) is not read as a requirement.
The subject of a range, choice, rank or type must be the parameter itself. For example, `must be
positive` is read at the beginning of a clause and after `it`, `values` or the parameter's name, but
not after `height`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import TypeAlias

from ciguard.oracles.specifications.requirements import Requirement, choice, interval, ranks
from ciguard.values import Dtype, Float

_Reader: TypeAlias = Callable[[str, str], Iterator[Requirement]]
"""Function that yields the requirements in a sentence about the parameter of the given name."""

_MAX_DOC_LENGTH = 4000
_SENTENCE_END = re.compile(r"(?<!e\.g)(?<!i\.e)(?<!etc)[.;](?=\s)|\n\s*\n|\n\s*[-*]\s")
_ROLE = re.compile(r":[a-z]+:(?=`)")
_NEUTRAL_PHRASE = re.compile(
    r"^\(?optional\)?[.:,]?\s+|\b[Ii]f (?:given|set|specified|provided|present|passed|not None),? ",
    re.IGNORECASE,
)
_HEDGES = re.compile(
    r"\b(?:if|when|whenever|unless|except|otherwise|else|usually|typically|normally|generally|often"
    r"|recommended|suggested|ideally|preferably|expected|assumed|assumes|e\.g|i\.e|such as"
    r"|for example|for instance|like|may|might|in case|in the case|case|only|for|where|before"
    r"|after|unlike|rather|then|depending|currently)\b",
    re.IGNORECASE,
)
_NUMBER = r"(-?\d+(?:\.\d+)?(?:e-?\d+)?|zero|one)(?![\w.]*[\w*/+])(?!\s*[*/+-]\s*\w)"
_MUST = (
    r"(?:must|should|has to|have to|needs? to|shall)(?: (?:also|all|always|each|both))? (?:be|vary)"
)
_SUBJECT = (
    r"(?:^|[,(:] ?(?:and |but |which |it |this |that )?"
    r"|\b(?:(?:this|its|the|all|each) (?:values?|elements?|entr(?:y|ies)|items?|parameter|number)"
    r"|it|this|values?|elements?|NAME),? (?:and |which |that )?)"
)
_NUMBER_WORDS = {"zero": 0.0, "one": 1.0}
_COMPARISONS = (
    (re.compile(rf"(?:>=|≥|at least|no less than|not less than|greater than or equal to"
                rf"|larger than or equal to) ?{_NUMBER}"), "min", False),
    (re.compile(rf"(?:>|(?:strictly )?(?:greater|larger|bigger|more|higher) than) ?(?!or\b)"
                rf"{_NUMBER}"), "min", True),
    (re.compile(rf"(?:<=|≤|at most|no more than|no greater than|not exceed"
                rf"|(?:less|smaller|lower) than or equal to) ?{_NUMBER}"), "max", False),
    (re.compile(rf"(?:<|(?:strictly )?(?:less|smaller|lower) than) ?(?!or\b){_NUMBER}"),
     "max", True),
)  # fmt: skip
_BRACKETS = re.compile(rf"([\[(]) ?{_NUMBER}, ?{_NUMBER} ?([\])])")
_BETWEEN = re.compile(rf"\bbetween {_NUMBER} and {_NUMBER}")
_POSITIVE = r"(?:a |an )?(?:strictly )?positive(?![- ](?:semi|definite|or|and|infinity|examples?))"
_NOT_NEGATIVE = r"(?:a |an )?(?:weakly positive|non-?negative|not negative|positive or zero)"
_LEADING = re.compile(
    rf"^(?:an? |the )?(?:optional )?((?:{_POSITIVE}|{_NOT_NEGATIVE}) (?:python )?"
    r"(?:int|integer|float|number|scalar)\b.*)",
    re.IGNORECASE,
)
"""Matches texts such as `A positive integer …`."""
_OF_KIND = re.compile(
    r"^(?:an? |the )?(?:[\w-]+ |\(scalar\) ){0,3}?"
    r"(?:(?:int|integer|float|double|scalar|number|\(scalar\) tensor)s?|value),? "
    r"(?:values? |tensor )?(?:that is |which is |with values? )?"
    r"((?:[<>]|in\b|within\b|between\b|range\b).*)",
    re.IGNORECASE,
)
"""Matches texts such as `Float in [0, 1] …`."""
_OF_VALUES = re.compile(
    r"(?:\bwith values?|\b(?:of|quantile) values|^(?:valid )?range|\bvalues? (?:is|are)) "
    r"((?:in|between|within)\b.*)",
    re.IGNORECASE,
)
"""Matches texts such as `… with values between 0 and 1`."""


def sentences(text: str) -> list[str]:
    """Return the sentences of a description, without role markup and backquotes."""
    plain_text = _ROLE.sub("", text[:_MAX_DOC_LENGTH]).replace("`", "").replace("**", "")
    parts = (" ".join(part.split()) for part in _SENTENCE_END.split(plain_text))
    return [part.strip(" -.") for part in parts if part.strip(" -.")]


def requirements_in(sentence: str, parameter: str) -> list[Requirement]:
    """Return the requirements that a sentence states for the parameter."""
    statement = _NEUTRAL_PHRASE.sub("", sentence)
    return [requirement for read in _READERS for requirement in read(statement, parameter)]


def is_hedged(sentence: str) -> bool:
    """Return whether a sentence contains a condition or a hedge, so that it may not always hold."""
    return bool(_HEDGES.search(sentence))


# --- ranges --------------------------------------------------------------------------------------


def _intervals(sentence: str, parameter: str) -> Iterator[Requirement]:
    """Yield the range of numbers that a sentence states, if any."""
    if is_hedged(sentence):
        return
    limits = _stated_range(sentence, parameter)
    if limits is not None and limits != interval():
        yield limits


def _stated_range(sentence: str, parameter: str) -> Float | None:
    """Return the range of numbers that a sentence states for the parameter; None without one."""
    clause = _demand_on(parameter).search(sentence) if _DEMAND.search(sentence) else None
    if clause:
        return _leading_range(clause.group(1))
    for pattern in (_LEADING, _OF_KIND, _OF_VALUES):
        match = pattern.search(sentence)
        if match:
            return _leading_range(match.group(1))
    return None


_DEMAND = re.compile(_MUST, re.IGNORECASE)


@lru_cache(maxsize=256)
def _demand_on(parameter: str) -> re.Pattern[str]:
    """Return the pattern of a demand on a parameter; most sentences state none."""
    subject = _SUBJECT.replace("NAME", re.escape(parameter))
    return re.compile(rf"{subject}{_MUST} (.*)", re.IGNORECASE)


def _leading_range(clause: str) -> Float | None:
    """Return the range at the beginning of a clause; None if there is none."""
    if match := re.match(_NOT_NEGATIVE, clause, re.IGNORECASE):
        return _with_comparisons(interval(low=0.0), clause[match.end() :])
    if match := re.match(_POSITIVE, clause, re.IGNORECASE):
        # For real numbers, "positive" often includes 0.
        is_real = re.match(r" (?:python )?(?:float|number|scalar)\b", clause[match.end() :])
        return _with_comparisons(interval(low=0.0, excludes_low=not is_real), clause[match.end() :])
    within = re.match(
        r"(?:a (?:number|value|float|scalar) )?(?:with)?in (?:the )?(?:closed |open |half-open )?"
        r"(?:range|interval)?(?: of| in)? ?|range in ?|the (?:range|interval) ?",
        clause, re.IGNORECASE)  # fmt: skip
    if within and (match := _BRACKETS.match(clause, within.end())):
        opening, low, high, closing = match.groups()
        return interval(
            low=_parse_number(low),
            high=_parse_number(high),
            excludes_low=opening == "(",
            excludes_high=closing == ")",
        )
    if match := _BETWEEN.match(clause):
        return interval(low=_parse_number(match.group(1)), high=_parse_number(match.group(2)))
    return _with_comparisons(None, clause)


def _with_comparisons(limits: Float | None, clause: str) -> Float | None:
    """Return the range `limits`, narrowed by comparisons at the beginning of a clause.

    An example of comparisons is `>= 0 and <= 1`. Without `limits` and comparisons, return None.
    """
    rest = re.sub(r"^[ ,]*(?:and )?", "", clause)
    for pattern, end, is_open in _COMPARISONS:
        match = pattern.match(rest)
        if match:
            number, narrowed = _parse_number(match.group(1)), limits or interval()
            if end == "min":
                narrowed = replace(narrowed, min=number, exclude_min=is_open)
            else:
                narrowed = replace(narrowed, max=number, exclude_max=is_open)
            return _with_comparisons(narrowed, rest[match.end() :])
    return limits


def _parse_number(text: str) -> float:
    return _NUMBER_WORDS[text.lower()] if text.lower() in _NUMBER_WORDS else float(text)


# --- choices -------------------------------------------------------------------------------------

_QUOTED = r"['\"]([\w\-+ ]{1,40})['\"](?: \([^()]{0,40}\))?"
_CHOICE = re.compile(
    rf"(?:\bone of|\beither|\bfrom:|\bmust be|\bshould be|\bcan (?:only )?be(?: either| one of)?"
    rf"|^|: ?|\()(?:[: ({{\[]|the |strings? |values? |following |of ){{0,6}}{_QUOTED}"
    rf"(?:(?:,|,? or|,? and| ?\||/) ?{_QUOTED}){{1,30}}"
)
_HEDGED_CHOICE = re.compile(
    r"\b(?:e\.g|i\.e|such as|for example|examples?|for instance|like|if|when|unless|character)\b"
    r"|^for\b",
    re.IGNORECASE,
)


def _choices(sentence: str, parameter: str) -> Iterator[Requirement]:
    """Yield the set of strings that a sentence allows, if any."""
    del parameter
    match = _CHOICE.search(sentence)
    if match and not _HEDGED_CHOICE.search(sentence[: match.end()]):
        yield choice(dict.fromkeys(re.findall(r"['\"]([\w\-+ ]{1,40})['\"]", match.group())))


# --- ranks ---------------------------------------------------------------------------------------

_ONE_RANK = r"(\d)-?[dD](?:imensional)?\b"
_ADJECTIVES = (
    r"(?:input |float(?:32|64)? |int(?:32|64)? |integer |bool(?:ean)? |string |numeric |dense "
    r"|non-empty |real |complex |floating point ){0,3}"
)
_RANKED = re.compile(
    rf"(?:^(?:an? |the |optional ){{0,2}}|\b(?:must|should) be(?: an?)? (?P<least>at least )?)"
    rf"{_ONE_RANK}(?:(?:,|,? or|,? and|/) ?{_ONE_RANK})*(?:,? or {_ONE_RANK})?"
    rf"(?P<more>[ ,]*(?:or|and) (?:higher|more|greater|above)| or larger)?"
    rf" ?{_ADJECTIVES}(?P<thing>tensors?\b|array\b|$|[.,]|with shape|of shape|of size|of length)",
    re.IGNORECASE,
)
_OR_RANK = re.compile(rf"\bor {_ONE_RANK}")
"""Matches the second rank of a text such as `4D tensor of shape (…) or 3D tensor of shape (…)`."""
_SCALAR_TENSOR = re.compile(
    rf"(?:^(?:an? |the |optional ){{0,2}}(?:0-?D )?{_ADJECTIVES}scalar {_ADJECTIVES}tensor\b"
    rf"|^must be a scalar(?: tensor)?$)(?! or| of shape)",
    re.IGNORECASE,
)
_LISTS = re.compile(
    r"\b(?:list|sequence|tuple|every)s?\b|tensors\b|, or a\b|\bor an? \b", re.IGNORECASE
)


def _ranks(sentence: str, parameter: str) -> Iterator[Requirement]:
    """Yield the range of ranks that a sentence states, if any."""
    del parameter
    if is_hedged(sentence) or _LISTS.search(sentence):
        return
    if _SCALAR_TENSOR.search(sentence):
        yield ranks(0, 0)
    elif match := _RANKED.search(sentence):
        digits = re.findall(r"(\d)-?[dD]", match.group())
        mentioned = [int(digit) for digit in (*digits, *_OR_RANK.findall(sentence, match.end()))]
        is_open = bool(match["least"] or match["more"])
        yield ranks(min(mentioned)) if is_open else ranks(min(mentioned), max(mentioned))


# --- element types -------------------------------------------------------------------------------

_TYPED = re.compile(
    r"(?:must (?:be|have)(?: one of)?(?: the)?(?: following)?(?: d?types?)?"
    r"|(?:should|must) have dtype(?: either)?):? "
    r"((?:torch\.|tf\.)?\w+(?:(?:, or |, | or )(?:torch\.|tf\.)?\w+){0,30})$",
    re.IGNORECASE,
)
_DTYPE_NAMES = {
    "half": "float16",
    "float": "float32",
    "double": "float64",
    "int": "int32",
    "long": "int64",
} | {
    name: name
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64",
        "float16", "bfloat16", "float32", "float64", "complex64", "complex128", "string",
        "qint8", "quint8", "qint16", "quint16", "qint32", "float8_e4m3fn", "float8_e5m2",
        "int4", "uint4", "resource", "variant",
    )
}  # fmt: skip


def _element_types(sentence: str, parameter: str) -> Iterator[Requirement]:
    """Yield the set of element types that a sentence allows, if any."""
    del parameter
    match = _TYPED.search(sentence)
    if match is None or is_hedged(sentence):
        return
    words = re.split(r", or |, | or ", match.group(1).replace("torch.", "").replace("tf.", ""))
    names = [_DTYPE_NAMES.get(word.strip()) for word in words if word.strip()]
    if names and None not in names:
        yield Dtype(tuple(dict.fromkeys(name for name in names if name)))


_READERS: tuple[_Reader, ...] = (_intervals, _choices, _ranks, _element_types)
