"""Pruning (MoCo, section III-D): of each equivalence class of a generation half goes on."""

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

KEPT = 0.5
"""Share of each class that has children."""


def equivalence_class(step: Derivation) -> EquivalenceClass:
    """Return the class of a node by its last step.

    By the new API where one was replaced; else by the parameter and the kind of its value: `True`
    and `False`, each text of an enumeration and None are classes of their own, numbers are one.
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


def pruned(nodes: Sequence[Node], rng: random.Random, *, most: int) -> list[Node]:
    """Return the nodes of a generation that have children.

    Half of each class, rounded up; of these no more than `most`, taken from the classes in turn, so
    that few classes are lost to the bound.
    """
    classes: dict[EquivalenceClass, list[Node]] = {}
    for node in nodes:
        classes.setdefault(equivalence_class(node.path[-1]), []).append(node)
    kept = []
    for alike in classes.values():
        rng.shuffle(alike)
        kept.append(alike[: math.ceil(len(alike) * KEPT)])
    rng.shuffle(kept)
    rounds = max(map(len, kept), default=0)
    in_turn = [alike[at] for at in range(rounds) for alike in kept if at < len(alike)]
    return in_turn[:most]
