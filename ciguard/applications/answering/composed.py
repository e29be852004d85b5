"""Tells at once what others tell of an image one by one, where a service is asked for all of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.applications.answering.azure_messages import image_answer
from ciguard.applications.answering.operations import operations
from ciguard.applications.providers.description import Task

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.applications.answering.chosen import Chosen
    from ciguard.applications.providers.description import Operation
    from ciguard.domain import Json

_PROVIDER = "azure"
_PARTS = ("tag_image_in_stream", "detect_objects_in_stream", "get_read_result")


@dataclass(frozen=True, slots=True)
class Composed:
    """Puts the answer of Azure's image analysis together: tags, objects, and what is written.

    What it says in a sentence is no more than the likeliest tag.
    """

    engines: Chosen
    """That are asked for the parts."""

    @property
    def name(self) -> str:
        """How reports call it: by the engines of the parts."""
        engines = (self.engines.engine_for(part) for part in self._parts())
        return ", ".join(dict.fromkeys(one.name for one in engines if one is not None))

    @property
    def is_simulated(self) -> bool:
        """Whether any of the parts is made up."""
        engines = (self.engines.engine_for(part) for part in self._parts())
        return any(one.is_simulated for one in engines if one is not None)

    def _parts(self) -> Iterator[Operation]:
        named = {one.name: one for one in operations() if one.provider == _PROVIDER}
        return (named[name] for name in _PARTS)

    def serves(self, operation: Operation) -> bool:
        """Return whether it can be asked that: the image analysis of Azure, if all parts can be."""
        is_of_image = operation.provider == _PROVIDER and operation.task is Task.OTHER
        return is_of_image and all(map(self.engines.serves, self._parts()))

    def answer(self, operation: Operation, about: bytes) -> Json:
        """Return all that is told of an image.

        Args:
            operation: that is asked.
            about: content of the image.

        Raises:
            ServiceError: if an engine refuses it.
        """
        del operation
        tagged, found, read = (self.engines.answer(part, about) for part in self._parts())
        captions = [
            {"text": one["name"], "confidence": one["confidence"]} for one in tagged["tags"]
        ]
        lines = read["analyze_result"]["read_results"][0]["lines"]
        return image_answer(tagged["tags"], captions, found["objects"], lines)
