"""Nodes of derivation trees: their identifiers and the outcomes of their programs."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING

from ciguard.domain.programs import Derivation, derivation_to_json

if TYPE_CHECKING:
    from ciguard.domain.programs import Ancestry


class NodeOutcome(StrEnum):
    """Outcome of a node's program over all targets."""

    RAN = "ran"
    """A legal program ran to its end on all targets."""
    REFUSED = "refused"
    """All targets rejected the illegal value in the last block."""
    FAILED = "failed"
    """A legal program failed on a target, or any program crashed, hung or had an internal error."""
    ACCEPTED = "accepted"
    """A target ran the program to its end in spite of the illegal value in the last block."""

    @property
    def is_wrong(self) -> bool:
        """True if the outcome is unexpected. Not every unexpected outcome is a finding."""
        return self in {NodeOutcome.FAILED, NodeOutcome.ACCEPTED}


@dataclass(frozen=True, slots=True)
class LineageNode:
    """One node on the path from the template to a program."""

    node: str
    """Identifier of the node: 16 hex digits of its tree and path."""
    step: Derivation
    """Last derivation step of the node's block."""


def root_of(ancestry: Ancestry) -> str:
    """Return the identifier of the tree's root: the template without any block."""
    return _digest(ancestry.seed, ancestry.tree)


def lineage(ancestry: Ancestry) -> tuple[LineageNode, ...]:
    """Return the nodes on the path from the template (excluded) to the program (included).

    Consecutive steps of one block form one node. Lines and adapters are not part of a node's
    identifier, because only the last step has them.
    """
    node = root_of(ancestry)
    nodes = []
    for _, steps in groupby(ancestry.path, key=lambda step: step.block):
        block = list(steps)
        node = _digest(node, *map(_identity, block))
        nodes.append(LineageNode(node, block[-1]))
    return tuple(nodes)


def _identity(step: Derivation) -> object:
    encoded = derivation_to_json(step)
    return {key: item for key, item in encoded.items() if key not in {"line", "adapter"}}


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
