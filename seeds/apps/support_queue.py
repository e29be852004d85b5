"""Puts mails of customers in the order in which a support team should answer them."""

import heapq
import itertools
from pathlib import Path

from google.cloud import language_v1

client = language_v1.LanguageServiceClient()


def feeling(text: str) -> tuple[float, float]:
    """Return score and magnitude of what a customer feels."""
    document = language_v1.Document(content=text, type_=language_v1.Document.Type.PLAIN_TEXT)
    sentiment = client.analyze_sentiment(
        request={"document": document, "encoding_type": language_v1.EncodingType.UTF8}
    ).document_sentiment
    return sentiment.score, sentiment.magnitude


def urgency(text: str) -> int:
    """Return how soon a mail is to be answered: 0 is at once."""
    score, magnitude = feeling(text)
    if score < 0.5:
        return 0 if magnitude > 2 else 1
    return 2


class Queue:
    """Mails that wait."""

    def __init__(self) -> None:
        """Begin without any."""
        self._waiting: list[tuple[int, int, str]] = []
        self._number = itertools.count()

    def add(self, mail: Path) -> None:
        """Put a mail where it belongs."""
        text = mail.read_text(encoding="utf-8")
        heapq.heappush(self._waiting, (urgency(text), next(self._number), mail.name))

    def next_mail(self) -> str | None:
        """Return the mail to answer now."""
        return heapq.heappop(self._waiting)[2] if self._waiting else None
