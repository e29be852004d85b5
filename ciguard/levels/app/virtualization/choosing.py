"""Builds the chain of the engines that need no network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ciguard.levels.app.virtualization.composed import ImageAnalysisEngine
from ciguard.levels.app.virtualization.engine_chain import EngineChain
from ciguard.levels.app.virtualization.faces import FaceEngine
from ciguard.levels.app.virtualization.sentiment import SentimentEngine
from ciguard.levels.app.virtualization.simulated import SimulationEngine
from ciguard.levels.app.virtualization.speech import SpeechEngine
from ciguard.levels.app.virtualization.stop_words import StopWordEngine
from ciguard.levels.app.virtualization.written_text import TextEngine

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.levels.app.dead_conditions.vocabulary import Vocabulary
    from ciguard.levels.app.input_synthesis.inputs import InputSpec
    from ciguard.levels.app.virtualization.confusion_matrix import ConfusionMatrix


def local_engines(
    labels: Vocabulary | None,
    input_specs: Mapping[str, InputSpec],
    *,
    confusion: float = 0.2,
    seed: int = 0,
    confusion_matrix: ConfusionMatrix | None = None,
) -> EngineChain:
    """Return a chain of installed recognisers, which need no network, and of simulated engines.

    Args:
        labels: labels of simulated answers; None for ciguard's own list.
        input_specs: specifications of the synthesised inputs, by the digest of their content.
        confusion: share of known inputs for which simulated answers miss what the input shows.
        seed: seed of the simulated answers.
        confusion_matrix: confusion matrix of some labels; for these, it replaces `confusion`.

    Raises:
        ConfigurationError: if the confusion is not between 0 and 1.
    """
    simulated = SimulationEngine(labels, input_specs, confusion, seed, confusion_matrix or {})
    local = EngineChain((TextEngine(), FaceEngine(), SentimentEngine(), SpeechEngine(), simulated))
    return EngineChain((*local.engines, ImageAnalysisEngine(local), StopWordEngine()))
