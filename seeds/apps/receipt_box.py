"""Takes the receipts out of a folder of photos, for the expenses of a journey."""

import logging
import shutil
from pathlib import Path

from google.cloud import vision

log = logging.getLogger(__name__)
client = vision.ImageAnnotatorClient()


def is_receipt(path: str) -> bool:
    """Tell whether a photo is of a receipt."""
    image = vision.Image(content=Path(path).read_bytes())
    response = client.label_detection(image=image)
    for label in response.label_annotations:
        if label.description == "Receipt":
            return True
    return False


def collect(photos: Path, expenses: Path) -> int:
    """Copy all receipts; return how many there are."""
    expenses.mkdir(exist_ok=True)
    found = 0
    for photo in sorted(photos.iterdir()):
        if photo.suffix.lower() not in {".jpg", ".jpeg", ".png"}:
            continue
        if is_receipt(str(photo)):
            shutil.copy2(photo, expenses / photo.name)
            found += 1
        else:
            log.info("%s is no receipt", photo.name)
    return found
