"""Build the chain of local engines: the first that serves an operation answers."""

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
    """Return the engines that need no network: installed recognisers first, then simulated ones.

    Args:
        labels: labels of simulated answers; None for ciguard's own list.
        known: specifications of the synthesised inputs, by the digest of their content.
        confusion: share of known inputs that simulated answers mistake for something else.
        seed: seed of the simulated answers.
        habits: confusion matrix of some labels; it replaces `confusion` for them.

    Raises:
        ConfigurationError: if the confusion is not between 0 and 1.
    """
    simulated = Simulated(labels, known, confusion, seed, habits or {})
    local = Chosen((WrittenText(), Faces(), Feelings(), Speech(), simulated))
    return Chosen((*local.engines, Composed(local), LittleWords()))
