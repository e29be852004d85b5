"""Sorts scanned letters into the folders of a household."""

import shutil
from pathlib import Path

from google.cloud import vision

FOLDERS = {
    "insurance": "contracts",
    "policy": "contracts",
    "tax": "taxes",
    "invoice": "bills",
    "reminder": "bills",
}

client = vision.ImageAnnotatorClient()


def text_of(path: str) -> str:
    """Return what a letter says."""
    with open(path, "rb") as scan:
        image = vision.Image(content=scan.read())
    response = client.document_text_detection(image=image, image_context={"language_hints": ["en"]})
    if response.error.message:
        raise RuntimeError(response.error.message)
    return response.full_text_annotation.text


def described(path: str) -> tuple[str, str]:
    """Return who sent a letter, as its first line says, and the folder that it belongs in."""
    text = text_of(path)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    sender = lines[0] if lines else "unknown"
    for word, folder in FOLDERS.items():
        if word in text.lower():
            return sender, folder
    return sender, "other"


def put_away(path: str, archive: Path) -> Path:
    """Move a letter to where it belongs; return its new place."""
    sender, folder = described(path)
    place = archive / folder / sender.lower().replace("/", " ")
    place.mkdir(parents=True, exist_ok=True)
    return Path(shutil.move(path, place))
