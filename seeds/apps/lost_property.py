"""Writes the cards of a lost property office."""

import itertools
import sys
from pathlib import Path

from google.cloud import vision

_numbers = itertools.count(1)


def get_labels(path: str) -> list[str]:
    """Return what is seen in a picture, in small letters."""
    client = vision.ImageAnnotatorClient()
    with open(path, "rb") as file:
        image = vision.Image(content=file.read())
    response = client.label_detection(image=image)
    return [label.description.lower() for label in response.label_annotations]


def shelf_for(path: str) -> str:
    """Return the shelf on which a thing is kept."""
    labels = get_labels(path)
    for label in labels:
        if label == "umbrella":
            return "A"
        if label == "clothes":
            return "B"
        if label == "mobile phone" or label == "gadget":
            return "safe"
    return "Z"


def card(path: str) -> str:
    """Return what is written on the card of a thing."""
    number = next(_numbers)
    title = Path(path).stem.replace("_", " ")
    return f"No. {number:04d}  {title}  shelf {shelf_for(path)}"


if __name__ == "__main__":
    for picture in sys.argv[1:]:
        print(card(picture))
