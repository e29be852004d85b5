"""Chooses articles for the news letter of a cooking club."""

import re
import textwrap

from google.cloud import language_v1

FEWEST_WORDS = 20
WIDTH = 72
_SPACE = re.compile(r"\s+")


def topics(article: str) -> list[tuple[str, float]]:
    """Return the categories of an article, each with how sure the service is of it."""
    if len(article.split()) < FEWEST_WORDS:  # the service refuses shorter ones
        return []
    client = language_v1.LanguageServiceClient()
    document = language_v1.Document(
        content=article, type_=language_v1.Document.Type.PLAIN_TEXT, language="en"
    )
    response = client.classify_text(request={"document": document})
    return [(category.name, category.confidence) for category in response.categories]


def teaser(article: str) -> str:
    """Return the first lines of an article, for people to read on."""
    return textwrap.shorten(_SPACE.sub(" ", article), 3 * WIDTH, placeholder=" ...")


def entry(text: str) -> str | None:
    """Return what the news letter says of an article; nothing if it is about something else."""
    for name, confidence in topics(text):
        if name == "/Food & Drink":
            stars = "*" * round(5 * confidence)
            return f"{stars} {name.rpartition('/')[2]}\n{teaser(text)}"
    return None


def news_letter(articles: list[str]) -> str:
    """Return the whole letter."""
    entries = [one for article in articles if (one := entry(article))]
    return "\n\n".join(["This week in the kitchen", *entries])
