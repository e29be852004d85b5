"""Reproducer scripts of an application's failures."""

from __future__ import annotations

import base64
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from ciguard.domain.app_runs import AppCase, Aspect
from ciguard.domain.findings import Finding, Severity
from ciguard.domain.outcomes import Crashed, Errored, Hung
from ciguard.levels.app.exploration.answers import refusals_of
from ciguard.levels.app.providers.registered import known_providers
from ciguard.triage import EnvironmentHint, script

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.outcomes import Outcome

CALL: dict[str, Any] = {
    "module": "can",
    "function": "Can.look",
    "arguments": {
        "path": {"value": "{folder}/files/image.png"},
        "folder": {"path": "{folder}/files"},
        "names": {"several": [{"value": "it's \n # a name"}]},
        "data": {"base64": "AAEC"},
        "event": {"value": {"Records": [{"body": "it's \n # one"}]}},
        "key": {"fields": {"key": {"stored": {"name": "a.png", "base64": "AAEC"}}}},
    },
    "files": {"files/image.png": base64.b64encode(b"image").decode()},
    "answers": {"label_detection": {"answer": {"label_annotations": [{"description": "Dog"}]}}},
    "providers": ["google"],
    "refused": False,
}
OF_AWS: dict[str, Any] = {
    "module": "eye",
    "function": "first",
    "arguments": {"image": {"fields": {"Bytes": {"base64": "AAEC"}}}},
    "files": {},
    "answers": {"detect_labels": {"answer": {"Labels": []}}},
    "providers": ["aws"],
    "refused": False,
}
EYE = """
import boto3

def first(image):
    return boto3.client("rekognition").detect_labels(Image=image)["Labels"][0]
"""
MADE_EYE = """
class Eye:
    def __init__(self, eyes, sent, api_key):
        self.eyes, self.image = eyes, sent.read()
        print(sent.filename, self.image, api_key)

    def first(self, at):
        return self.eyes.detect_labels(Image={"Bytes": self.image})["Labels"][at]
"""
WEB_EYE = """
import boto3
import flask

def view():
    cloud(flask.request)

def cloud(request):
    file, at = request.files["it's"], int(request.form["at"])
    content = file.read()
    print(request.method, file.filename, content, at)
    return boto3.client("rekognition").detect_labels(Image={"Bytes": content})["Labels"][at]
"""
PROGRAM = """
import sys
import boto3
from helper import NUMBER

print(__name__, sys.argv[0])
content = open(sys.argv[1], "rb").read()
print(boto3.client("rekognition").detect_labels(Image={"Bytes": content})["Labels"][NUMBER])
"""
CASE = AppCase(
    api="app/can.py:can.Can.look", file="app/can.py", root="app", aspect=Aspect.ANSWER, call=CALL
)
APPLICATION = """
from google.cloud import vision

class Can:
    def look(self, path, folder, names, data, event, key):
        labels = vision.ImageAnnotatorClient().label_detection(image={"content": data})
        said = [one.description for one in labels.label_annotations]
        files = [one.name for one in folder.iterdir()]
        seen = (open(path, "rb").read(), files, names, data, event, key)
        print(said, seen)
        raise KeyError("odd")
"""


STRANGE = """
import os
import time

def waits():
    while True:
        time.sleep(0.01)

def leaves():
    os._exit(0)
"""


def script_of(case: AppCase, outcome: Outcome | None = None) -> str:
    finding = Finding(
        oracle="application",
        kind="crash",
        severity=Severity.HIGH,
        library="google-cloud-vision",
        api=case.api,
        case=case,
        outcomes={"current": outcome or Errored("KeyError", 'app/can.py:5: x\n"""; import os')},
        targets=("current",),
        message="can.look: KeyError\nimport os; os.abort()",
    )
    return script(finding, environment_hint=EnvironmentHint(install=("google-cloud-vision",)))


