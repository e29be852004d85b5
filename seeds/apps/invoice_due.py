"""Finds out what is to be paid by when, in scanned invoices."""

import re
from decimal import Decimal
from pathlib import Path

from google.cloud import vision_v1

_AMOUNT = re.compile(r"\d[\d,]*\.\d\d")

client = vision_v1.ImageAnnotatorClient()


def lines_of(scan: Path) -> list[str]:
    """Return what an invoice says."""
    image = vision_v1.Image(content=scan.read_bytes())
    annotations = client.text_detection(image=image).text_annotations
    return annotations[0].description.split("\n") if annotations else []


def amount_in(line: str) -> Decimal | None:
    """Return the last amount of a line."""
    amounts = _AMOUNT.findall(line)
    return Decimal(amounts[-1].replace(",", "")) if amounts else None


def to_pay(path: str) -> dict[str, str | Decimal]:
    """Return amount and day, as far as an invoice says them."""
    found: dict[str, str | Decimal] = {}
    for line in lines_of(Path(path)):
        text = line.strip().lower()
        if text.startswith("Due"):
            found["day"] = text.partition(":")[2].strip() or text
        elif "to pay" in text:
            amount = amount_in(text)
            if amount is not None:
                found["amount"] = amount
    return found


def overview(folder: Path) -> str:
    """Return a line for each invoice in a folder."""
    scans = sorted(folder.glob("*.png"))
    return "\n".join(f"{scan.name}: {to_pay(str(scan)) or 'unclear'}" for scan in scans)
