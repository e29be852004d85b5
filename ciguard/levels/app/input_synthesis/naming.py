"""Sentences with what an entity service recognises (Keeper, 3.2.2)."""

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


_USUAL = ("PERSON", "LOCATION", "ORGANIZATION")
"""Kinds of a name that may be of any."""


class NamedEntities(InputMaker):
    """Writes sentences with a name, or with names of a kind."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether it knows that kind."""
        return wanted.task is RecognitionTask.ENTITIES and (
            not wanted.kind or wanted.kind in _known()["kinds"]
        )

    def made(self, wanted: InputSpec, rng: random.Random) -> Iterator[ServiceInput]:
        """Yield sentences with the name, one of the kind, or none; see `InputMaker`."""
        while True:
            text = _written(wanted, rng)
            yield ServiceInput(wanted, text.encode(), "a sentence of ciguard's own")


@cache
def _known() -> dict[str, Any]:
    """Return names and sentences, by kind, and what stands before a sentence."""
    return tomllib.loads((files(__package__) / "entities.toml").read_text("utf-8"))


def _written(wanted: InputSpec, rng: random.Random) -> str:
    known = _known()
    if not wanted.key and not wanted.kind:
        return " ".join(rng.sample(known["nothing"], rng.randint(1, 2)))
    of_kind = known["kinds"][wanted.kind or rng.choice(_USUAL)]
    name = wanted.key or rng.choice(of_kind["names"])
    before, sentence = rng.choice(known["before"]), rng.choice(of_kind["sentences"])
    filled: str = sentence.replace("{name}", name)
    return f"{before}{filled}" if before else filled[:1].upper() + filled[1:]
