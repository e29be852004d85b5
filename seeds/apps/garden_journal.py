"""Keeps a journal of a garden: what grows, and when it begins to bloom."""

import sqlite3
from datetime import UTC, datetime
from pathlib import Path

from google.cloud import vision

TABLE = "CREATE TABLE IF NOT EXISTS journal (day TEXT, stage TEXT, photo TEXT)"


def labels_of(path: str) -> list[str]:
    """Return the labels of a photo."""
    client = vision.ImageAnnotatorClient()
    image = vision.Image(content=Path(path).read_bytes())
    response = client.label_detection(image=image, max_results=15)
    return [label.description for label in response.label_annotations]


def stage(path: str) -> str | None:
    """Return how far a plant is; nothing if a photo shows none."""
    labels = labels_of(path)
    if "flower" in labels:
        return "in bloom"
    if "Fruit" in labels:
        return "bears fruit"
    if "Plant" in labels:
        return "grows"
    return None


def note(photo: Path, database: Path) -> str | None:
    """Add a photo to the journal; return how far the plant is."""
    found = stage(str(photo))
    if found is None:
        return None
    day = datetime.now(tz=UTC).date().isoformat()
    with sqlite3.connect(database) as journal:
        journal.execute(TABLE)
        journal.execute("INSERT INTO journal VALUES (?, ?, ?)", (day, found, photo.name))
    return found
