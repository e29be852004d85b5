"""Relation: the same call twice gives the same result."""

from __future__ import annotations

from ciguard.oracles.relations.contract import Relation, relate
from ciguard.oracles.relations.expressions import expression

REPETITION = relate(
    Relation(
        name="same call twice",
        law="A call that draws no random numbers gives the same result for the same arguments.",
        source="the definition of a function; documentation states where random numbers are drawn",
        applies=lambda record, names: True,  # noqa: ARG005 - the parameters of `Applies`
        twin=expression,
    )
)
