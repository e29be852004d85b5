"""An application whose conditions no list of plain answers of AWS and Azure turns.

Explored, never imported by tests, like `asking_application.py`.
"""

from __future__ import annotations

import io
import re
from typing import Any

import azure.cognitiveservices.speech as speechsdk
import boto3
from azure.ai.textanalytics import TextAnalyticsClient
from azure.ai.vision.imageanalysis import ImageAnalysisClient
from azure.ai.vision.imageanalysis.models import VisualFeatures
from azure.cognitiveservices.vision.computervision import ComputerVisionClient
from azure.cognitiveservices.vision.face import FaceClient
from azure.core.credentials import AzureKeyCredential
from msrest.authentication import CognitiveServicesCredentials

HOST = "https://example.cognitiveservices.azure.com"
PLATE = re.compile(r"([A-Z]{2})-(\d{3})")

eyes = boto3.client("rekognition", region_name="us-east-1")
reader = boto3.client("comprehend", region_name="us-east-1")
critic = TextAnalyticsClient(HOST, AzureKeyCredential("key"))
camera: Any = ComputerVisionClient(HOST, CognitiveServicesCredentials("key"))  # type: ignore[no-untyped-call]
portraitist: Any = FaceClient(HOST, CognitiveServicesCredentials("key"))  # type: ignore[no-untyped-call]
dictation: Any = speechsdk.SpeechConfig(subscription="key", region="westeurope")
analyst: Any = ImageAnalysisClient(HOST, AzureKeyCredential("key"))


def winner(image: bytes) -> str:
    """Compare scores, which are percent, with each other."""
    labels = eyes.detect_labels(Image={"Bytes": image}, MinConfidence=10)["Labels"]
    if len(labels) >= 2 and labels[0]["Confidence"] - labels[1]["Confidence"] > 37.5:
        return str(labels[0]["Name"])
    if sum(label["Confidence"] for label in labels) > 412:
        return "crowded"
    return "tie"


def plate(image: bytes) -> int:
    """Take a number out of a text."""
    for text in eyes.detect_text(Image={"Bytes": image})["TextDetections"]:
        found = PLATE.fullmatch(text["DetectedText"])
        if text["Type"] == "LINE" and found:
            if int(found.group(2)) % 9 == 4:
                return 2
            return 1
    return 0


def guests(image: bytes) -> str:
    """Count faces by what they show."""
    faces = eyes.detect_faces(Image={"Bytes": image}, Attributes=["ALL"])["FaceDetails"]
    glad = [f for f in faces if f["Smile"]["Value"] and f["Smile"]["Confidence"] > 80]
    if faces and len(glad) / len(faces) > 0.7:
        return "party"
    if any(f["AgeRange"]["High"] < 10 and f["Gender"]["Value"] == "Female" for f in faces):
        return "girl"
    for face in faces:
        first, second = face["Emotions"][:2]
        if first["Type"] == "FEAR" and second["Type"] == "SAD" and second["Confidence"] > 22:
            return "alarm"
    return "none"


def verdict(text: str) -> str:
    """Weigh shares of feelings against each other."""
    felt = reader.detect_sentiment(Text=text, LanguageCode="en")
    shares = felt["SentimentScore"]
    if abs(shares["Positive"] - shares["Negative"]) < 0.04 and shares["Mixed"] > 0.55:
        return "torn"
    if felt["Sentiment"] == "NEUTRAL" and shares["Neutral"] * 100 < 45:
        return "faint"
    return "clear"


def parties(text: str) -> int:
    """Ask two services, and need both."""
    named = reader.detect_entities(Text=text, LanguageCode="en")["Entities"]
    spoken = reader.detect_dominant_language(Text=text)["Languages"]
    count = 0
    for entity in named:
        if entity["Type"] == "ORGANIZATION" and entity["Text"].endswith(" Ltd"):
            count += 1
    if count > 2 and spoken[0]["LanguageCode"].startswith("pt"):
        return count
    return 0


def review(text: str) -> str:
    """Weigh what a client of Azure answers about one document."""
    felt = critic.analyze_sentiment([text])[0]
    if felt.is_error:
        return "?"
    scores = felt.confidence_scores
    if felt.sentiment == "positive" and scores.positive - scores.neutral < 0.06:
        return "lukewarm"
    if scores.negative * 2 > scores.positive + 1.2:
        return "angry"
    return "plain"


def places(text: str) -> int:
    """Count entities of a category."""
    (named,) = critic.recognize_entities([text])
    if named.is_error:
        return -1
    found = [e for e in named.entities if e.category == "Location" and e.confidence_score < 0.35]
    if len(found) % 5 == 4:
        return 4
    return len(found)


def album(image_url: str) -> str:
    """Compare tags, which are in small letters, by what is computed of them."""
    tags = camera.tag_image(image_url).tags
    best = max((tag.confidence for tag in tags), default=0.0)
    if len(tags) > 3 and best < 0.41:
        return "vague"
    if any(tag.name.endswith("dog") and len(tag.name) > 5 for tag in tags):
        return "dog"
    return "other"


def shelf(image_url: str) -> str:
    """Ask for several things at once, of which tags are one."""
    found = analyst.analyze_from_url(image_url, [VisualFeatures.TAGS])
    total = 0.0
    for tag in found.tags.list:
        if tag.name == "book":
            total += tag.confidence
    return "library" if total > 1.7 else "shelf"


def portrait(image: bytes) -> str:
    """Weigh what a face shows, and how large it is, against each other and another face."""
    wanted = ["emotion", "headPose", "age"]
    people = portraitist.face.detect_with_stream(io.BytesIO(image), return_face_attributes=wanted)
    for person in people:
        felt = person.face_attributes.emotion
        if felt.fear + felt.disgust > 0.6 and felt.contempt > 0.25:
            return "retake"
    if len(people) == 2 and people[0].face_rectangle.width > 3 * people[1].face_rectangle.width:
        return "unlike"
    if people and abs(people[0].face_attributes.head_pose.yaw) < people[0].face_attributes.age - 62:
        return "dignified"
    return "portrait"


def order(path: str) -> int:
    """Take a number out of a sentence, which Azure ends with a point."""
    audio = speechsdk.audio.AudioConfig(filename=path)
    listener = speechsdk.SpeechRecognizer(speech_config=dictation, audio_config=audio)
    said = listener.recognize_once_async().get()
    found = re.fullmatch(r"Send (\d+) boxes to (\w+)[.!]", said.text)
    if found and found.group(2).startswith("Ber"):
        return int(found.group(1))
    words = said.text.split()
    if len(words) > 4 and words[3] == "later":
        return -1
    return 0
