"""Writes sentences with named entities (Keeper, 3.2.2)."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.input_synthesis.variants import InputMaker
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator


_DEFAULT_KINDS = ("PERSON", "LOCATION", "ORGANIZATION")
"""Kinds to choose from for a name without one."""


class NamedEntities(InputMaker):
    """Writes sentences with a name, or with names of a kind."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether it has names of the kind."""
        return wanted.task is RecognitionTask.ENTITIES and (
            not wanted.kind or wanted.kind in _templates()["kinds"]
        )

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield sentences with the name, one of the kind, or none; see `InputMaker`."""
        while True:
            text = _sentence(wanted, rng)
            yield ServiceInput(wanted, text.encode(), "a sentence of ciguard's own")


@cache
def _templates() -> dict[str, Any]:
    """Return names and sentences by kind, and openings of sentences."""
    return tomllib.loads((files(__package__) / "entities.toml").read_text("utf-8"))


def _sentence(wanted: InputSpec, rng: random.Random) -> str:
    templates = _templates()
    if not wanted.key and not wanted.kind:
        return " ".join(rng.sample(templates["nothing"], rng.randint(1, 2)))
    of_kind = templates["kinds"][wanted.kind or rng.choice(_DEFAULT_KINDS)]
    name = wanted.key or rng.choice(of_kind["names"])
    opening, sentence = rng.choice(templates["before"]), rng.choice(of_kind["sentences"])
    filled: str = sentence.replace("{name}", name)
    return f"{opening}{filled}" if opening else filled[:1].upper() + filled[1:]
