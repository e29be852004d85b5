"""Output of `ciguard app services`, `explore` and `accuracy` on an application."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_server import answer
from image_server import ImageServer, photos
from published_schemas import schema_violations
from snapshot import assert_matches

CAN = """
from google.cloud import vision

client = vision.ImageAnnotatorClient()


def labels_of(path):
    with open(path, "rb") as file:
        image = vision.Image(content=file.read())
    response = client.label_detection(image=image)
    return [one.description.lower() for one in response.label_annotations]


def smart_can(path):
    for label in labels_of(path):
        if label == "food":
            return "organic"
        if label == "paper" or "aluminum":
            return "recyclable"
    return "rest"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "can.py").write_text(CAN)
    (tmp_path / "labels.txt").write_text("Fast food\nPaper\nFoot\n")
    (tmp_path / "old.py").write_text('print "hello"\n')
    (tmp_path / "wi\x1bld.py").write_text("import boto3\nboto3.client('comprehend').detect_x()\n")
    return tmp_path


def services(
    folder: Path, *words: str, command: str = "services"
) -> subprocess.CompletedProcess[str]:
    return answer(command, *words, folder=folder)


def test_services_prints_calls_and_dependent_branches(project: Path) -> None:
    done = services(project, ".", "--labels", "labels.txt")
    assert_matches("services", f"{done.returncode}\n{done.stdout}{done.stderr}", folder=project)


def test_services_writes_patches_of_dead_conditions(project: Path) -> None:
    (project / "labels.txt").write_text("Fast food\nPaper\nFoot\nAluminum\n")
    words = ["can.py", "--labels", "labels.txt"]

    done = services(project, *words, "--patches", "fixes")

    warned = done.stdout[done.stdout.index("can.py:16: warning") :]
    shown = f"{done.returncode}\n{warned}{(project / 'fixes/all.patch').read_text()}"
    assert_matches("services-patches", shown, folder=project)
    for patch in ("001.patch", "002.patch"):
        command = ["git", "apply", "--check", f"fixes/{patch}"]
        assert subprocess.run(command, cwd=project, check=False).returncode == 0
    command = ["git", "apply", "fixes/all.patch"]
    subprocess.run(command, cwd=project, check=True)
    assert "warning" not in services(project, *words).stdout


def test_services_prints_valid_json(project: Path) -> None:
    done = services(project, ".", "--json")

    report = json.loads(done.stdout)
    assert schema_violations("services", report) == []
    assert [function["name"] for function in report["functions"]] == [
        "can.labels_of",
        "can.smart_can",
    ]
    can = report["functions"][1]
    assert can["calls"][0]["through"] == ["can.labels_of"]
    assert can["calls"][0]["task"] == "labels"
    assert [branch["condition"] for branch in can["branches"]][1] == "label == 'food'"
    assert [condition["goal"] for condition in report["dead"]] == ["'aluminum'"]
    assert report["unread"][0]["file"] == "old.py"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["nowhere"], "nowhere: not found"),
        (["empty"], "empty contains no Python file"),
        ([".", "--provider", "own.toml"], "own.toml: name is missing"),
        ([".", "--provider", "none.toml"], "none.toml cannot be read"),
        ([".", "--labels", "none.txt"], "none.txt cannot be read"),
    ],
)
def test_services_reports_invalid_arguments_with_exit_code_2(
    project: Path, words: list[str], message: str
) -> None:
    (project / "empty").mkdir()
    (project / "own.toml").write_text("x = 1\n")

    done = services(project, *words)

    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


READER = """
from google.cloud import vision


def total(path):
    client = vision.ImageAnnotatorClient()
    with open(path, "rb") as file:
        image = vision.Image(content=file.read())
    text = client.text_detection(image=image).text_annotations
    if text[0].description.startswith("x") or text[0].description == "Total":
        return 1
    return 0


def everything(path):
    total(path)
    vision.ImageAnnotatorClient().web_detection(image=vision.Image())
"""


def test_explore_prints_reached_outcomes_and_failures(tmp_path: Path) -> None:
    (tmp_path / "reader.py").write_text(READER)

    done = services(tmp_path, ".", command="explore")

    plain = re.sub(r"\d+\.\d s", "<seconds> s", done.stdout)
    assert_matches("explore", f"{done.returncode}\n{plain}{done.stderr}", folder=tmp_path)


