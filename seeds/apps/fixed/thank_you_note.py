"""Drafts thanks for a present, from what somebody tells about a party."""

import sys

from google.cloud import language_v1

LETTER = """Dear {name},

thank you so much for the {present}!
{remark}"""

client = language_v1.LanguageServiceClient()


def mentioned(text: str) -> tuple[list[str], list[str]]:
    """Return the people and the things that a text mentions."""
    document = {"content": text, "type_": language_v1.Document.Type.PLAIN_TEXT, "language": "en"}
    answer = client.analyze_entities(request={"document": document})
    people, things = [], []
    for entity in answer.entities:
        if entity.type_ == language_v1.Entity.Type.PERSON:
            people.append(entity.name)
        elif entity.type_ == language_v1.Entity.Type.CONSUMER_GOOD:
            things.append(entity.name)
    return people, things


def note(text: str) -> str:
    """Return a letter to the first person that a text mentions."""
    people, things = mentioned(text)
    present = things[0] if things else "present"
    remark = "It was lovely to see you."
    if len(people) > 1:
        remark = f"Give my love to {people[1]}."
    name = people[0] if people else "friend"
    return LETTER.format(name=name.title(), present=present.lower(), remark=remark)


if __name__ == "__main__":
    print(note(sys.stdin.read()))
