"""Clues for all operators of a family, such as convolutions, pooling or sparse tensors.

How the shapes of a family's parameters depend on each other is well known, but documentation states
it in prose that no phrase rule can read. A rule has a pattern for the API's name, a pattern for the
parameter's name, and the fields of a clue.
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
    """Return the clues of the family rules that match the names of the API and the parameter."""
    # The `self` of a method has the constraints of the function's first argument.
    name = "input" if parameter.name == "self" else parameter.name
    return [
        Clue(source=ClueSource.FAMILY, evidence=name, rule=pattern, **fields)
        for pattern, fields in _rules_for_api(_METHOD.sub("torch.", record.api).rstrip("_"))
        if _compiled(pattern).fullmatch(name)
    ]


_METHOD = re.compile(r"^torch\.Tensor\.")


@cache
def _rules_for_api(api: str) -> tuple[tuple[str, dict[str, Any]], ...]:
    return tuple(
        (parameter, fields)
        for api_pattern, parameters in RULES
        if _compiled(api_pattern).search(api)
        for parameter, fields in parameters.items()
    )


_compiled = cache(re.compile)
"""Function that compiles a pattern once; the cache of `re` is too small for all rules."""
