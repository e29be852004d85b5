"""Tells from the plate in a lift whether a party may get in together."""

import argparse
from collections.abc import Iterator

from google.cloud import vision

WEIGHT_KG = 80
"""Of one person, as rules count it."""


def lines_on(path: str) -> Iterator[str]:
    """Yield the lines of a plate."""
    client = vision.ImageAnnotatorClient()
    with open(path, "rb") as photo:
        content = photo.read()
    annotations = client.text_detection(image=vision.Image(content=content)).text_annotations
    for annotation in annotations[:1]:
        for line in annotation.description.splitlines():
            yield line.strip().lower()


def fits(path: str, people: int = 4) -> bool | None:
    """Tell whether so many people may get in; None if a plate does not say."""
    for line in lines_on(path):
        if line.endswith("kg"):
            load = line.removesuffix("kg").strip().rpartition(" ")[2]
            return bool(load) and load >= people * WEIGHT_KG
        if line.endswith(("persons", "people")):
            number = line.split()[0]
            return number.isdecimal() and int(number) >= people
    return None


def main() -> None:
    """Answer on the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("photo")
    parser.add_argument("--people", type=int, default=4)
    arguments = parser.parse_args()
    answer = fits(arguments.photo, arguments.people)
    print({True: "get in", False: "take turns", None: "who knows"}[answer])


if __name__ == "__main__":
    main()
