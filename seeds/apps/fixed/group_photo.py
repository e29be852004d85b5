"""Picks from a series of photos of a group the one on which most people look their best."""

import sys
from pathlib import Path

from google.cloud import vision
from google.cloud.vision import Likelihood

LIKELY = (Likelihood.LIKELY, Likelihood.VERY_LIKELY)

client = vision.ImageAnnotatorClient()


def faces_in(path: str) -> list[vision.FaceAnnotation]:
    """Return the faces on a photo."""
    image = vision.Image(content=Path(path).read_bytes())
    return list(client.face_detection(image=image, max_results=50).face_annotations)


def score(path: str) -> float:
    """Return how good a photo is: 1 if everybody smiles, 0 if nobody is on it."""
    faces = faces_in(path)
    if not faces:
        return 0.0
    points = 0.0
    for face in faces:
        if face.joy_likelihood == Likelihood.VERY_LIKELY:
            points += 1
        if face.blurred_likelihood in LIKELY or face.under_exposed_likelihood in LIKELY:
            points -= 0.5
    return max(points / len(faces), 0.0)


def best_of(photos: list[Path]) -> Path | None:
    """Return the best photo of a series."""
    return max(photos, key=lambda photo: score(str(photo)), default=None)


if __name__ == "__main__":
    print(best_of([Path(name) for name in sys.argv[1:]]))
