"""What the operators of a family ask of their parameters, whatever the library calls them.

Convolutions, pooling, sparse tensors, quantisation: the shapes that belong together are common
knowledge, written in prose that no phrase rule reads. A rule is a pattern of the API's last name,
a pattern of the parameter, and the fields of a clue.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from ciguard.knowledge.clues import Clue, Source
from ciguard.knowledge.family_tables import RULES

if TYPE_CHECKING:
    from ciguard.domain import ApiRecord, ParameterRecord


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Read the family rules that fit the API's name and the parameter's."""
    return [
        Clue(source=Source.FAMILY, evidence=f"{pattern}: {parameter.name}", **fields)
        for pattern, fields in _rules_of(record.api)
        if re.fullmatch(pattern, parameter.name)
    ]


@cache
def _rules_of(api: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple(
        (parameter, fields)
        for api_pattern, parameters in RULES
        if re.search(api_pattern, api)
        for parameter, fields in parameters.items()
    )
