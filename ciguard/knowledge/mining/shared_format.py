"""The format of labelled sentences and of documentation given as data: JSON Lines, read strictly.

It is the one of DocTer's annotations as prepared for scoring: one object per labelled sentence, or
per parameter. Pure: lines in, records out.
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
    """A line of a JSON Lines file that the user gave cannot be used."""

    def __init__(self, where: str, problem: str, remedy: str) -> None:
        super().__init__(f"{where}: {problem}. {remedy}")


_MAX_SHOWN = 60
_LINE_REMEDY = "Every line is one JSON object; docs/knowledge.md has an example"


def parameter_texts(lines: Iterable[str], *, name: str) -> Iterator[ParameterText]:
    """Yield the parameters of a documentation file.

    Args:
        lines: of the file, one object per parameter: library, api, parameter, description,
            doc_dtype, default, api_parameters.
        name: what error messages call the file.

    Raises:
        MalformedLineError: naming file, line, key and value.
    """
    for line in _lines(lines, name):
        yield ParameterText(
            library=line.text("library"),
            api=line.text("api"),
            parameter=line.text("parameter"),
            description=line.perhaps_text("description") or "",
            doc_type=line.perhaps_text("doc_dtype") or "",
            default=line.perhaps_text("default"),
            parameters=line.texts("api_parameters"),
        )


def annotated_spans(lines: Iterable[str], *, name: str) -> Iterator[Annotation]:
    """Yield the labelled sentences of a file.

    Args:
        lines: of the file, one object per sentence: library, api, parameter, source, sentence,
            normalised, abstract, concrete.
        name: what error messages call the file.

    Raises:
        MalformedLineError: naming file, line, key and value.
    """
    for line in _lines(lines, name):
        yield Annotation(
            library=line.text("library"),
            api=line.text("api"),
            parameter=line.text("parameter"),
            source=line.source(),
            span=line.perhaps_text("sentence") or "",
            normalised=line.perhaps_text("normalised") or "",
            abstract=line.labels("abstract"),
            concrete=line.labels("concrete"),
        )


class _Line:
    """One object, and where it stands."""

    def __init__(self, record: dict[str, Any], where: str) -> None:
        self._record = record
        self._where = where

    def text(self, key: str) -> str:
        """Return a text that must be there."""
        if self._record.get(key) is None:
            raise MalformedLineError(self._where, f"{key!r} is missing", f"Give {key!r} a text")
        return self.perhaps_text(key) or ""

    def perhaps_text(self, key: str) -> str | None:
        """Return a text; None where the key is absent or null."""
        value = self._record.get(key)
        if value is None or isinstance(value, str):
            return value
        raise self._wrong(value, "A text is expected, or null", key)

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; none where the key is absent or null."""
        return self._checked_texts(self._record.get(key) or [], key)

    def source(self) -> TextSource:
        """Return which of the parameter's texts the sentence is from."""
        value = self._record.get("source", TextSource.DESCRIPTION)
        if value not in list(TextSource):
            raise self._wrong(value, f"Known: {', '.join(TextSource)}", "source")
        return TextSource(value)

    def labels(self, key: str) -> dict[str, tuple[str, ...]]:
        """Return values by field."""
        value = self._record.get(key) or {}
        if not isinstance(value, dict):
            raise self._wrong(value, "An object is expected: field to list of values", key)
        for name, values in value.items():
            if name not in FIELDS:
                raise self._wrong(values, f"Known fields: {', '.join(FIELDS)}", key, name)
        return {name: self._checked_texts(some, key, name) for name, some in value.items()}

    def _checked_texts(self, value: object, *keys: str) -> tuple[str, ...]:
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise self._wrong(value, "A list of texts is expected", *keys)

    def _wrong(self, value: object, remedy: str, *keys: str) -> MalformedLineError:
        shown = repr(value)
        shown = shown if len(shown) <= _MAX_SHOWN else shown[: _MAX_SHOWN - 1] + "…"
        return MalformedLineError(self._where, f"{'.'.join(keys)} = {shown}", remedy)


def _lines(lines: Iterable[str], name: str) -> Iterator[_Line]:
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        where = f"{name}:{number}"
        try:
            record = json.loads(line)
        except ValueError as error:
            raise MalformedLineError(where, f"not JSON ({error})", _LINE_REMEDY) from error
        except RecursionError:
            raise MalformedLineError(where, "nested too deeply", _LINE_REMEDY) from None
        if not isinstance(record, dict):
            raise MalformedLineError(where, "not a JSON object", _LINE_REMEDY)
        yield _Line(record, where)
