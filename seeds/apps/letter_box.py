"""Tells the people of a house when the camera in their letter box sees mail."""

import smtplib
from email.message import EmailMessage
from pathlib import Path

from google.cloud import vision


def mail_in(path: str) -> str | None:
    """Return what lies in the box, the surest first; nothing if it is empty."""
    client = vision.ImageAnnotatorClient()
    image = vision.Image(content=Path(path).read_bytes())
    objects = client.object_localization(image=image).localized_object_annotations
    for thing in sorted(objects, key=lambda one: one.score, reverse=True):
        if thing.name == "Envelope":
            return "a letter"
        if thing.name == "Box" or thing.name == "Packaged goods":
            return "a parcel"
    return None


def message_about(path: str) -> EmailMessage | None:
    """Return the message to send for a picture; nothing if there is no need."""
    mail = mail_in(path)
    if mail is None:
        return None
    message = EmailMessage()
    message["Subject"] = f"There is {mail} for you"
    message["From"] = message["To"] = "house@localhost"
    message.set_content(f"The letter box holds {mail}.")
    return message


def notify(path: str, server: smtplib.SMTP) -> bool:
    """Send a message if a picture is worth one; tell whether it is."""
    message = message_about(path)
    if message is not None:
        server.send_message(message)
    return message is not None
