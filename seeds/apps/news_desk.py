"""Hands messages of news agencies to the desks of a paper."""

from collections import defaultdict
from dataclasses import dataclass

from google.cloud import language_v1 as language

DESKS = {
    "Arts & Entertainment": "culture",
    "Business & Industrial": "economy",
    "Finance": "economy",
    "Sports": "sports",
    "Travel & Transportation": "travel",
}

client = language.LanguageServiceClient()


@dataclass
class Message:
    """One message, as agencies send it."""

    headline: str
    body: str = ""


def desk_for(text: str) -> str:
    """Return the desk that a text is for, by its likeliest category that a desk looks after."""
    document = {"content": text, "type_": language.Document.Type.PLAIN_TEXT}
    answer = client.classify_text(request={"document": document})
    for category in sorted(answer.categories, key=lambda one: -one.confidence):
        topic = category.name.split("/")[1]
        if topic in DESKS:
            return DESKS[topic]
    return "editor in chief"


def sorted_messages(messages: list[Message]) -> dict[str, list[str]]:
    """Return the headlines of messages by the desk that they are for."""
    desks: dict[str, list[str]] = defaultdict(list)
    for message in messages:
        desks[desk_for(f"{message.headline}\n{message.body}")].append(message.headline)
    return dict(desks)
