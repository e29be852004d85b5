"""Knowledge about one API: one constraint per parameter, and the evidence for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ciguard.domain.records import ParameterKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.domain.records import ApiRecord
    from ciguard.knowledge.clues import Clue, ClueSource
    from ciguard.values import Constraint


@dataclass(frozen=True, slots=True)
class ConstraintEvidence:
    """One source's contribution to a constraint."""

    source: ClueSource
    """Source of the constraint, such as the docstring."""
    aspect: str
    """Aspect of the constraint that the source decided, one of `merge.ASPECTS`."""
    text: str
    """Text from which the constraint was read."""
    rule: str = ""
    """Pattern or name of the rule that read the text, for sources with many rules."""
    digest: str = ""
    """Digest of the text, if read from a file that stores digests; `text` is then empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One parameter and the values that it accepts, as far as they are known."""

    name: str
    """Name in the signature."""
    constraint: Constraint
    """Values that the parameter accepts."""
    kind: ParameterKind = ParameterKind.POSITIONAL_OR_KEYWORD
    """Way in which a call can pass the argument: by position, by keyword or either."""
    required: bool = True
    """True if a call must pass an argument for this parameter."""
    frequency: float = 1.0
    """Relative frequency with which calls pass an optional parameter, learned from outcomes."""
    is_generated: bool = True
    """False if no case can contain the values: callables, generators, open handles."""
    evidence: tuple[ConstraintEvidence, ...] = ()
    """Evidence for the constraint, one item per aspect."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Api:
    """One API with the constraints on its parameters."""

    record: ApiRecord
    """Description of the API by its library."""
    parameters: tuple[Parameter, ...]
    """Parameters in the order of the signature."""
    inputs: tuple[Parameter, ...] = ()
    """Parameters for calling the constructed layer; empty unless the API is a layer class."""
    clues: Mapping[str, tuple[Clue, ...]] = field(default_factory=dict, repr=False, compare=False)
    """Clues of the library's own sources, by parameter; empty if the constraints were read from a
    file."""
