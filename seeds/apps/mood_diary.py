"""A diary that notes beside each entry how the day was."""

import json
from datetime import UTC, datetime
from pathlib import Path

from google.cloud import language_v1

FACES = {"happy": ":-)", "sad": ":-(", "calm": ":-|"}


def mood(text: str) -> str:
    """Return how somebody felt who wrote this."""
    client = language_v1.LanguageServiceClient()
    document = {"content": text, "type_": language_v1.Document.Type.PLAIN_TEXT}
    felt = client.analyze_sentiment(request={"document": document}).document_sentiment
    if felt.magnitude > 0.5:
        return "happy"
    if felt.score < -0.2:
        return "sad"
    return "calm"


def entry(text: str) -> dict[str, str]:
    """Return an entry of today."""
    now = datetime.now(tz=UTC)
    return {"date": now.date().isoformat(), "face": FACES[mood(text)], "text": text.strip()}


def write(text: str, diary: Path) -> None:
    """Add an entry to a diary, a file of JSON lines."""
    with diary.open("a", encoding="utf-8") as lines:
        lines.write(json.dumps(entry(text)) + "\n")


def happy_days(diary: Path) -> list[str]:
    """Return the dates of days to remember."""
    entries = [json.loads(line) for line in diary.read_text(encoding="utf-8").splitlines()]
    return [one["date"] for one in entries if one["face"] == FACES["happy"]]
