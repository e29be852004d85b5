"""What the operators of a family ask of their parameters, whatever the library calls them.

Convolutions, pooling, sparse tensors, quantisation: the shapes that belong together are common
knowledge, written in prose that no phrase rule reads. A rule is a pattern of the API's last name,
a pattern of the parameter, and the fields of a clue.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from ciguard.knowledge.clues import Clue, ClueSource
from ciguard.knowledge.family_rules import RULES

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord, ParameterRecord


def read(record: ApiRecord, parameter: ParameterRecord) -> list[Clue]:
    """Read the family rules that fit the API's name and the parameter's."""
    # A method asks of its receiver what the function of the same name asks of its first argument.
    name = "input" if parameter.name == "self" else parameter.name
    return [
        Clue(source=ClueSource.FAMILY, evidence=name, rule=pattern, **fields)
        for pattern, fields in _rules_of(_METHOD.sub("torch.", record.api).rstrip("_"))
        if re.fullmatch(pattern, name)
    ]


_METHOD = re.compile(r"^torch\.Tensor\.")


@cache
def _rules_of(api: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple(
        (parameter, fields)
        for api_pattern, parameters in RULES
        if re.search(api_pattern, api)
        for parameter, fields in parameters.items()
    )
