"""A service's own answers, asked once and kept in a file, so that later runs need no service.

One JSON object in each line, in the order of asking; the last one of a question counts:

    {"schema": 1, "provider": "acme", "operation": "label_detection", "content": "9f86…",
     "engine": "the service", "simulated": false, "answer": {…}}
    {"schema": 1, …, "error": {"code": "INVALID_ARGUMENT", "message": "Bad image data."}}

Of what was asked about, only the digest is kept; an answer may repeat parts of a text, though.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from ciguard.errors import ConfigurationError
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.registered import PROVIDERS

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.values import Json

SCHEMA = 1
_MAX_BYTES = 256 * 2**20
_MAX_MESSAGE_LENGTH = 500
_DIGEST = re.compile(r"[0-9a-f]{64}")
_CODE = re.compile(rf"{'|'.join(Code)}|[A-Z][a-z]\w{{,98}}|\d{{3}}")
"""Of gRPC; a provider's own, `ThrottlingException`, or one of HTTP."""
_ADDRESS = r"[\w.+-]+@[\w-]+\.[\w.]+"
Key: TypeAlias = tuple[str, str, str]
"""Provider, operation, digest of the content."""


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """What came of one question."""

    key: Key
    engine: str
    is_simulated: bool
    outcome: Json | ServiceError
    """An answer, or the service's error."""

    def line(self) -> bytes:
        """Return it as a line of a file.

        Raises:
            ValueError: if its answer is more than JSON can say.
        """
        return json.dumps(self._json(), separators=(",", ":"), allow_nan=False).encode() + b"\n"

    def _json(self) -> Json:
        provider, operation, digest = self.key
        record = {
            "schema": SCHEMA,
            "provider": provider,
            "operation": operation,
            "content": digest,
            "engine": self.engine,
            "simulated": self.is_simulated,
        }
        if isinstance(self.outcome, ServiceError):
            message = _secret().sub("***", self.outcome.message)[:_MAX_MESSAGE_LENGTH]
            code = self.outcome.code if _CODE.fullmatch(self.outcome.code) else Code.UNKNOWN
            return {**record, "error": {"code": str(code), "message": message}}
        return {**record, "answer": self.outcome}


@cache
def _secret() -> re.Pattern[str]:
    """Return what finds accounts and keys, as error messages of services repeat them."""
    own = (provider.secrets for provider in PROVIDERS.items().values())
    return re.compile("|".join(filter(None, (_ADDRESS, *own))), re.IGNORECASE)


def _record(encoded: Json) -> AnswerRecord:
    """Rebuild a record that anybody may have written.

    Raises:
        ValueError: if it is none.
    """
    match encoded:
        case {
            "schema": 1,
            "provider": str(provider),
            "operation": str(operation),
            "content": str(digest),
            "engine": str(engine),
            "simulated": bool(is_simulated),
            **rest,
        } if _DIGEST.fullmatch(digest):
            key = (provider, operation, digest)
            return AnswerRecord(key, engine, is_simulated, _outcome(rest))
        case {"schema": int(schema)} if schema > SCHEMA:
            msg = f"schema {schema} is of a newer ciguard"
        case _:
            msg = "it is no record of a question"
    raise ValueError(msg)


def _outcome(rest: Json) -> Json | ServiceError:
    match rest:
        case {"answer": dict(answer), **others} if not others:
            return answer
        case {"answer": [*results], **others} if not others and _are_objects(results):
            return results
        case {"error": {"code": str(code), "message": str(message)}, **others} if not others:
            if _CODE.fullmatch(code):
                return ServiceError(code, message)
            msg = f"{code!r} is no code of an error"
            raise ValueError(msg)
    msg = "it has neither an answer nor an error"
    raise ValueError(msg)


def _are_objects(results: list[Json]) -> bool:
    """Return whether an answer that is a list itself may be one of results."""
    return all(isinstance(one, dict) for one in results)


def read_records(file: Path) -> dict[Key, AnswerRecord]:
    """Return the records of a file; a last line that was not written to its end is none.

    Raises:
        ConfigurationError: if the file cannot be read, or a line is damaged.
    """
    try:
        if file.stat().st_size > _MAX_BYTES:
            msg = f"{file}: larger than {_MAX_BYTES} bytes. Record fewer inputs in a file."
            raise ConfigurationError(msg)
        *lines, last = file.read_bytes().split(b"\n")
    except OSError as error:
        msg = f"{file}: cannot be read as a recording: {error.strerror}. Record one first."
        raise ConfigurationError(msg) from error
    found: dict[Key, AnswerRecord] = {}
    for number, line in enumerate([*lines, last] if _is_whole(last) else lines, 1):
        try:
            record = _record(_parsed(line))
        except ValueError as error:
            msg = f"{file}: line {number}: damaged: {error}. Delete the line, or record it again."
            raise ConfigurationError(msg) from error
        found[record.key] = record
    return found


def _parsed(line: bytes) -> Json:
    """Return what a line says.

    Raises:
        ValueError: if that is no JSON of numbers and texts that a message can hold.
    """
    try:
        encoded = json.loads(line, parse_constant=_refuse_constant)
        json.dumps(encoded, ensure_ascii=False).encode("utf-8")  # no halves of letters
    except (ValueError, RecursionError) as error:
        msg = "it is no JSON"
        raise ValueError(msg) from error
    return encoded


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _is_whole(line: bytes) -> bool:
    """Return whether a line without an end says all that it should."""
    try:
        _parsed(line)
    except ValueError:
        return False
    return True


def append_line(file: Path, line: bytes) -> None:
    """Add a line to a file that others may add to as well, and mend what a killed one left.

    Raises:
        OSError: if it cannot be written.
    """
    with file.open("a+b", buffering=0) as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        torn = _last_line(file)
        if torn and _is_whole(torn):
            line = b"\n" + line
        elif torn:
            stream.truncate(file.stat().st_size - len(torn))
        unwritten = memoryview(line)
        while unwritten:
            unwritten = unwritten[stream.write(unwritten) :]
        os.fsync(stream.fileno())


def _last_line(file: Path) -> bytes:
    """Return what a file has after the end of its last whole line."""
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        found, step = b"", 4096
        while b"\n" not in found and len(found) < size:
            begin = max(0, size - len(found) - step)
            stream.seek(begin)
            found = stream.read(size - len(found) - begin) + found
        return found.rpartition(b"\n")[2]
