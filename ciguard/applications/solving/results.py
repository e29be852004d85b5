"""What one result of an answer is made of, as each provider's services say it."""

from __future__ import annotations

from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING, Any

import z3

from ciguard.applications.providers.aws import messages as aws_messages
from ciguard.applications.providers.description import Field, Task
from ciguard.applications.providers.google import messages as google_messages
from ciguard.applications.providers.recognised import ENDS, displayed
from ciguard.applications.providers.registered import messages_of
from ciguard.applications.solving import azure_faces
from ciguard.applications.solving.patterns import ANYTHING, pattern_of, without
from ciguard.applications.solving.symbols import KINDS, LIKELIHOODS, name_of
from ciguard.applications.solving.terms import Record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from ciguard.applications.providers.description import Operation
    from ciguard.applications.solving.symbols import Symbols
    from ciguard.applications.solving.terms import Sym
    from ciguard.domain import Json

_USUAL_SCORE = 0.9
_MAX_FELT = 10.0
_KEYS = {
    Task.CATEGORIES: "/News", Task.TEXT: "Hello", Task.SPEECH: "hello", Task.LANGUAGE: "en",
    Task.PHRASES: "the weather",
}  # fmt: skip
_TOLD_BY_AWS = ("Smile", "EyesOpen", *aws_messages.ATTRIBUTES)
_UNLIKELY = frozenset({"", "UNKNOWN", "VERY_UNLIKELY"})
_OLDEST = 100
_ALL = 100.0
"""Percent."""
_ORDERED = frozenset({
    Task.LABELS, Task.OBJECTS, Task.CATEGORIES, Task.PHRASES, Task.LANGUAGE, Task.OTHER,
})  # fmt: skip
"""Tasks whose results come with the likeliest first."""


def filled(result: Record, operation: Operation, name: str, symbols: Symbols) -> Any:
    """Return a result of which all that is known is a symbol.

    Args:
        result: that is filled.
        operation: whose it is.
        name: that symbols begin with.
        symbols: makes them.
    """
    if operation.task is Task.PHRASES and not operation.fields:
        return _text(operation, f"{name}.key", symbols)
    fill = _FILLED.get((operation.provider, operation.task), _describe)
    fill(result, operation, name, symbols)
    return result


def order_of(operation: Operation, results: Sequence[Record]) -> list[Any]:
    """Return what results are ordered by, the likeliest or largest first; nothing if they are not.

    Args:
        operation: whose they are.
        results: of one answer.
    """
    if (operation.provider, operation.task) == ("azure", Task.FACES):
        return [azure_faces.size_of(one) for one in results]
    is_entities = operation.provider == "google" and operation.task is Task.ENTITIES
    has_scores = Field.SCORE in (operation.fields or {})
    is_ordered = has_scores and (is_entities or operation.task in _ORDERED)
    return [value_of(Field.SCORE, one, operation) for one in results] if is_ordered else []


def value_of(field: Field, result: Record, operation: Operation) -> Any:
    """Return a field of a result, where the description of its operation says that it is."""
    return result.at((operation.fields or {})[field].split("."))


def title_of(operation: Operation, result: Record, values: Mapping[Field, Any]) -> str:
    """Return a result in words.

    Args:
        operation: whose it is.
        result: all of it.
        values: its fields as they are now.
    """
    words = [repr(values[Field.KEY])] if values.get(Field.KEY) else []
    for field in (Field.SCORE, Field.MAGNITUDE):
        words += [f"{field} {values[field]:.6g}"] if field in values else []
    words += [f"type {values[Field.KIND]}"] if values.get(Field.KIND) else []
    if operation.task is Task.FACES:
        words += _shown(result.to_json())
    return ", ".join(words)


