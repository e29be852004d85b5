"""Parses files of labelled sentences and of documentation: JSON Lines, checked strictly.

The format is that of DocTer's annotations as prepared for scoring: one object per labelled
sentence, or one per parameter. The functions are pure: they parse lines and do no I/O.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ciguard.errors import CiguardError
from ciguard.knowledge.mining.annotations import Annotation
from ciguard.knowledge.mining.concrete import FIELDS
from ciguard.knowledge.mining.parameter_texts import ParameterText, TextSource

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


class MalformedLineError(CiguardError):
    """A line of a JSON Lines file has an invalid value."""

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        super().__init__(f"{where}: {problem}. {remedy}")


_MAX_SHOWN_LENGTH = 60
_LINE_REMEDY = "Write one JSON object per line, as in the example in docs/knowledge.md"


def parameter_texts(lines: Iterable[str], *, name: str) -> Iterator[ParameterText]:
    """Yield the parameters of a documentation file.

    Args:
        lines: the lines of the file, one object per parameter with the keys library, api,
            parameter, description, doc_dtype, default, api_parameters.
        name: the name of the file for error messages.

    Raises:
        MalformedLineError: if a line is invalid. The message names file, line, key and value.
    """
    for line in _lines(lines, name):
        yield ParameterText(
            library=line.text("library"),
            api=line.text("api"),
            parameter=line.text("parameter"),
            description=line.optional_text("description") or "",
            doc_type=line.optional_text("doc_dtype") or "",
            default=line.optional_text("default"),
            parameters=line.texts("api_parameters"),
        )


def labelled_sentences(lines: Iterable[str], *, name: str) -> Iterator[Annotation]:
    """Yield the labelled sentences of a file.

    Args:
        lines: the lines of the file, one object per sentence with the keys library, api,
            parameter, source, sentence, normalised, abstract (labels with placeholders) and
            concrete (the labels with the placeholders' values).
        name: the name of the file for error messages.

    Raises:
        MalformedLineError: if a line is invalid. The message names file, line, key and value.
    """
    for line in _lines(lines, name):
        yield Annotation(
            library=line.text("library"),
            api=line.text("api"),
            parameter=line.text("parameter"),
            source=line.source(),
            span=line.optional_text("sentence") or "",
            normalised=line.optional_text("normalised") or "",
            abstract=line.labels("abstract"),
            concrete=line.labels("concrete"),
        )


class _Line:
    """One JSON object with its location, for checked access to its keys."""

    def __init__(self, record: dict[str, Any], where: str) -> None:
        self._record = record
        self._where = where

    def text(self, key: str) -> str:
        """Return a required string."""
        if self._record.get(key) is None:
            raise MalformedLineError(self._where, f"{key!r} is missing", f"Set {key!r} to a string")
        return self.optional_text(key) or ""

    def optional_text(self, key: str) -> str | None:
        """Return an optional string; None if the key is absent or null."""
        value = self._record.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self._invalid_value_error(value, "Use a string or null", key)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return an optional list of strings; empty if the key is absent or null."""
        return self._checked_texts(self._record.get(key) or [], key)

    def source(self) -> TextSource:
        """Return the kind of text that contains the sentence."""
        value = self._record.get("source", TextSource.DESCRIPTION)
        if value not in list(TextSource):
            raise self._invalid_value_error(value, f"Use one of {', '.join(TextSource)}", "source")
        return TextSource(value)

    def labels(self, key: str) -> dict[str, tuple[str, ...]]:
        """Return the labels of a sentence: values by field."""
        value = self._record.get(key) or {}
        if not isinstance(value, dict):
            raise self._invalid_value_error(
                value, "Use an object that maps each field to a list of values", key
            )
        for name, values in value.items():
            if name not in FIELDS:
                raise self._invalid_value_error(
                    values, f"Use only the fields {', '.join(FIELDS)}", key, name
                )
        return {name: self._checked_texts(values, key, name) for name, values in value.items()}

    def _checked_texts(self, value: object, *keys: str) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(item, str) for item in value):
            return tuple(value)
        raise self._invalid_value_error(value, "Use a list of strings", *keys)

    def _invalid_value_error(self, value: object, remedy: str, *keys: str) -> MalformedLineError:
        value_text = repr(value)
        value_text = (
            value_text
            if len(value_text) <= _MAX_SHOWN_LENGTH
            else value_text[: _MAX_SHOWN_LENGTH - 1] + "…"
        )
        return MalformedLineError(self._where, f"{'.'.join(keys)} = {value_text}", remedy)


def _lines(lines: Iterable[str], name: str) -> Iterator[_Line]:
    """Yield the JSON object of each line that is not blank."""
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise MalformedLineError(
                where, f"the line is not JSON ({error})", _LINE_REMEDY
            ) from error
        except RecursionError:
            raise MalformedLineError(where, "the line is nested too deeply", _LINE_REMEDY) from None
        if not isinstance(record, dict):
            raise MalformedLineError(where, "the line is not a JSON object", _LINE_REMEDY)
        yield _Line(record, where)
