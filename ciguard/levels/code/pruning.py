"""Pruning: half of each equivalence class of a generation has children (MoCo, section III-D)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ciguard.domain.programs import Operator

if TYPE_CHECKING:
    import random
    from collections.abc import Sequence
    from typing import TypeAlias

    from ciguard.domain.programs import Derivation
    from ciguard.levels.code.nodes import Node

    EquivalenceClass: TypeAlias = tuple[str, ...]

KEPT_SHARE = 0.5
"""Share of each class that has children."""


def equivalence_class(step: Derivation) -> EquivalenceClass:
    """Return the class of a node, which its last step determines.

    It is the new API after a replacement; else the parameter and the kind of its value. `True`,
    `False`, None and each text are classes of their own; all numbers are one class.
    """
    match step.operator:
        case Operator.REPLACEMENT:
            return (step.operator, step.api)
        case Operator.NONE:
            return (step.operator,)
        case _:
            return (step.operator, step.api, step.parameter, _kind_of(step.after))


def _kind_of(text: str) -> str:
    return text if text in {"True", "False", "None"} or text[:1] in {"'", '"'} else "number"


def pruned(nodes: Sequence[Node], rng: random.Random, *, limit: int) -> list[Node]:
    """Return the nodes of a generation that have children.

    Half of each class is kept, rounded up. Of these, at most `limit` are taken from the classes in
    turn, so that few classes are lost.
    """
    classes: dict[EquivalenceClass, list[Node]] = {}
    for node in nodes:
        classes.setdefault(equivalence_class(node.path[-1]), []).append(node)
    selected = []
    for members in classes.values():
        rng.shuffle(members)
        selected.append(members[: math.ceil(len(members) * KEPT_SHARE)])
    rng.shuffle(selected)
    rounds = max(map(len, selected), default=0)
    in_turn = [members[i] for i in range(rounds) for members in selected if i < len(members)]
    return in_turn[:limit]
