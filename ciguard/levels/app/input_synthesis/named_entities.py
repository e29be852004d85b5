"""Sentences with named entities (Keeper paper, section 3.2.2)."""

from __future__ import annotations

import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from ciguard.levels.app.input_synthesis.input_maker import InputMaker
from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator


_DEFAULT_KINDS = ("PERSON", "LOCATION", "ORGANIZATION")
"""Kinds of entity to choose from if the specification has a name without a kind."""


class NamedEntities(InputMaker):
    """Sentences with a given name, or with names of a given kind."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether names of the kind are known."""
        return wanted.task is RecognitionTask.ENTITIES and (
            not wanted.kind or wanted.kind in _templates()["kinds"]
        )

    def generate(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield sentences with the name, a name of the kind, or no name; see `InputMaker`."""
        while True:
            text = _sentence(wanted, rng)
            yield ServiceInput(wanted, text.encode(), "a sentence of ciguard's own")


@cache
def _templates() -> dict[str, Any]:
    """Return the content of `entities.toml`: names and sentences by kind, and openings."""
    return tomllib.loads((files(__package__) / "entities.toml").read_text("utf-8"))


def _sentence(wanted: InputSpec, rng: random.Random) -> str:
    templates = _templates()
    if not wanted.key and not wanted.kind:
        return " ".join(rng.sample(templates["nothing"], rng.randint(1, 2)))
    templates_of_kind = templates["kinds"][wanted.kind or rng.choice(_DEFAULT_KINDS)]
    name = wanted.key or rng.choice(templates_of_kind["names"])
    opening, sentence = rng.choice(templates["before"]), rng.choice(templates_of_kind["sentences"])
    filled: str = sentence.replace("{name}", name)
    return f"{opening}{filled}" if opening else filled[:1].upper() + filled[1:]
