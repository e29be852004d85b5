"""What is known of one API: one constraint per parameter, and who said so."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind

if TYPE_CHECKING:
    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge.clues import ClueSource
    from ciguard.values import Constraint


@dataclass(frozen=True, slots=True)
class ConstraintEvidence:
    """One source's contribution to a constraint."""

    source: ClueSource
    aspect: str
    """What it decided: `structures`, `dtypes`, `shape`, `range`, …"""
    text: str
    """The words it was read from."""
    rule: str = ""
    """What read it, where one source has many rules: the pattern or the rule's name."""
    digest: str = ""
    """Of the words, where a file refers to them; `text` is empty then."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter and the values it accepts, as far as known."""

    name: str
    constraint: Constraint
    kind: ParameterKind = ParameterKind.POSITIONAL_OR_KEYWORD
    required: bool = True
    given: float = 1.0
    """How often an optional parameter is given, relative to others: learned from outcomes."""
    is_generated: bool = True
    """False for what no case can carry: callables, generators, open handles."""
    evidence: tuple[ConstraintEvidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One API and what is known of its parameters."""

    record: ApiRecord
    parameters: tuple[Parameter, ...]
    inputs: tuple[Parameter, ...] = ()
    """For a layer: what the built object is called with."""
