"""Tells life guards which flag to raise, from a picture of the camera above the beach."""

import sys
from pathlib import Path

from google.cloud import vision

LEAST_SCORE = 0.6

client = vision.ImageAnnotatorClient()


def labels_of(path: str) -> set[str]:
    """Return what is seen in a picture, without what the service is in doubt about."""
    image = vision.Image(content=Path(path).read_bytes())
    response = client.label_detection(image=image, max_results=20)
    if response.error.message:
        raise RuntimeError(response.error.message)
    return {label.description for label in response.label_annotations if label.score >= LEAST_SCORE}


def flag_for(path: str) -> str:
    """Return the colour of the flag."""
    seen = labels_of(path)
    if "Storm" in seen:
        return "red"
    if "Wind wave" in seen or "Wave" in seen:
        return "yellow"
    return "green"


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(name, flag_for(name))
