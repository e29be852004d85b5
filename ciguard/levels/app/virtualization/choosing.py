"""One engine made of several: the first that can answer does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.virtualization.chosen import Chosen
from ciguard.levels.app.virtualization.composed import Composed
from ciguard.levels.app.virtualization.faces import Faces
from ciguard.levels.app.virtualization.feelings import Feelings
from ciguard.levels.app.virtualization.little_words import LittleWords
from ciguard.levels.app.virtualization.simulated import Simulated
from ciguard.levels.app.virtualization.speech import Speech
from ciguard.levels.app.virtualization.written_text import WrittenText

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
    from ciguard.levels.app.input_synthesis.inputs import InputSpec
    from ciguard.levels.app.virtualization.habits import Habits


def local_engines(
    labels: Vocabulary | None,
    known: Mapping[str, InputSpec],
    *,
    confusion: float = 0.2,
    seed: int = 0,
    habits: Habits | None = None,
) -> Chosen:
    """Return what answers without a network: engines that recognise, where they are installed.

    Args:
        labels: that simulated answers are from; None for a list of ciguard's own.
        known: what inputs were made to show, by the digest of their content.
        confusion: share of known inputs that simulated answers take for something else.
        seed: of simulated answers.
        habits: what simulated answers say of some things.

    Raises:
        ConfigurationError: if the confusion is no share.
    """
    simulated = Simulated(labels, known, confusion, seed, habits or {})
    local = Chosen((WrittenText(), Faces(), Feelings(), Speech(), simulated))
    return Chosen((*local.engines, Composed(local), LittleWords()))