WRITING = """
from google.cloud import vision

with open({path!r}, "w") as file:
    file.write("")


def first(image):
    client = vision.ImageAnnotatorClient()
    labels = client.label_detection(image=vision.Image(content=image)).label_annotations
    return bool(labels and labels[0].score > 0.5)
"""


def test_application_refused_by_confinement_is_reported_and_runs_unconfined(
    tmp_path: Path,
) -> None:
    (tmp_path / "app").mkdir()
    outside = tmp_path / "cache.txt"  # in its own folder, an application may write: in a mirror
    (tmp_path / "app" / "writing.py").write_text(WRITING.format(path=str(outside)), "utf-8")

    confined = services(tmp_path / "app", ".", command="explore")
    assert not outside.exists()
    services(tmp_path / "app", ".", "--unconfined", command="explore")

    # The message may be wrapped anywhere.
    refusal = f"Permissiondenied:'{outside}'(ciguardconfinesapplications,seedocs/levels/app.md)"
    assert refusal in "".join(confined.stdout.split())
    assert outside.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ([".", "--function", "nothing.*"], "no function that matches nothing.* calls a service"),
        ([".", "--python", "/nowhere/python"], "/nowhere/python"),
        ([".", "--seconds", "0"], "--seconds"),
    ],
)
def test_explore_reports_invalid_arguments_with_exit_code_2(
    project: Path, words: list[str], message: str
) -> None:
    done = services(project, *words, command="explore")

    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


ALARM = """
from google.cloud import vision


def alarm(path: str) -> bool:
    client = vision.ImageAnnotatorClient()
    with open(path, "rb") as file:
        labels = client.label_detection(image=vision.Image(content=file.read())).label_annotations
    if labels[0].description == "Vehicle":
        return True
    return False
"""
HABITS = "[labels]\nVehicle = { Car = 0.9, '<b>Truck</b>' = 0.8, Vehicle = 0.05 }\n"


@pytest.fixture
def alarm(tmp_path: Path) -> Path:
    (tmp_path / "alarm.py").write_text(ALARM)
    (tmp_path / "habits.toml").write_text(HABITS)
    return tmp_path


def test_accuracy_reports_missed_inputs_as_text_and_page(alarm: Path) -> None:
    words = [".", "--habits", "habits.toml", "--report", "page.html", "--patches", "patches"]
    done = services(alarm, *words, command="accuracy")

    assert done.returncode == 1, done.stderr  # an empty list of labels is a crash
    assert "alarm.py:9: error: IndexError: list index out of range" in done.stdout
    assert "alarm.py:9: warning: labels[0].description == 'Vehicle': true for" in done.stdout
    assert "answers were simulated" in done.stdout
    assert 'If line 9 also checked "Car"' in done.stdout
    patch = (alarm / "patches" / "001.patch").read_text()
    assert "+    if labels[0].description in (\"Vehicle\", 'Car'" in patch
    page = (alarm / "page.html").read_text()
    assert "1 of 1 sub-conditions fail, 1 crash<" in page
    assert "data:image/png;base64," in page
    assert "&lt;b&gt;Truck" in page
    assert "<b>Truck" not in page