def ran(
    folder: Path, case: AppCase, application: str, outcome: Outcome | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the script of a case beside its application, and return how that ended."""
    file = folder / case.file
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(application, "utf-8")
    (folder / "script.py").write_text(script_of(case, outcome), "utf-8")
    return subprocess.run(
        [sys.executable, "script.py"],
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_script_answers_a_client_of_another_provider_too(tmp_path: Path) -> None:
    case = replace(CASE, api="app/eye.py:eye.first", file="app/eye.py", call=OF_AWS)

    done = ran(tmp_path, case, EYE)

    assert done.stderr.splitlines()[-1] == "IndexError: list index out of range"


def test_script_calls_with_the_files_and_answers_of_the_case(tmp_path: Path) -> None:
    done = ran(tmp_path, CASE, APPLICATION)

    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == "KeyError: 'odd'"
    seen = """['Dog'] (b'image', ['image.png'], ["it's \\n # a name"], b'\\x00\\x01\\x02', """
    seen += """{'Records': [{'body': "it's \\n # one"}]}, {'key': 'a.png'})"""
    assert done.stdout.splitlines() == [seen]


def test_script_repeats_a_refusal(tmp_path: Path) -> None:
    (labels,) = known_providers()[1].operations("detect_labels")
    refusal = next(refusal for refusal in refusals_of(labels) if refusal.depends_on_content)
    call = {**OF_AWS, "answers": {"detect_labels": refusal.to_json()}}
    case = replace(CASE, api="app/eye.py:eye.first", file="app/eye.py", call=call)

    done = ran(tmp_path, case, EYE)

    assert "InvalidImageFormatException" in done.stderr.splitlines()[-1]


def test_script_creates_an_object_and_its_client(tmp_path: Path) -> None:
    eyes = {"client": {"provider": "aws", "name": "rekognition"}}
    sent = {"upload": {"base64": "AAEC", "name": "a.png", "is_awaited": False}}
    named = {"eyes": eyes, "sent": sent, "api_key": {"made_up": "it's secret"}}
    made = {"object": {"of": "Eye", "named": named}}
    call = {**OF_AWS, "function": "Eye.first", "arguments": {"self": made, "at": {"value": 0}}}
    case = replace(CASE, api="app/eye.py:eye.Eye.first", file="app/eye.py", call=call)

    done = ran(tmp_path, case, MADE_EYE)

    assert done.stdout.splitlines() == [r"a.png b'\x00\x01\x02' it's secret"]
    assert done.stderr.splitlines()[-1] == "IndexError: list index out of range"


def test_script_passes_a_web_request(tmp_path: Path) -> None:
    sent = {"upload": {"base64": "AAEC", "name": "a.png", "is_awaited": False}}
    parts = {"files": {"it's": sent}, "form": {"at": {"value": "0"}}}
    for function, is_passed in (("view", False), ("cloud", True)):
        request = {"request": {"is_passed": is_passed, "parts": parts}}
        call = {**OF_AWS, "function": function, "arguments": {"request": request}}
        positional = ["request"] if is_passed else []
        call["positional"] = positional
        api = f"app/eye.py:eye.{function}"
        case = replace(CASE, api=api, file="app/eye.py", call=call)

        done = ran(tmp_path / function, case, WEB_EYE)

        assert done.stdout.splitlines() == [r"POST a.png b'\x00\x01\x02' 0"]
        assert done.stderr.splitlines()[-1] == "IndexError: list index out of range"


def test_script_runs_a_program(tmp_path: Path) -> None:
    arguments = {"argv": {"argv": "{folder}/a.png"}}
    files = {"a.png": "AAEC"}
    changed = {"module": "tools.v1.2", "function": "<module>", "arguments": arguments}
    call = {**OF_AWS, **changed, "files": files}
    file = "app/tools/v1.2.py"
    case = replace(CASE, api=f"{file}:tools.v1.2.<module>", file=file, call=call)
    (tmp_path / "app" / "tools").mkdir(parents=True)
    (tmp_path / "app" / "tools" / "helper.py").write_text("NUMBER = 0")

    done = ran(tmp_path, case, PROGRAM)

    assert done.stdout.splitlines() == ["__main__ tools/v1.2.py"]
    assert done.stderr.splitlines()[-1] == "IndexError: list index out of range"


@pytest.mark.parametrize(
    ("function", "outcome", "code", "says"),
    [
        ("waits", Hung(1.0), 1, "Timeout (0:00:01)!"),
        (
            "leaves",
            Crashed("exit"),
            0,
            "Calling. If no output follows, the call has ended the process.",
        ),
    ],
)
def test_script_shows_a_call_that_does_not_return(
    tmp_path: Path, function: str, outcome: Outcome, code: int, says: str
) -> None:
    call = {**OF_AWS, "module": "odd", "function": function, "arguments": {}}
    case = replace(CASE, api=f"app/odd.py:odd.{function}", file="app/odd.py", call=call)

    done = ran(tmp_path, case, STRANGE, outcome)

    assert done.returncode == code
    assert (done.stdout + done.stderr).splitlines()[0] == says
    assert "did not show" not in done.stdout
    assert outcome == Crashed("exit") or f"in {function}" in done.stderr


def test_case_without_a_call_has_no_script() -> None:
    with pytest.raises(ValueError, match="this case is not a call of a function"):
        script_of(replace(CASE, call=None))
