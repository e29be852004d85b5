"""Nodes of derivation trees: who they are, and how the programs of them ended."""

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
    """What came of the program of a node, on all targets together."""

    RAN = "ran"
    """It ran to its end everywhere, as it ought to."""
    REFUSED = "refused"
    """Its last block holds a forbidden value, and nobody took that."""
    FAILED = "failed"
    """It ought to run and did not everywhere; or it died, hung, or ended in an internal error."""
    ACCEPTED = "accepted"
    """Its last block holds a forbidden value, and block and program ran somewhere."""

    @property
    def is_wrong(self) -> bool:
        """Whether it is not what the node promises. Not every such program is a finding."""
        return self in {NodeOutcome.FAILED, NodeOutcome.ACCEPTED}


@dataclass(frozen=True, slots=True)
class LineageNode:
    """One node on the way from the template to a program."""

    node: str
    """16 hex digits: two programs with one path in one tree are one node."""
    step: Derivation
    """The last step of its block."""


def root_of(ancestry: Ancestry) -> str:
    """Return the node of the template without any block."""
    return _digest(ancestry.seed, ancestry.tree)


def lineage(ancestry: Ancestry) -> tuple[LineageNode, ...]:
    """Return the nodes from the template, which is not among them, down to the program itself.

    A node's block may have several steps. Lines and adapters are left out of who a node is: they
    are known of the last step only.
    """
    node = root_of(ancestry)
    members = []
    for _, steps in groupby(ancestry.path, key=lambda step: step.block):
        block = list(steps)
        node = _digest(node, *map(_named, block))
        members.append(LineageNode(node, block[-1]))
    return tuple(members)


def _named(step: Derivation) -> object:
    named = derivation_to_json(step)
    return {key: item for key, item in named.items() if key not in {"line", "adapter"}}


def _digest(*parts: object) -> str:
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]
