"""Counts free places in a hall for bicycles, from one picture of each place."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from google.cloud import vision

LEAST_SCORE = 0.55


class Hall:
    """A hall with numbered places."""

    client = vision.ImageAnnotatorClient()

    def __init__(self, places: int = 40) -> None:
        """Begin with all places free."""
        self.state = dict.fromkeys(range(1, places + 1), "free")

    def what_is_in(self, path: str) -> str:
        """Return what takes a place: a bicycle, luggage, or nothing."""
        content = Path(path).read_bytes()
        labels = self.client.label_detection(image={"content": content}).label_annotations
        for label in labels:
            if label.score < LEAST_SCORE:
                break
            if label.description == "Bicycle":
                return "bicycle"
            if label.description in ("Luggage", "Suitcase"):
                return "luggage"
        return "free"

    def update(self, pictures: Iterable[Path]) -> None:
        """Note what pictures show whose names are the numbers of places."""
        for picture in pictures:
            self.state[int(picture.stem)] = self.what_is_in(str(picture))

    def summary(self) -> str:
        """Return how many places are taken by what."""
        numbers = Counter(self.state.values())
        return ", ".join(f"{number} {what}" for what, number in numbers.most_common())
