"""Texts of the documentation about one parameter, and their sentences in normal form."""

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
    """Kind of text about a parameter, from which a sentence is taken."""

    DESCRIPTION = "description"
    """The description in the docstring."""
    DOC_TYPE = "doc_dtype"
    """The type after the name: `int or tuple, optional`."""
    DEFAULT = "default"
    """The default value."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterText:
    """Texts of one parameter."""

    library: str
    """Name of the library."""
    api: str
    """Qualified name of the API."""
    parameter: str
    """Name of the parameter."""
    description: str = ""
    """Description of the parameter in the docstring."""
    doc_type: str = ""
    """Type of the parameter in the docstring."""
    default: str | None = None
    """Text of the default value; None if there is none."""
    parameters: tuple[str, ...] = ()
    """Names of all parameters of the API, which sentences may refer to."""


@dataclass(frozen=True, slots=True)
class SentenceForm:
    """One sentence of a parameter's texts, with its normal form."""

    source: TextSource
    """Kind of text that contains the sentence."""
    text: str
    """Sentence as written."""
    start: int
    """Offset of the sentence in its text, in characters."""
    tokens: tuple[Token, ...]
    """Normal form of the sentence."""

    @property
    def words(self) -> tuple[str, ...]:
        """Words and placeholders of the normal form, which patterns match."""
        return tuple(token.text for token in self.tokens)

    @property
    def end(self) -> int:
        """Offset after the last character."""
        return self.start + len(self.text)


def sentence_forms(text: ParameterText) -> list[SentenceForm]:
    """Return the sentences of all texts about a parameter, each with its normal form."""
    names = frozenset(text.parameters)
    forms = [
        SentenceForm(TextSource.DESCRIPTION, s.text, s.start, normalise(s.text, names))
        for s in sentences(text.description)
    ]
    doc_type = text.doc_type[:MAX_TEXT_LENGTH]
    if doc_type.strip():
        forms.append(
            SentenceForm(TextSource.DOC_TYPE, doc_type, 0, normalise_type(doc_type, names))
        )
    if text.default is not None:
        default = text.default[:MAX_TEXT_LENGTH]
        forms.append(SentenceForm(TextSource.DEFAULT, default, 0, normalise_default(default)))
    return forms
