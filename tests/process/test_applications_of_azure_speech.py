"""Applications of the real client of Azure Speech: exploration and accuracy."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from running_applications import assessed, explored, failures, never, written

if TYPE_CHECKING:
    from pathlib import Path

CLIENT = """
import json
import wave

import azure.cognitiveservices.speech as speechsdk
from azure.cognitiveservices.speech import ResultReason

config = speechsdk.SpeechConfig(subscription="key", region="westus")

def recognizer_of(path):
    audio = speechsdk.audio.AudioConfig(filename=path)
    return speechsdk.SpeechRecognizer(speech_config=config, audio_config=audio)
"""
EVERYTHING = (
    CLIENT
    + """
def light(path):
    result = recognizer_of(path).recognize_once()
    if result.reason == ResultReason.RecognizedSpeech:
        if "light" in result.text.lower():
            return "on"
        if result.text == "stop":  # it is displayed as a sentence
            return "off"
        if json.loads(result.json)["DisplayText"] == "Help.":
            return "help"
    elif result.reason == ResultReason.NoMatch:
        return str(result.no_match_details.reason)
    elif result.reason == ResultReason.Canceled:
        details = result.cancellation_details
        if details.code == speechsdk.CancellationErrorCode.TooManyRequests:
            return details.error_details + str(result)

def later(path):
    said = recognizer_of(path).recognize_once_async().get()
    if said.text.startswith("Call"):
        return said.result_id
    if said.duration > 10_000_000:  # the sound that is given is shorter
        return said.offset

def sure(path):
    in_detail = speechsdk.SpeechConfig(subscription="key", region="westus")
    in_detail.output_format = speechsdk.OutputFormat.Detailed
    audio = speechsdk.audio.AudioConfig(filename=path)
    result = speechsdk.SpeechRecognizer(in_detail, audio).recognize_once()
    if result.reason == ResultReason.RecognizedSpeech:
        best = json.loads(result.json)["NBest"][0]
        if best["Confidence"] > 0.7 and best["Lexical"] == "help":
            return True

def all_of_it(path):
    recognizer, said = recognizer_of(path), []
    while True:
        result = recognizer.recognize_once()
        if result.reason != ResultReason.RecognizedSpeech:
            break
        said.append(result.text)
    if "Stop." in said:
        return len(said)

def pushed(path):
    stream = speechsdk.audio.PushAudioInputStream()
    with wave.open(path) as sound:
        stream.write(sound.readframes(sound.getnframes()))
    stream.close()
    audio = speechsdk.audio.AudioConfig(stream=stream)
    recognizer = speechsdk.SpeechRecognizer(config, audio)
    if recognizer.recognize_once().text == "Yes.":
        return True

class Samples(speechsdk.audio.PullAudioInputStreamCallback):
    left = 10

    def read(self, buffer):
        self.left -= 1
        return len(buffer) if self.left >= 0 else 0

def pulled():
    stream = speechsdk.audio.PullAudioInputStream(Samples())
    audio = speechsdk.audio.AudioConfig(stream=stream)
    if speechsdk.SpeechRecognizer(config, audio).recognize_once().text == "No.":
        return True
"""
)


def test_exploration_reaches_every_outcome_of_answers(tmp_path: Path) -> None:
    results = explored(written(tmp_path, EVERYTHING))

    found = ("light", "later", "sure", "all_of_it", "pushed", "pulled")
    problems = {name: result.problem for name, result in results.items() if name in found}
    assert problems == dict.fromkeys(found, "")
    assert never(results) == {
        ("light", "result.text == 'stop'", True),
        ("light", "result.reason == ResultReason.Canceled", False),
        ("light", "details.code == speechsdk.CancellationErrorCode.TooManyRequests", False),
        ("later", "said.duration > 10000000", True),
    }
    assert not failures(results)


def test_refusal_of_speech_is_a_result_and_no_exception(tmp_path: Path) -> None:
    text = """
def first(path):
    return recognizer_of(path).recognize_once().text.split()[0]

def quoted(path):
    result = recognizer_of(path).recognize_once()
    if result.reason == ResultReason.Canceled:
        return {}["no second try"]
"""

    results = explored(written(tmp_path, CLIENT + text))

    assert failures(results) == {"first": {"IndexError"}, "quoted": {"KeyError"}}


def test_microphones_callbacks_and_other_services_are_refused(tmp_path: Path) -> None:
    text = """
