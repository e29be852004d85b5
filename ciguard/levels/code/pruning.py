"""Pruning: only half of each equivalence class of a generation has children (MoCo, III-D)."""

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

PARENT_SHARE = 0.5
"""Share of the nodes of each class that have children."""


def equivalence_class(step: Derivation) -> EquivalenceClass:
    """Return the class of a node, which the last step of its path determines.

    After a replacement, nodes with the same new API form a class. After other mutations, nodes with
    the same parameter and kind of value form a class. `True`, `False`, `None` and each text are
    kinds of their own; all numbers are of one kind.
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


def select_parents(nodes: Sequence[Node], rng: random.Random, *, limit: int) -> list[Node]:
    """Select the nodes of a generation that have children.

    Half of each class may be selected, rounded up. Of these nodes, at most `limit` are taken from
    the classes in turn, so that as many classes as possible have children.

    Args:
        nodes: the nodes of the generation.
        rng: the source of randomness.
        limit: the maximum number of nodes to select.
    """
    classes: dict[EquivalenceClass, list[Node]] = {}
    for node in nodes:
        classes.setdefault(equivalence_class(node.path[-1]), []).append(node)
    remaining = []
    for members in classes.values():
        rng.shuffle(members)
        remaining.append(members[: math.ceil(len(members) * PARENT_SHARE)])
    rng.shuffle(remaining)
    rounds = max(map(len, remaining), default=0)
    in_turn = [members[i] for i in range(rounds) for members in remaining if i < len(members)]
    return in_turn[:limit]
