"""Documents about a topic (Keeper, 3.2.1); where more is needed, a user's folder has texts."""

from __future__ import annotations

import re
from itertools import count as counted
from typing import TYPE_CHECKING

from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.input_synthesis.variants import different, rng_for
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    import random
    from collections.abc import Iterator, Sequence

_TOPICS = {
    "food drink cooking recipes beverages restaurants": (
        "soup", "bread", "butter", "recipe", "oven", "garlic", "salad", "wine", "coffee", "cheese",
        "kitchen", "dessert", "spices", "roast", "menu", "chef",
    ),
    "sports football soccer fitness": (
        "goal", "match", "team", "coach", "league", "stadium", "player", "season", "tournament",
        "referee", "striker", "training", "championship", "defender", "fans", "score",
    ),
    "health medicine": (
        "doctor", "patient", "treatment", "symptoms", "hospital", "vaccine", "therapy", "disease",
        "diagnosis", "surgery", "medicine", "nurse", "infection", "clinic", "recovery", "pain",
    ),
    "travel tourism hotels": (
        "hotel", "flight", "beach", "luggage", "airport", "sightseeing", "island", "resort",
        "itinerary", "passport", "tourists", "cruise", "hostel", "museum", "booking", "guide",
    ),
    "computers electronics software programming internet telecom technology": (
        "software", "server", "keyboard", "processor", "network", "laptop", "programmer", "bug",
        "database", "compiler", "browser", "update", "memory", "router", "code", "screen",
    ),
    "finance banking investing business industrial economy": (
        "bank", "shares", "loan", "interest", "investors", "market", "profit", "dividend", "budget",
        "revenue", "mortgage", "bonds", "company", "insurance", "taxes", "portfolio",
    ),
    "arts entertainment music movies film": (
        "concert", "album", "guitar", "actor", "film", "orchestra", "singer", "stage", "director",
        "festival", "melody", "cinema", "audience", "drummer", "premiere", "painting",
    ),
    "autos vehicles cars": (
        "engine", "car", "tyres", "gearbox", "motorway", "driver", "brakes", "sedan", "diesel",
        "garage", "mileage", "dealer", "headlights", "horsepower", "bumper", "fuel",
    ),
    "pets animals": (
        "dog", "cat", "puppy", "vet", "leash", "kitten", "fur", "collar", "breed", "rabbit",
        "hamster", "kennel", "paw", "parrot", "aquarium", "litter",
    ),
    "science physics biology chemistry": (
        "experiment", "physicist", "molecule", "telescope", "theory", "laboratory", "cell",
        "particles", "hypothesis", "galaxy", "atoms", "evolution", "microscope", "gene", "energy",
        "orbit",
    ),
    "law government politics military": (
        "parliament", "minister", "election", "court", "judge", "law", "senator", "vote", "treaty",
        "lawyer", "government", "policy", "reform", "constitution", "president", "verdict",
    ),
    "home garden": (
        "garden", "lawn", "roof", "paint", "plumber", "furniture", "tiles", "roses", "hedge",
        "curtains", "shelf", "compost", "bathroom", "soil", "greenhouse", "wallpaper",
    ),
    "jobs education school": (
        "school", "teacher", "pupils", "exam", "homework", "university", "lecture", "students",
        "classroom", "degree", "lesson", "curriculum", "grades", "campus", "professor", "textbook",
    ),
    "weather nature environment": (
        "rain", "storm", "forecast", "clouds", "temperature", "wind", "snow", "thunder", "drought",
        "sunshine", "humidity", "hail", "fog", "climate", "degrees", "flood",
    ),
    "games video": (
        "console", "level", "player", "controller", "quest", "multiplayer", "puzzle", "joystick",
        "dice", "board", "score", "avatar", "arcade", "gamers", "boss", "cards",
    ),
    "books literature poetry": (
        "novel", "author", "chapter", "poem", "publisher", "reader", "plot", "library", "fiction",
        "narrator", "verse", "paperback", "manuscript", "hero", "translation", "stanza",
    ),
}  # fmt: skip
_SENTENCES = (
    "The {0} and the {1} are what most people ask about first.",
    "A good {0} takes time, and so does the {1}.",
    "Last year the {0} was discussed more than any other {1}.",
    "Without the {0} there would be neither {1} nor {2}.",
    "Experts compare the {0} with the {1} and write about the {2}.",
    "Many begin with the {0} before they turn to the {1}.",
    "This week we look at the {0}, the {1} and the {2}.",
    "Some think that the {0} matters most, others prefer the {1}.",
)
_LENGTH = 5
"""Sentences of a document: well above the words that services ask for."""
_PLAIN = (
    "It was said that it would be so, and then it was not, and nobody knew why that was.",
    "There are things that come and go, and there are others that stay where they are.",
    "One of them said this and the other said that, and in the end they did neither.",
    "Whoever was there saw it, and whoever was not there heard of it some time later.",
    "What is here today may be there tomorrow, and what is there may well be gone.",
)


class DocumentWriter:
    """Writes documents with the words of a topic, or without any."""

    def serves(self, wanted: InputSpec) -> bool:
        """Return whether it knows words of that topic."""
        return wanted.task is RecognitionTask.CATEGORIES and (
            not wanted.key or bool(_words_of(wanted.key))
        )

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        """Return at most so many documents.

        Args:
            wanted: its key is the topic, `food` or a path such as `/Food & Drink/Beverages`.
            count: how many at most.
            seed: which words.
        """
        if not self.serves(wanted):
            return ()
        rng = rng_for(wanted, seed)
        written = (
            ServiceInput(wanted, text.encode(), "sentences of ciguard's own")
            for text in _written(_words_of(wanted.key), rng)
        )
        return different(written, count)


def _words_of(topic: str) -> tuple[str, ...]:
    """Return the words of a topic; none if it is not known."""
    first = topic.strip("/").partition("/")[0]  # of a path, what all below it belong to
    asked = set(re.findall(r"[a-z]+", first.lower())) - {"and"}
    asked |= {one.removesuffix("s") for one in asked} | {f"{one}s" for one in asked}
    best = max(_TOPICS, key=lambda names: len(asked & set(names.split())))
    return _TOPICS[best] if asked & set(best.split()) else ()


def _written(words: tuple[str, ...], rng: random.Random) -> Iterator[str]:
    for _ in counted():
        if not words:
            yield " ".join(rng.sample(_PLAIN, 3))
        else:
            sentences = rng.sample(_SENTENCES, _LENGTH)
            yield " ".join(one.format(*rng.sample(words, 3)) for one in sentences)