def _shown(face: Json) -> list[str]:
    """Return what a face shows, in words."""
    likely = [
        f"{one} {how}"
        for one in google_messages.SHOWN_BY_FACES
        if (how := face.get(f"{one}_likelihood", "")) not in _UNLIKELY
    ]
    told = [name for name in _TOLD_BY_AWS if face.get(name, {}).get("Value") is True]
    ages = [f"{face['AgeRange']['Low']} years old"] if "AgeRange" in face else []
    felt = [f"{one['Type']} {one['Confidence']:.6g}" for one in face.get("Emotions", [])[:1]]
    return [*likely, *told, *ages, *felt, *azure_faces.shown_by(face)]


# --- as descriptions say --------------------------------------------------------------------------


def _describe(result: Record, operation: Operation, name: str, symbols: Symbols) -> None:
    fields = operation.fields or {}
    made: dict[Field, Callable[[], Sym]] = {
        Field.KEY: lambda: _text(operation, f"{name}.key", symbols),
        Field.SCORE: lambda: _score(operation, f"{name}.score", symbols),
        Field.MAGNITUDE: lambda: symbols.number(f"{name}.magnitude", 1.0, (0.0, _MAX_FELT)),
        Field.KIND: lambda: _kind(operation, f"{name}.kind", symbols),
    }
    for field, path in fields.items():
        result.put(path.split("."), made[field]())


def _score(operation: Operation, name: str, symbols: Symbols) -> Sym:
    least, most = operation.between or (0.0, 1.0)
    usual = 0.0 if operation.task is Task.SENTIMENT else _USUAL_SCORE * most
    return symbols.number(name, usual, (least, most))


def _kind(operation: Operation, name: str, symbols: Symbols) -> Sym:
    if operation.provider == "google":
        return symbols.member(name, KINDS, "LOCATION")
    kinds = list(messages_of(operation).KINDS)
    return symbols.one_of(name, kinds, kinds[1])


def _text(operation: Operation, name: str, symbols: Symbols) -> Sym:
    usual = _KEYS.get(operation.task, "Sky")
    is_azure = operation.provider == "azure"
    match operation.task:
        case Task.TEXT if operation.provider == "google" and name.endswith(".0.key"):
            return symbols.text(name, usual, _LINES)
        case Task.CATEGORIES if operation.provider == "google":
            return symbols.text(name, usual, _TOPIC)
        case Task.LANGUAGE:
            return symbols.text(name, usual, _CODE)
        case Task.LABELS | Task.OBJECTS | Task.OTHER | Task.SPEECH if is_azure:
            is_said = operation.task is Task.SPEECH
            usual = displayed(usual) if is_said else usual.lower()
            return symbols.text(name, usual, _SENTENCE if is_said else _SMALL)
        case Task.PHRASES if operation.name == "detect_pii_entities":
            return symbols.text(name, "NAME", _CAPITALS)
        case _:
            return symbols.text(name, usual, _LINE)


_LINE = z3.Concat(without(" \n\t"), z3.Star(without("\n\t")))
_LINES = z3.Concat(without(" \n\t"), ANYTHING)
_TOPIC = z3.Concat(z3.Re("/"), z3.Star(without("\n\t")))
_SMALL = z3.Concat(
    without(" \n\t" + ascii_uppercase), z3.Star(without("\n\t" + ascii_uppercase))
)  # fmt: skip
_SENTENCE = z3.Concat(
    without(" \n\t" + ascii_lowercase), z3.Star(without("\n\t")),
    z3.Union(*map(z3.Re, ENDS)),
)  # fmt: skip
_CODE = pattern_of("[a-z]{2,3}(-[A-Z]{2})?").form
_CAPITALS = pattern_of("[A-Z]+(_[A-Z]+){0,4}").form


# --- feelings -------------------------------------------------------------------------------------


def _feel_by_aws(result: Record, _: Operation, name: str, symbols: Symbols) -> None:
    spelled = ("POSITIVE", "NEGATIVE", "NEUTRAL", "MIXED")
    felt = symbols.one_of(f"{name}.key", spelled, _NEUTRAL)
    shares = _shares(spelled, felt, name, symbols)
    result.put(["Sentiment"], felt)
    result.put(["SentimentScore"], {one.capitalize(): share for one, share in shares.items()})


