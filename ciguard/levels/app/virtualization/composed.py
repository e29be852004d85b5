"""Tells at once what others tell of an image one by one, where a service is asked for all of it."""

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
    from ciguard.levels.app.virtualization.chosen import Chosen
    from ciguard.levels.app.virtualization.engine import Engine


@dataclass(frozen=True, slots=True)
class Composed:
    """Puts the answer of an image analysis together: tags, objects, and what is written.

    What it says in a sentence is no more than the likeliest tag.
    """

    engines: Chosen
    """That are asked for the parts."""

    @property
    def name(self) -> str:
        """How reports call it: by the engines of the parts."""
        return ", ".join(dict.fromkeys(one.name for one in self._asked()))

    @property
    def is_simulated(self) -> bool:
        """Whether any of the parts is made up."""
        return any(one.is_simulated for one in self._asked())

    def _asked(self) -> Iterator[Engine]:
        for provider in PROVIDERS.items().values():
            if provider.image_analysis is not None:
                engines = map(self.engines.engine_for, _parts(provider, provider.image_analysis))
                yield from filter(None, engines)

    def serves(self, operation: Operation) -> bool:
        """Return whether it can be asked that: an image analysis of which all parts can be."""
        provider = PROVIDERS.items().get(operation.provider)
        if (
            operation.task is not RecognitionTask.OTHER
            or provider is None
            or provider.image_analysis is None
        ):
            return False
        return all(map(self.engines.serves, _parts(provider, provider.image_analysis)))

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return all that is told of an image; see `Engine`.

        Raises:
            ValueError: if it is no image analysis.
        """
        provider = PROVIDERS.get(operation.provider)
        analysis = provider.image_analysis
        if analysis is None:
            msg = f"{operation.title}: does not tell all of an image"
            raise ValueError(msg)
        return analysis.join(
            [self.engines.answer(part, about) for part in _parts(provider, analysis)]
        )


def _parts(provider: Provider, analysis: ImageAnalysis) -> Iterator[Operation]:
    return (part for name in analysis.parts for part in provider.description.operations(name))