def test_github_option_annotates_the_line(alarm: Path) -> None:
    shown = {
        command: services(alarm, ".", "--github", *words, command=command).stdout.splitlines()
        for command, words in (
            ("accuracy", ["--habits", "habits.toml"]),
            ("explore", []),
            ("services", ["--labels", "habits.toml"]),
        )
    }

    for lines in shown.values():
        token = lines[0].removeprefix("::stop-commands::")
        assert len(token) == 32
        stop = lines.index(f"::{token}::")
        assert not any(line.startswith("::") for line in lines[1:stop])
        assert all(line.startswith("::") for line in lines[stop:])
    assert any(
        line.startswith("::error file=alarm.py,line=9,title=Fails on an answer::IndexError")
        for line in shown["explore"]
    )
    assert any(
        line.startswith("::warning file=alarm.py,line=9,title=Low accuracy::labels[0].description")
        for line in shown["accuracy"]
    )
    assert any(
        line.startswith("::warning file=alarm.py,line=9,title=Dead condition::")
        for line in shown["services"]
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--images", "nowhere"], "nowhere: folder not found"),
        (["--texts", "alarm.py"], "alarm.py lacks the column `feeling`"),
        (["--habits", "alarm.py"], "alarm.py cannot be read as a confusion matrix"),
        (["--replay", "nothing.jsonl"], "nothing.jsonl"),
        (["--replay", "x", "--service", "real"], "--replay x contradicts --service real"),
        (["--faults", "x", "--service", "real"], "cannot be combined with --service real"),
        (["--faults", "nothing.toml"], "nothing.toml cannot be read as a list of faults"),
        (["--relations", "nowhere"], "nowhere"),
        (["--alpha", "1.5"], "--alpha"),
        (["--search", "google"], "'openverse', 'wikimedia'"),
        (["--search", "openverse", "--search-url", "ftp://x/"], "--search-url ftp://x/"),
        (["--search-url", "https://x/"], "have no effect without --search"),
        (["--cache", "kept"], "have no effect without --search"),
        (["--search", "openverse", "--cache", "alarm.py"], "--cache"),
        (["--report", "alarm.py/page.html"], "cannot be written"),
        (["--patches", "alarm.py"], "--patches"),
    ],
)
def test_accuracy_reports_invalid_arguments_with_exit_code_2(
    alarm: Path, words: list[str], message: str
) -> None:
    done = services(alarm, ".", *words, command="accuracy")

    assert done.returncode == 2, done.stdout
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_accuracy_searches_images_on_request_and_caches_them(alarm: Path) -> None:
    with ImageServer(photos(8)) as server:
        search = ["--search", "openverse", "--search-url", server.openverse, "--cache", "kept"]
        without_search = services(alarm, ".", command="accuracy")
        before_search = list(server.asked)
        done = services(alarm, ".", *search, "--inputs", "12", command="accuracy")
        asked = len(server.asked)
        again = services(alarm, ".", *search, "--inputs", "12", command="accuracy")

    assert before_search == []
    assert asked == len(server.asked) == 7  # results, and half of twelve images
    assert server.searches()[0].query["q"] == "vehicle"
    assert f"images found: {Path('kept')}" in done.stdout
    assert "kept" not in without_search.stdout
    assert without_search.returncode == done.returncode == again.returncode == 1
    images = services(alarm, ".", "--images", "kept", command="accuracy")
    assert images.returncode == 1
    assert len(list((alarm / "kept" / "vehicle").iterdir())) == 6


def test_accuracy_reports_a_failed_search_and_continues(alarm: Path) -> None:
    with ImageServer() as ended:
        address = ended.openverse
    search = ["--search", "wikimedia", "--search-url", address, "--cache", "kept"]

    done = services(alarm, ".", *search, command="accuracy")

    assert "the search for images stopped: http://127.0.0.1" in done.stderr
    assert "images found" not in done.stdout
    assert "Traceback" not in done.stderr
    assert "alarm.py:9: " in done.stdout


def test_interrupted_accuracy_writes_its_report(alarm: Path) -> None:
    slow = ALARM.replace("def alarm(", "def slow(").replace(
        "    if labels", "    import time\n    time.sleep(0.5)\n    if labels"
    )
    (alarm / "slow.py").write_text(slow)
    command = [sys.executable, "-m", "ciguard", "accuracy", ".", "--report", "page.html"]
    with subprocess.Popen(command, cwd=alarm, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        first = running.stdout.readline()
        time.sleep(1.0)
        running.terminate()
        running.communicate(timeout=60)

    assert first.startswith("alarm.py:5 alarm.alarm: ")
    assert running.returncode not in {0, 1}
    assert "alarm.alarm" in (alarm / "page.html").read_text()


def test_services_reports_contradictory_conditions(tmp_path: Path) -> None:
    (tmp_path / "can.py").write_text(
        CAN.replace("one.description.lower()", "one.score").replace(
            'label == "food"', "label > 0.8 and label < 0.5"
        )
    )

    done = services(tmp_path, ".")

    assert "can.py:16: warning: label < 0.5: never at this point" in done.stdout
    assert done.returncode == 0