voice = speechsdk.SpeechSynthesizer(config)

def spoken():
    return speechsdk.SpeechRecognizer(speech_config=config).recognize_once().text

def named():
    audio = speechsdk.audio.AudioConfig(device_name="hw:1")
    return speechsdk.SpeechRecognizer(config, audio).recognize_once_async().get().text

def going_on(path):
    recognizer = recognizer_of(path)
    recognizer.recognized.connect(print)
    recognizer.start_continuous_recognition()
    return recognizer.recognize_once()

def echo(path):
    return voice.speak_text(recognizer_of(path).recognize_once().text)
"""

    results = explored(written(tmp_path, CLIENT + text))

    unanswered = {
        "spoken": "recognize_once of a microphone",
        "named": "recognize_once_async of a microphone",
        "going_on": "start_continuous_recognition (it reports by callback)",
        "echo": "SpeechSynthesizer.speak_text",
    }
    assert {name: result.problem for name, result in results.items()} == {
        name: f"it uses azure {what}, for which ciguard has no stub responses"
        for name, what in unanswered.items()
    }


TRIED = (
    CLIENT
    + """
def stop(path):
    result = recognizer_of(path).recognize_once()
    if result.reason == ResultReason.RecognizedSpeech:
        if "please stop" in result.text.lower():
            return True
"""
)


@pytest.mark.slow
def test_functions_are_assessed_on_speech_recorded_and_replayed(tmp_path: Path) -> None:
    app = written(tmp_path / "app", TRIED)
    record = tmp_path / "recording.jsonl"

    (result,) = assessed(app, record=record, inputs=24).values()
    (again,) = assessed(app, replay=record, inputs=24).values()

    verdict = next(verdict for verdict in result.verdicts if "stop" in verdict.goal.text)
    assert (verdict.engine, verdict.is_failure) == ("PocketSphinx", False)
    lines = [json.loads(line) for line in record.read_text().splitlines()]
    assert {line["operation"] for line in lines} == {"recognize_once"}
    assert [verdict.claim for verdict in again.verdicts] == [
        verdict.claim for verdict in result.verdicts
    ]


OBSERVING = '''
import json, sys, wave

import azure.cognitiveservices.speech as speechsdk

from ciguard.levels.app.providers.azure.in_target import speech as azure_speech

class Said(speechsdk.SpeechRecognitionResult):
    """Stands for what the service says: it speaks a protocol of its own."""

    __init__ = lambda self, reason, text="": vars(self).update(told=(reason, text))
    reason = property(lambda self: self.told[0])
    text = property(lambda self: self.told[1])
    json = '{"NBest": [{"Confidence": 0.9, "Display": "Stop."}]}'
    offset, duration = 10, 20
    cancellation_details = azure_speech._cancellation_details(
        speechsdk, "Error", "Forbidden", "no quota"
    )

reasons = speechsdk.ResultReason
said = [Said(reasons.RecognizedSpeech, "Stop."), Said(reasons.NoMatch), Said(reasons.Canceled)]
speechsdk.SpeechRecognizer.recognize_once = lambda self: said.pop(0)
heard = []
azure_speech.observe(lambda *told: heard.append(told))
with wave.open(sys.argv[1], "wb") as sound:
    sound.setparams((1, 2, 16000, 0, "NONE", ""))
    sound.writeframes(b"ab" * 100)
config = speechsdk.SpeechConfig(subscription="key", region="westus")
for _ in range(3):
    audio = speechsdk.audio.AudioConfig(filename=sys.argv[1])
    speechsdk.SpeechRecognizer(config, audio).recognize_once()
with open(sys.argv[1], "rb") as file:
    content = file.read()
assert [one[:2] for one in heard] == [("recognize_once", content)] * 3
print(json.dumps([one[2] for one in heard]))
'''


def test_replies_of_the_real_service_are_observed(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", OBSERVING, str(tmp_path / "sound.wav")],
        capture_output=True,
        check=True,
        timeout=60,
    )

    best = [{"confidence": 0.9, "display": "Stop."}]
    times = {"offset": 10, "duration": 20}
    assert json.loads(done.stdout) == [
        {"answer": {**times, "text": "Stop.", "n_best": best}},
        {"answer": {**times, "text": ""}},
        {"error": {"code": "Forbidden", "message": "no quota"}},
    ]
