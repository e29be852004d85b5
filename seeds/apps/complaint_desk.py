"""Puts the letters that sound angriest on top of the pile of a complaint desk."""

import os
import sys
from pathlib import Path

from azure.ai.textanalytics import TextAnalyticsClient
from azure.core.credentials import AzureKeyCredential

ENDPOINT = os.environ.get("LANGUAGE_ENDPOINT", "https://desk.cognitiveservices.azure.com")

client = TextAnalyticsClient(ENDPOINT, AzureKeyCredential(os.environ.get("LANGUAGE_KEY", "none")))


def anger(letter: str) -> float:
    """Return how bad a letter sounds, 0 to 1."""
    told = client.analyze_sentiment([letter], language="en")[0]
    if told.sentiment == "positive":
        return 0.0
    return float(told.confidence_scores.negative)


def pile(letters: list[str]) -> list[str]:
    """Return letters in the order in which they are to be answered."""
    return sorted(letters, key=anger, reverse=True)


if __name__ == "__main__":
    for text in pile([Path(name).read_text("utf-8") for name in sys.argv[1:]]):
        print(text.partition("\n")[0])
