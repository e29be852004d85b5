"""Sorts pictures of a camera that wanders with deer, by where the animals were."""

import sys
from collections import Counter
from pathlib import Path

import boto3

LEAST_CONFIDENCE = 50

client = boto3.client("rekognition")


def labels_of(path: str) -> set[str]:
    """Return what is seen in a picture, without what the service is in doubt about."""
    image = {"Bytes": Path(path).read_bytes()}
    try:
        answer = client.detect_labels(Image=image, MaxLabels=20, MinConfidence=LEAST_CONFIDENCE)
    except client.exceptions.InvalidImageFormatException:  # the animal has moved the camera
        return set()
    return {label["Name"] for label in answer["Labels"]}


def habitat(path: str) -> str:
    """Return where a picture was taken."""
    seen = labels_of(path)
    if "Forest" in seen:
        return "forest"
    if "Lake" in seen or "River" in seen:
        return "water"
    return "open land"


def share_in_forest(paths: list[str]) -> float:
    """Return how much of the time the animals spent under trees."""
    places = Counter(map(habitat, paths))
    return places["forest"] / max(1, places.total())


if __name__ == "__main__":
    print(f"{share_in_forest(sys.argv[1:]):.0%}")