def _feel_by_azure(result: Record, _: Operation, name: str, symbols: Symbols) -> None:
    spelled = ("positive", "negative", "neutral")
    felt = symbols.one_of(f"{name}.key", (*spelled, "mixed"), _NEUTRAL.lower())
    result.put(["sentiment"], felt)
    result.put(["confidence_scores"], Record(_shares(spelled, felt, name, symbols)))


def _shares(feelings: Sequence[str], felt: Sym, name: str, symbols: Symbols) -> dict[str, Any]:
    """Return the share of each feeling: all are one, and what is felt has the most."""
    rest = (1 - _USUAL_SCORE) / (len(feelings) - 1)
    usual = {one: _USUAL_SCORE if one.upper() == _NEUTRAL else rest for one in feelings}
    shares = {one: symbols.number(f"{name}.{one}", usual[one], (0.0, 1.0)) for one in feelings}
    terms = [share.term for share in shares.values()]
    symbols.held.append(z3.Sum(terms) == 1)
    for one, share in shares.items():
        has_most = z3.And(*[share.term >= term for term in terms])
        symbols.held.append(z3.Implies(felt.term == z3.StringVal(one), has_most))
    return dict(shares)


_NEUTRAL = "NEUTRAL"

# --- faces ----------------------------------------------------------------------------------------


def _face_by_google(result: Record, operation: Operation, name: str, symbols: Symbols) -> None:
    _describe(result, operation, name, symbols)
    for shown in google_messages.SHOWN_BY_FACES:
        seen = symbols.member(f"{name}.{shown}", LIKELIHOODS, "VERY_UNLIKELY")
        result.put([f"{shown}_likelihood"], seen)


def _face_by_aws(result: Record, operation: Operation, name: str, symbols: Symbols) -> None:
    _describe(result, operation, name, symbols)
    ages = [symbols.whole(f"{name}.{at}", 30, (0, _OLDEST)) for at in ("older", "age")]
    symbols.descend(ages)
    result.put(["AgeRange"], {"Low": ages[1], "High": ages[0]})

    def told(what: str, value: Sym) -> None:
        sure = symbols.number(f"{name}.{what}.sure", 95.0, (_ALL / 2, _ALL))
        result.put([what], {"Value": value, "Confidence": sure})

    for what in _TOLD_BY_AWS:
        told(what, symbols.flag(f"{name}.{what}", usual=what == "EyesOpen"))
    told("Gender", symbols.one_of(f"{name}.gender", ("Male", "Female"), "Male"))
    result.put(["Emotions"], _emotions(name, symbols))


def _emotions(name: str, symbols: Symbols) -> list[Any]:
    """Return each emotion with its share of the percent that there are, the surest first."""
    kinds = aws_messages.EMOTION_KINDS
    first = kinds.index("CALM")
    places = [
        symbols.member(f"{name}.felt{at}", kinds, one)
        for at, one in enumerate((*kinds[first:], *kinds[:first]))
    ]
    sure = [
        symbols.number(f"{name}.felt{at}.sure", 95.0 if at == 0 else 0.5, (0.0, _ALL))
        for at in range(len(kinds))
    ]
    symbols.held.append(z3.Distinct(*[one.term for one in places]))
    symbols.held.append(z3.Sum([one.term for one in sure]) <= _ALL)
    symbols.descend(sure)
    return [
        {"Type": name_of(one), "Confidence": share} for one, share in zip(places, sure, strict=True)
    ]


_FILLED: dict[tuple[str, Task], Callable[[Record, Operation, str, Symbols], None]] = {
    ("google", Task.FACES): _face_by_google,
    ("aws", Task.FACES): _face_by_aws,
    ("azure", Task.FACES): azure_faces.describe,
    ("aws", Task.SENTIMENT): _feel_by_aws,
    ("azure", Task.SENTIMENT): _feel_by_azure,
}
