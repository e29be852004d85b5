"""Writes captions below the photos of an exhibition, as a page of HTML."""

import html
from pathlib import Path

from google.cloud import vision

FIGURE = '<figure><img src="{file}"><figcaption>{caption}</figcaption></figure>'


def annotate(path: str) -> list[vision.EntityAnnotation]:
    """Return what a photo shows, the surest first."""
    client = vision.ImageAnnotatorClient()
    with Path(path).open("rb") as photo:
        response = client.label_detection(image={"content": photo.read()}, max_results=10)
    return list(response.label_annotations)


def caption(path: str) -> str:
    """Return a sentence about the three things that a photo shows most clearly."""
    labels = annotate(path)
    if not labels or labels[0].score < 0.5:
        return "Untitled"
    first = labels[0].description
    others = f"{labels[1].description.lower()} and {labels[2].description.lower()}"
    if labels[0].description == "Portrait":
        return f"Portrait with {others}"
    return f"{first}, with {others}"


def page(folder: Path) -> str:
    """Return a page with all photos of a folder."""
    figures = [
        FIGURE.format(file=photo.name, caption=html.escape(caption(str(photo))))
        for photo in sorted(folder.glob("*.jpg"))
    ]
    return "\n".join(["<!doctype html>", "<title>Exhibition</title>", *figures])
