"""File format of recorded answers, so that later runs need no service.

One JSON object per line, in the order of the requests; the last one for a request counts:

    {"schema": 1, "provider": "acme", "operation": "label_detection", "content": "9f86…",
     "engine": "the service", "simulated": false, "answer": {…}}
    {"schema": 1, …, "error": {"code": "INVALID_ARGUMENT", "message": "Bad image data."}}

Of a content, only the digest is stored; but an answer may repeat parts of a text.
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
"""Codes of gRPC, a provider's own such as `ThrottlingException`, or statuses of HTTP."""
_ADDRESS = r"[\w.+-]+@[\w-]+\.[\w.]+"
Key: TypeAlias = tuple[str, str, str]
"""Name of the provider, name of the operation, and SHA-256 digest of the content."""


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """One request with its answer or error."""

    key: Key
    engine: str
    is_simulated: bool
    outcome: Json | ServiceError
    """The answer, or the service's error."""

    def line(self) -> bytes:
        """Return the record as a line of a file, with a newline.

        Raises:
            ValueError: if JSON cannot represent the answer.
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
            message = _secrets().sub("***", self.outcome.message)[:_MAX_MESSAGE_LENGTH]
            code = self.outcome.code if _CODE.fullmatch(self.outcome.code) else Code.UNKNOWN
            return {**record, "error": {"code": str(code), "message": message}}
        return {**record, "answer": self.outcome}


@cache
def _secrets() -> re.Pattern[str]:
    """Return a regular expression for accounts and keys, which services repeat in messages."""
    own = (provider.secrets for provider in PROVIDERS.items().values())
    return re.compile("|".join(filter(None, (_ADDRESS, *own))), re.IGNORECASE)


def _record(encoded: Json) -> AnswerRecord:
    """Return the record of a JSON object that is not trusted.

    Raises:
        ValueError: if it is invalid.
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
            msg = f"a newer ciguard wrote this line (schema {schema})"
        case _:
            msg = "this line does not record an answer"
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
            msg = f"{code!r} is not an error code"
            raise ValueError(msg)
    msg = "this line has neither a valid `answer` nor a valid `error`"
    raise ValueError(msg)


def _are_objects(results: list[Json]) -> bool:
    """Return whether all items are objects, as in an answer that is a list of results."""
    return all(isinstance(result, dict) for result in results)


def read_records(file: Path) -> dict[Key, AnswerRecord]:
    """Return the records of a file; an incomplete last line is ignored.

    Raises:
        ConfigurationError: if the file cannot be read, or a line is invalid.
    """
    try:
        if file.stat().st_size > _MAX_BYTES:
            msg = f"{file} is larger than {_MAX_BYTES} bytes. Record fewer inputs in one file."
            raise ConfigurationError(msg)
        *lines, last = file.read_bytes().split(b"\n")
    except OSError as error:
        msg = f"{file} cannot be read: {error.strerror}. Create a recording with --record."
        raise ConfigurationError(msg) from error
    records: dict[Key, AnswerRecord] = {}
    for number, line in enumerate([*lines, last] if _is_complete(last) else lines, 1):
        try:
            record = _record(_parse_line(line))
        except ValueError as error:
            msg = f"{file}: line {number}: {error}. Delete the line, or record the answer again."
            raise ConfigurationError(msg) from error
        records[record.key] = record
    return records


def _parse_line(line: bytes) -> Json:
    """Return the JSON value of a line.

    Raises:
        ValueError: if the line is not JSON, or has NaN, an infinity or a lone surrogate.
    """
    try:
        encoded = json.loads(line, parse_constant=_refuse_constant)
        json.dumps(encoded, ensure_ascii=False).encode("utf-8")  # raises for lone surrogates
    except (ValueError, RecursionError) as error:
        msg = "this line is not valid JSON"
        raise ValueError(msg) from error
    return encoded


def _refuse_constant(name: str) -> None:
    raise ValueError(name)


def _is_complete(line: bytes) -> bool:
    """Return whether a line without a newline is complete."""
    try:
        _parse_line(line)
    except ValueError:
        return False
    return True


def append_line(file: Path, line: bytes) -> None:
    """Append a line to a shared file, after repairing the last line if its writer was killed.

    Raises:
        OSError: if the file cannot be written.
    """
    with file.open("a+b", buffering=0) as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        incomplete = _last_line(file)
        if incomplete and _is_complete(incomplete):
            line = b"\n" + line
        elif incomplete:
            stream.truncate(file.stat().st_size - len(incomplete))
        unwritten = memoryview(line)
        while unwritten:
            unwritten = unwritten[stream.write(unwritten) :]
        os.fsync(stream.fileno())


def _last_line(file: Path) -> bytes:
    """Return the bytes that follow the last newline of a file."""
    with file.open("rb") as stream:
        size = stream.seek(0, os.SEEK_END)
        tail, step = b"", 4096
        while b"\n" not in tail and len(tail) < size:
            begin = max(0, size - len(tail) - step)
            stream.seek(begin)
            tail = stream.read(size - len(tail) - begin) + tail
        return tail.rpartition(b"\n")[2]
