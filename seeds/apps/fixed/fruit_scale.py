"""The scale of a green grocer, which sees what lies on it."""

from dataclasses import dataclass
from pathlib import Path

from google.cloud import vision

FRUIT_PRICE = 2.9
VEGETABLE_PRICE = 1.7
"""Of a kilogram."""


@dataclass(frozen=True)
class Ticket:
    """What is printed."""

    kind: str
    price: float

    def __str__(self) -> str:
        """Return it as it is printed."""
        return f"{self.kind:<12}{self.price:>8.2f}"


def things_on(scale: str) -> list[str]:
    """Return the names of what lies on a scale."""
    client = vision.ImageAnnotatorClient()
    image = vision.Image(content=Path(scale).read_bytes())
    objects = client.object_localization(image=image).localized_object_annotations
    return [thing.name for thing in objects if thing.score > 0.5]


def ticket(path: str, weight_kg: float = 1.0) -> Ticket | None:
    """Return the ticket for what a picture of the scale shows; nothing if it is empty."""
    for name in things_on(path):
        if name == "Apple" or name == "Banana":
            return Ticket("Fruit", FRUIT_PRICE * weight_kg)
        if name == "Tomato" or name == "Carrot":
            return Ticket("Vegetable", VEGETABLE_PRICE * weight_kg)
    return None
