"""An application whose conditions no list of plain answers turns: values are computed first.

Explored, never imported by tests: it stands for what applications do with scores, counts and texts.
"""

from __future__ import annotations

import re

from google.cloud import language_v1, speech, vision

BASE = 5
LIMIT = BASE * 17
SURE_OF = {"Cat": 0.35, "Dog": 0.65}
INVOICE = re.compile(r"INV-(\d{4})-(\d+)")

eyes = vision.ImageAnnotatorClient()
reader = language_v1.LanguageServiceClient()
ears = speech.SpeechClient()


def percent(image: bytes) -> str:
    """Compare with what is computed."""
    for label in eyes.label_detection(image=vision.Image(content=image)).label_annotations:
        if label.score * 100 > LIMIT:
            return "sure"
        if 60 < round(label.score * 100) <= 62:
            return "between"
    return "unsure"


def clear_winner(image: bytes) -> str:
    """Compare scores with each other."""
    labels = eyes.label_detection(image=vision.Image(content=image)).label_annotations
    if len(labels) >= 2 and labels[0].score - labels[1].score > 0.3:
        return str(labels[0].description)
    if len(labels) > 2 and labels[0].score > labels[-1].score + 0.1:
        return "leads"
    return "tie"


def sure_enough(image: bytes) -> list[str]:
    """Compare each with a limit of its own, and the mean with one of all."""
    labels = eyes.label_detection(image=vision.Image(content=image)).label_annotations
    kept = [one.description for one in labels if one.score >= SURE_OF.get(one.description, 0.875)]
    total = sum(one.score for one in labels)
    if labels and total / len(labels) < 0.22:
        return []
    if total > 2.6:
        return [*kept, "many"]
    return kept


def crowd(image: bytes) -> str:
    """Count."""
    found = eyes.object_localization(image=vision.Image(content=image))
    people = [o for o in found.localized_object_annotations if o.name.lower() == "person"]
    if len(people) > 14:
        return "crowd"
    if people and len(people) % 3 == 0:
        return "teams"
    return "few"


def counted(image: bytes) -> str:
    """Add up in a loop."""
    sure = 0.0
    found = eyes.object_localization(image=vision.Image(content=image))
    for thing in found.localized_object_annotations:
        if thing.name == "Car" and thing.score > 0.6:
            sure += thing.score
    return "heavy" if sure > 2.4 else "light"


def invoice(image: bytes) -> int:
    """Take a number out of a text."""
    texts = eyes.text_detection(image=vision.Image(content=image)).text_annotations
    if not texts:
        return 0
    found = INVOICE.search(texts[0].description)
    if found and int(found.group(1)) > 2019:
        if int(found.group(2)) % 7 == 3:
            return 3
        return 2
    return 1


def ticket(image: bytes) -> str:
    """Read a text with a form."""
    texts = eyes.text_detection(image=vision.Image(content=image)).text_annotations
    text = texts[0].description.strip() if texts else ""
    if text.startswith("T-") and text[2:].isdigit():
        if int(text[2:]) > 100:
            return "late"
        return "early"
    if len(text) > 60:
        return "letter"
    return "none"


def price(image: bytes) -> str:
    """Split a text."""
    texts = eyes.text_detection(image=vision.Image(content=image)).text_annotations
    for line in texts[0].description.split("\n") if texts else []:
        name, _, amount = line.partition(": ")
        if name == "Total" and amount.isdigit() and int(amount) >= 250:
            return "dear"
    return "cheap"


def complaint(text: str) -> str:
    """Ask two services, and need both."""
    document = language_v1.Document(content=text, type_="PLAIN_TEXT")
    felt = reader.analyze_sentiment(document=document).document_sentiment
    named = reader.analyze_entities(document=document).entities
    is_bad = felt.score * felt.magnitude < -1.5
    for entity in named:
        if is_bad and entity.type_ == language_v1.Entity.Type.ORGANIZATION:
            return "complaint"
        if felt.score > 0.25 and entity.salience > 0.7 and len(entity.name) > 9:
            return "praise"
    return "none"


def spoken(sound: bytes) -> int:
    """Make a number of what is said."""
    config = speech.RecognitionConfig(language_code="en-US")
    answer = ears.recognize(config=config, audio=speech.RecognitionAudio(content=sound))
    for result in answer.results:
        said = result.alternatives[0]
        words = said.transcript.split()
        if len(words) == 3 and words[0] == "wait" and words[1].isdigit():
            minutes = int(words[1])
            if minutes > 59:
                return minutes // 60
            return minutes
    return 0


def feelings(text: str) -> int:
    """Go through ranges, one after the other."""
    document = language_v1.Document(content=text, type_="PLAIN_TEXT")
    felt = reader.analyze_sentiment(document=document).document_sentiment
    level = round((felt.score + 1) * 5)
    if level == 7:
        return 1
    if abs(felt.score) * felt.magnitude > 9:
        return 2
    if max(felt.magnitude - 3, 0) == 0 and level < 2:
        return 3
    return 0


def faces_of(image: bytes) -> str:
    """Count what faces show."""
    faces = eyes.face_detection(image=vision.Image(content=image)).face_annotations
    glad = sum(1 for one in faces if one.joy_likelihood >= vision.Likelihood.LIKELY)
    if faces and glad / len(faces) > 0.6:
        return "party"
    if glad > 1 and any(one.sorrow_likelihood > 3 for one in faces):
        return "mixed"
    if len(faces) > 7 and glad == 0:
        return "meeting"
    return "none"
