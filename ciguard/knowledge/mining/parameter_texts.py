"""What the documentation says of one parameter, and its sentences in normal form."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from ciguard.knowledge.mining.normalise import normalise
from ciguard.knowledge.mining.normalise_types import normalise_default, normalise_type
from ciguard.knowledge.mining.sentences import MAX_TEXT_LENGTH, sentences

if TYPE_CHECKING:
    from ciguard.knowledge.mining.normalise import Token


class TextSource(StrEnum):
    """Which of a parameter's three texts a sentence is from."""

    DESCRIPTION = "description"
    DOC_TYPE = "doc_dtype"
    """The type beside the name: `int or tuple, optional`."""
    DEFAULT = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterText:
    """The texts of one parameter."""

    library: str
    api: str
    parameter: str
    description: str = ""
    doc_type: str = ""
    default: str | None = None
    """Text of the default value; None when there is none."""
    parameters: tuple[str, ...] = ()
    """Names of all parameters of the API: what a sentence may refer to."""


@dataclass(frozen=True, slots=True)
class SentenceForm:
    """One sentence of a parameter's texts."""

    source: TextSource
    text: str
    start: int
    """Offset in the text it is from."""
    tokens: tuple[Token, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The normal form alone: what patterns match."""
        return tuple(token.text for token in self.tokens)

    @property
    def end(self) -> int:
        """Offset after its last character."""
        return self.start + len(self.text)


def forms_of(text: ParameterText) -> list[SentenceForm]:
    """Return the sentences of all texts of a parameter, each in normal form."""
    names = frozenset(text.parameters)
    forms = [
        SentenceForm(TextSource.DESCRIPTION, one.text, one.start, normalise(one.text, names))
        for one in sentences(text.description)
    ]
    declared = text.doc_type[:MAX_TEXT_LENGTH]
    if declared.strip():
        forms.append(
            SentenceForm(TextSource.DOC_TYPE, declared, 0, normalise_type(declared, names))
        )
    if text.default is not None:
        default = text.default[:MAX_TEXT_LENGTH]
        forms.append(SentenceForm(TextSource.DEFAULT, default, 0, normalise_default(default)))
    return forms
