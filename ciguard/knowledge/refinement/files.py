"""Files of experience: JSON Lines, one API per line, sorted by name.

{"schema": 1, "library": "torch", "apis": 1915}
{"api": "torch.abs", "noted": 64, "judged": 20, "passed": 11, "counts": {…}, "said": […], …}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from ciguard.errors import ConstraintsFileError
from ciguard.knowledge.refinement.experience import Experience, experience_from_json

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

EXPERIENCE_SCHEMA = 1
"""Version of the file format."""


def experience_lines(library: str, experiences: Mapping[str, Experience]) -> Iterator[str]:
    """Yield the lines of a file of experience, line ends included; ASCII only.

    Args:
        library: the name of the library.
        experiences: the experience with each API, by the API's name.
    """
    header = {"schema": EXPERIENCE_SCHEMA, "library": library, "apis": len(experiences)}
    entries = ({"api": api, **experiences[api].to_json()} for api in sorted(experiences))
    for entry in (header, *entries):
        yield json.dumps(entry, separators=(",", ":")) + "\n"


def read_experience(lines: Iterable[str], *, name: str) -> dict[str, Experience]:
    """Return the experience in a file, by API.

    Args:
        lines: the lines of the file.
        name: the name of the file for error messages.

    Raises:
        ConstraintsFileError: if the file is damaged or has another schema. The message names the
            line.
    """
    experiences: dict[str, Experience] = {}
    expected = -1
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            if number == 1:
                expected = _api_count(entry)
            else:
                experiences[str(entry["api"])] = experience_from_json(entry)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            msg = f"{name}:{number}: {error!s:.200}. Remove the file; {_REBUILT}."
            raise ConstraintsFileError(msg) from error
    if len(experiences) != expected:
        content = f"{len(experiences)} of {expected} APIs" if expected >= 0 else "no header"
        msg = f"{name}: the file has {content}. Remove the file; {_REBUILT}."
        raise ConstraintsFileError(msg)
    return experiences


_REBUILT = "the next run creates it again"


def _api_count(header: Mapping[str, object]) -> int:
    """Return the number of APIs that a header states; raise ValueError for another schema."""
    schema, count = header["schema"], header["apis"]
    if schema != EXPERIENCE_SCHEMA or not isinstance(count, int):
        msg = f"schema {schema}, but this version of ciguard reads {EXPERIENCE_SCHEMA}"
        raise ValueError(msg)
    return count
