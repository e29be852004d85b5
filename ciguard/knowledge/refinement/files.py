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


def experience_lines(library: str, learned: Mapping[str, Experience]) -> Iterator[str]:
    """Yield the lines of a file of experience, line ends included; ASCII only."""
    header = {"schema": EXPERIENCE_SCHEMA, "library": library, "apis": len(learned)}
    for entry in (header, *({"api": api, **learned[api].to_json()} for api in sorted(learned))):
        yield json.dumps(entry, separators=(",", ":")) + "\n"


def read_experience(lines: Iterable[str], *, name: str) -> dict[str, Experience]:
    """Return the experience in a file, by API.

    Args:
        lines: the lines of the file.
        name: the name of the file for error messages.

    Raises:
        ConstraintsFileError: if it is damaged or of another schema; names the line.
    """
    learned: dict[str, Experience] = {}
    expected = -1
    for number, line in enumerate(lines, start=1):
        try:
            entry = json.loads(line)
            if number == 1:
                expected = _api_count(entry)
            else:
                learned[str(entry["api"])] = experience_from_json(entry)
        except (AttributeError, KeyError, RecursionError, TypeError, ValueError) as error:
            msg = f"{name}, line {number}: {error!s:.200}. Remove the file; {_REBUILT}."
            raise ConstraintsFileError(msg) from error
    if len(learned) != expected:
        msg = f"{name}: has {len(learned)} of {expected} APIs. Remove the file; {_REBUILT}."
        raise ConstraintsFileError(msg)
    return learned


_REBUILT = "the next run builds it again"


def _api_count(header: Mapping[str, object]) -> int:
    schema, count = header["schema"], header["apis"]
    if schema != EXPERIENCE_SCHEMA or not isinstance(count, int):
        msg = f"schema {schema}, but this version of ciguard reads {EXPERIENCE_SCHEMA}"
        raise ValueError(msg)
    return count
