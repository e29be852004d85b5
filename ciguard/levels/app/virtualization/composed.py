"""Answers image analyses, which combine the results of several operations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.description import RecognitionTask
from ciguard.levels.app.providers.registered import PROVIDERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.domain.values import Json
    from ciguard.levels.app.providers.contract import ImageAnalysis, Provider
    from ciguard.levels.app.providers.description import Operation
    from ciguard.levels.app.virtualization.engine import Engine
    from ciguard.levels.app.virtualization.engine_chain import EngineChain


@dataclass(frozen=True, slots=True)
class ImageAnalysisEngine:
    """Combines the answers with tags, objects and text of an image into one image analysis.

    The one-sentence description in the analysis is the most likely tag.
    """

    engines: EngineChain
    """Engines that answer the combined operations."""

    @property
    def name(self) -> str:
        """Name in reports: the names of the engines that answer the combined operations."""
        return ", ".join(dict.fromkeys(engine.name for engine in self._part_engines()))

    @property
    def is_simulated(self) -> bool:
        """True if any of the combined answers is simulated."""
        return any(engine.is_simulated for engine in self._part_engines())

    def _part_engines(self) -> Iterator[Engine]:
        """Yield the engines that answer the combined operations of all providers."""
        for provider in PROVIDERS.items().values():
            if provider.image_analysis is not None:
                engines = map(self.engines.engine_for, _parts(provider, provider.image_analysis))
                yield from filter(None, engines)

    def serves(self, operation: Operation) -> bool:
        """Return whether the operation is an image analysis, and all its parts have an engine."""
        provider = PROVIDERS.items().get(operation.provider)
        if (
            operation.task is not RecognitionTask.OTHER
            or provider is None
            or provider.image_analysis is None
        ):
            return False
        return all(map(self.engines.serves, _parts(provider, provider.image_analysis)))

    def answer(self, operation: Operation, content: bytes) -> Json:
        """Return the combined answer; see `Engine`.

        Raises:
            ValueError: if the operation is not an image analysis.
        """
        provider = PROVIDERS.get(operation.provider)
        analysis = provider.image_analysis
        if analysis is None:
            msg = f"{operation.title} is not an operation that analyses images"
            raise ValueError(msg)
        return analysis.join(
            [self.engines.answer(part, content) for part in _parts(provider, analysis)]
        )


def _parts(provider: Provider, analysis: ImageAnalysis) -> Iterator[Operation]:
    """Return the operations that an image analysis combines."""
    return (part for name in analysis.parts for part in provider.description.operations(name))
