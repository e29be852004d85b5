"""Sentences with what an entity service recognises (Keeper, 3.2.2)."""

from __future__ import annotations

from itertools import count as counted
from typing import TYPE_CHECKING

from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.input_synthesis.variants import different, rng_for
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

_NAMES = {
    "PERSON": ("Anna Berger", "Paul Novak", "Maria Costa", "Jonas Lind", "Emily Hart", "Omar Aziz"),
    "LOCATION": ("Vienna", "Lisbon", "Nairobi", "Osaka", "Montreal", "Denmark"),
    "ORGANIZATION": (
        "the United Nations", "the Red Cross", "Toyota", "Siemens", "the World Bank", "Greenpeace",
    ),
    "EVENT": ("the Olympic Games", "the World Cup", "the Second World War", "the Cannes Festival"),
    "WORK_OF_ART": ("Hamlet", "the Mona Lisa", "Don Quixote", "Guernica", "The Magic Flute"),
    "CONSUMER_GOOD": ("a Toyota Corolla", "an iPhone", "a Fiat 500", "a PlayStation"),
    "PHONE_NUMBER": ("+1 202 555 0143", "+44 20 7946 0018", "+49 30 901820"),
    "ADDRESS": ("12 High Street, Oxford", "1600 Main Street, Springfield", "7 Rue Verte, Lyon"),
    "DATE": ("3 May 2019", "12 October 2021", "1 January 2000", "24 December 1998"),
    "NUMBER": ("forty-two", "1,250", "three hundred", "17"),
    "PRICE": ("$25", "99 euros", "$1,200", "15 pounds"),
    "OTHER": ("the old bridge", "the red door", "the weather report", "the wooden box"),
}  # fmt: skip
_SENTENCES = {
    "PERSON": (
        "{name} opened the window and looked at the sea.", "Yesterday {name} gave a speech.",
        "We asked {name} to write the letter.", "My teacher was called {name}.",
        "{name} was born in a small village.", "The book was written by {name} in one winter.",
    ),
    "LOCATION": (
        "We spent a week in {name}.", "The train from {name} was late.", "She moved to {name}.",
        "{name} is known for its old houses.", "He has never been in {name} before.",
    ),
    "ORGANIZATION": (
        "He works for {name}.", "{name} published a report.", "The speaker was sent by {name}.",
        "She has written a letter to {name}.",
    ),
    "EVENT": (
        "My uncle has seen {name}.", "The museum shows pictures of {name}.",
        "Many people talked about {name}.",
    ),
    "WORK_OF_ART": ("They talked about {name} all evening.", "She has a poster of {name}."),
    "CONSUMER_GOOD": ("He bought {name} last week.", "She would like to have {name}."),
    "PHONE_NUMBER": ("Please call {name} before noon.", "The number on the card is {name}."),
    "ADDRESS": ("Send it to {name}.", "The office is at {name}."),
    "DATE": ("The letter was written on {name}.", "The shop closes on {name}."),
    "NUMBER": ("There were {name} boxes on the table.", "She counted {name} birds."),
    "PRICE": ("The ticket was {name}.", "He paid {name} for the lamp."),
    "OTHER": ("We talked about {name}.", "Nobody knew anything of {name}."),
}  # fmt: skip
_BEFORE = ("", "Later that day, ", "As you know, ", "In the end, ", "Once again, ")
_NOTHING = (
    "It was late, and it rained.", "Nobody said anything.", "It is what it is.", "So be it.",
    "They came and went.", "It was quiet for a while.",
)  # fmt: skip


class NamedEntities:
    """Writes sentences with a name, or with names of a kind."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether it knows that kind."""
        return wanted.task is RecognitionTask.ENTITIES and (
            not wanted.kind or wanted.kind in _SENTENCES
        )

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return at most so many sentences.

        Args:
            wanted: the name, the kind, or both; neither: sentences without names.
            count: how many at most.
            seed: which ones.
        """
        if not self.serves(wanted):
            return ()
        written = (
            ServiceInput(wanted, text.encode(), "a sentence of ciguard's own")
            for text in _written(wanted, rng_for(wanted, seed))
        )
        return different(written, count)


def _written(wanted: InputSpec, rng: random.Random) -> Iterator[str]:
    for _ in counted():
        if not wanted.key and not wanted.kind:
            yield " ".join(rng.sample(_NOTHING, rng.randint(1, 2)))
            continue
        kind = wanted.kind or rng.choice(("PERSON", "LOCATION", "ORGANIZATION"))
        name = wanted.key or rng.choice(_NAMES[kind])
        before, sentence = rng.choice(_BEFORE), rng.choice(_SENTENCES[kind])
        filled = sentence.replace("{name}", name)
        yield before + filled if before else filled[:1].upper() + filled[1:]
