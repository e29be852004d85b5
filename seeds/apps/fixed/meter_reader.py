"""Reads the meter in the cellar from a photo, and keeps a list of what it said."""

import csv
import re
from datetime import UTC, datetime
from pathlib import Path

from google.cloud import vision

_DIGITS = re.compile(r"\d{4,6}(?:[.,]\d{1,3})?")


def text_on(photo: Path) -> str:
    """Return all that is written on a photo."""
    client = vision.ImageAnnotatorClient()
    image = vision.Image(content=photo.read_bytes())
    found = client.text_detection(image=image).text_annotations
    return found[0].description if found else ""


def reading(path: str) -> tuple[float, str] | None:
    """Return what a meter says, and its unit; nothing if there are no such digits."""
    text = text_on(Path(path)).replace(" ", "")
    digits = _DIGITS.search(text)
    if digits is None:
        return None
    unit = "m3" if "m3" in text.lower() else "kWh"
    return float(digits[0].replace(",", ".")), unit


def record(path: str, readings: Path) -> bool:
    """Add what a photo shows to a list; tell whether it could be read."""
    found = reading(path)
    if found is None:
        return False
    with readings.open("a", encoding="utf-8", newline="") as lines:
        csv.writer(lines).writerow([datetime.now(tz=UTC).isoformat(), *found])
    return True
