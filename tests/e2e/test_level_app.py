"""Level `app` through the real command: findings, fixed twins, baselines and errors."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from ciguard_command import answer, command, lines_of, run_of
from report_browser import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

TARGET = "current[google-cloud-vision]"
READING = """\
import os

from google.cloud import vision


def labels_of(path):
    client = vision.ImageAnnotatorClient()
    with open(path, "rb") as stream:
        image = vision.Image(content=stream.read())
    return client.label_detection(image=image).label_annotations


def main_thing(path):
    labels = labels_of(path)
    {guard}
    if labels[0].description == "Food":
        return "eat it"
    return "leave it"


def is_waste(path):
    client = vision.ImageAnnotatorClient()
    with open(path, "rb") as stream:
        image = vision.Image(content=stream.read())
    for label in client.label_detection(image=image).label_annotations:
        if {condition}:
            return True
    return False
"""
PRIVATE = "s3cret"
FAULTY = {"guard": "", "condition": 'label.description == "Food" or "Plastic"'}
MENDED = {
    "guard": "if not labels:\n        return 0",
    "condition": 'label.description == "Food" or label.description == "Plastic"',
}


def project(folder: Path, **parts: str) -> Path:
    app = folder / "app"
    app.mkdir(exist_ok=True)
    text = READING
    for name, part in parts.items():
        text = text.replace(f"{{{name}}}", part)
    (app / "bins.py").write_text(text, "utf-8")
    return folder


def run(*words: str, target: str = TARGET) -> list[str]:
    chosen = ["--level", "app", "--target", target, "--budget", "60s", "--out", "out"]
    return command("run", *chosen, *words)


def buckets_of(folder: Path) -> dict[str, dict[str, Any]]:
    """Return the buckets by their kind."""
    return {bucket["kind"]: bucket for bucket in lines_of(folder / "out" / "buckets.jsonl")}


def test_failures_have_a_script_and_are_fixed_once_gone(tmp_path: Path) -> None:
    done = answer(run("--application", "app"), project(tmp_path, **FAULTY))

    assert done.returncode == 0, done.stdout + done.stderr
    buckets = buckets_of(tmp_path)
    assert set(buckets) == {"crash", "dead-condition"}
    crash, dead = buckets["crash"], buckets["dead-condition"]
    assert crash["api"] == "app/bins.py:bins.main_thing"
    assert "IndexError" in crash["message"]
    assert crash["reproduced"]
    ran = answer([sys.executable, f"out/{crash['reproducer']}"], tmp_path)
    assert ran.returncode == 1
    assert "IndexError: list index out of range" in ran.stderr
    assert "'Plastic': always true" in dead["message"]
    report = json.loads((tmp_path / "out" / "report.sarif").read_text("utf-8"))
    places = [result["locations"][0]["physicalLocation"] for result in report["runs"][0]["results"]]
    assert {(p["artifactLocation"]["uri"], p["region"]["startLine"]) for p in places} == {
        ("app/bins.py", 16),
        ("app/bins.py", 26),
    }
    for bucket in (crash, dead):
        again = answer(command("reproduce", bucket["fingerprint"], "--out", "out"), tmp_path)
        assert again.returncode == 1, again.stderr

    known = answer(run("--application", "app"), tmp_path)
    assert known.returncode == 0
    assert {bucket["comparison"] for bucket in buckets_of(tmp_path).values()} == {"known"}

    gone = answer(run("--application", "app", "--compare-only"), project(tmp_path, **MENDED))
    assert gone.returncode == 0, gone.stdout
    assert {bucket["comparison"] for bucket in buckets_of(tmp_path).values()} == {"fixed"}
    for bucket in (crash, dead):
        again = answer(command("reproduce", bucket["fingerprint"], "--out", "out"), tmp_path)
        assert again.returncode == 0, again.stdout + again.stderr


def test_failure_introduced_by_a_pull_request_fails_the_check(tmp_path: Path) -> None:
    project(tmp_path, **MENDED)
    assert answer(run("--application", "app"), tmp_path).returncode == 0
    assert not buckets_of(tmp_path)

    done = answer(run("--application", "app", "--compare-only"), project(tmp_path, **FAULTY))

    assert done.returncode == 1
    assert {bucket["comparison"] for bucket in buckets_of(tmp_path).values()} == {"new"}
    assert "2 new of severity medium or above" in done.stdout


@pytest.mark.slow
def test_shards_together_find_the_buckets_of_one_run(tmp_path: Path) -> None:
    project(tmp_path, **FAULTY)
    for shard in ("1/2", "2/2"):
        words = ("--application", "app", "--shard", shard, "--out", f"part-{shard[0]}")
        done = answer(run(*words), tmp_path)
        assert done.returncode == 0, done.stdout + done.stderr

    done = answer(command("merge", "part-1", "part-2", "--out", "out"), tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    assert set(buckets_of(tmp_path)) == {"crash", "dead-condition"}


HOSTILE = """\
import os

from google.cloud import vision


def parent_of(process):
    with open(f"/proc/{process}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[1])


def ancestors():
    process = os.getppid()
    while process > 1:
        yield process
        process = parent_of(process)


def read_environments():
    return [open(f"/proc/{process}/environ").read() for process in ancestors()]


def tried(attack):
    try:
        return f"got {attack()}"
    except OSError as error:
        return type(error).__name__


SEEN = "; ".join(
    [
        f"secret {'s3cret' in str(os.environ)}",
        tried(read_environments),
        tried(lambda: open("PLANTED", "w")),
        tried(os.fork),
    ]
)


def main_thing(path):
    with open(path, "rb") as stream:
        image = vision.Image(content=stream.read())
    labels = vision.ImageAnnotatorClient().label_detection(image=image).label_annotations
    if labels and labels[0].description == "Food":
        return int(SEEN)
    return 0
"""


def test_application_of_a_pull_request_reaches_no_file_of_ciguard(tmp_path: Path) -> None:
    packages = next(Path(entry) for entry in sys.path if entry.endswith("site-packages"))
    planted = packages / "planted_by_a_test.pth"
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "hostile.py").write_text(HOSTILE.replace("PLANTED", str(planted)), "utf-8")

    try:
        words = ("--application", "app", "--confine", "required")
        done = answer(run(*words), tmp_path, GITHUB_TOKEN=PRIVATE, SERVICE_KEY=PRIVATE)
        assert not planted.exists()
    finally:
        planted.unlink(missing_ok=True)

    assert done.returncode == 0, done.stdout + done.stderr
    message = buckets_of(tmp_path)["crash"]["message"]
    assert "secret False; PermissionError; PermissionError; PermissionError" in message
    (target,) = run_of(tmp_path / "out")["targets"]
    assert set(target["confined_by"]) >= {"capabilities", "landlock", "reaper", "seccomp"}
    assert target["unconfined"] == []


@pytest.mark.slow
def test_unknown_label_is_a_finding_if_labels_are_configured(
    tmp_path: Path,
) -> None:
    project(tmp_path, **{**MENDED, "condition": 'label.description == "Fod"'})
    (tmp_path / "labels.txt").write_text("Food\nPlastic\n", "utf-8")

    answer(run("--application", "app", "--app-labels", "labels.txt"), tmp_path)
    assert "perhaps Food" in buckets_of(tmp_path)["unknown-label"]["evidence"]["expected"]

    # Without labels the condition is not judged, so that it does not count as fixed.
    answer(run("--application", "app", "--compare-only"), tmp_path)
    assert buckets_of(tmp_path)["unknown-label"]["comparison"] == "not run"


MOOD = """\
from google.cloud import language


def mood(text: str):
    document = language.Document(content=text, type_=language.Document.Type.PLAIN_TEXT)
    felt = language.LanguageServiceClient().analyze_sentiment(document=document)
    if felt.document_sentiment.magnitude > 0.5:
        return "happy"
    return "sad"
"""


@pytest.mark.slow
def test_report_contains_the_missed_inputs(tmp_path: Path, browser: Browser) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "mood.py").write_text(MOOD, "utf-8")

    done = answer(run("--application", "app"), tmp_path)

    assert done.returncode == 0, done.stdout + done.stderr
    bucket = buckets_of(tmp_path)["accuracy-here"]
    assert (bucket["severity"], bucket["reproducer"]) == ("low", "")
    assert "% of positive" in bucket["message"]
    with opened(browser, tmp_path / "out" / "report.html") as page:
        section = page.locator("#inputs")
        assert "app/mood.py:mood.mood, line 7: felt" in section.locator("summary").inner_text()
        assert section.locator("blockquote").count() > 1


@pytest.mark.slow
def test_bucket_that_was_not_exercised_is_not_fixed(tmp_path: Path) -> None:
    app = project(tmp_path, **FAULTY) / "app"
    (app / "other.py").write_text(MOOD, "utf-8")
    assert answer(run("--application", "app"), tmp_path).returncode == 0

    only = answer(run("--application", "app/other.py", "--compare-only"), tmp_path)
    assert only.returncode == 0, only.stdout + only.stderr
    kept = {
        bucket["kind"]: bucket["comparison"]
        for bucket in lines_of(tmp_path / "out" / "buckets.jsonl")
    }
    assert (kept["crash"], kept["dead-condition"]) == ("not run", "not run")

    (app / "bins.py").write_text("def broken(:\n", "utf-8")
    unread = answer(run("--application", "app", "--compare-only"), tmp_path)
    assert "app/bins.py was skipped, because it cannot be analysed" in unread.stdout
    kept = {
        bucket["kind"]: bucket["comparison"]
        for bucket in lines_of(tmp_path / "out" / "buckets.jsonl")
    }
    assert (kept["crash"], kept["dead-condition"]) == ("not run", "not run")

    (app / "bins.py").unlink()
    answer(run("--application", "app", "--compare-only"), tmp_path)
    kept = {
        bucket["kind"]: bucket["comparison"]
        for bucket in lines_of(tmp_path / "out" / "buckets.jsonl")
    }
    assert (kept["crash"], kept["dead-condition"]) == ("fixed", "fixed")


UPGRADED = """\
import os

from google.cloud import vision


def first(path):
    with open(path, "rb") as stream:
        image = vision.Image(content=stream.read())
    found = vision.ImageAnnotatorClient().label_detection(image=image).label_annotations
    limit = int(os.environ.get("LIMIT", "1"))
    return [one.description for one in found][:limit] == ["Dog"]
"""


def test_failure_for_every_answer_on_one_target_is_a_difference(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "first.py").write_text(UPGRADED, "utf-8")
    other = f"{TARGET} LIMIT=none"

    done = answer(run("--application", "app", "--base", TARGET, target=other), tmp_path)

    assert done.returncode == 1, done.stdout + done.stderr
    bucket = buckets_of(tmp_path)["crash"]
    assert (bucket["comparison"], bucket["pair"]) == ("new", "environment")
    assert "ValueError" in bucket["message"]
    assert f"not on {TARGET}" in bucket["message"]


def test_target_without_callable_functions_is_not_run(tmp_path: Path) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "first.py").write_text(UPGRADED, "utf-8")

    done = answer(run("--application", "app", target=f"{TARGET} LIMIT=none"), tmp_path)

    assert done.returncode == 3, done.stdout
    assert "no function could be called: fails for each answer that was tried" in done.stdout


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "levels: 'app' needs an application to test"),
        (("--application", "nowhere"), "nowhere"),
        (("--application", "empty"), "applications: no function in empty calls a service"),
        (
            ("--application", "app", "--app-labels", "missing.txt"),
            "missing.txt",
        ),
        (("--application", "app", "--app-recording", "app/bins.py"), "app/bins.py"),
    ],
)
def test_untestable_application_is_rejected_before_the_run(
    words: tuple[str, ...], message: str, tmp_path: Path
) -> None:
    project(tmp_path, **MENDED)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "nothing.py").write_text("x = 1\n", "utf-8")

    done = answer(run(*words), tmp_path)

    assert done.returncode == 2, done.stdout + done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_uncallable_function_is_reported_with_the_reason(tmp_path: Path) -> None:
    app = project(tmp_path, **MENDED) / "app" / "bins.py"
    app.write_text("import not_installed_anywhere\n" + app.read_text("utf-8"), "utf-8")

    done = answer(run("--application", "app"), tmp_path)

    assert done.returncode == 3, done.stdout
    assert "not_installed_anywhere" in done.stdout + done.stderr
    assert run_of(tmp_path / "out")["verdict"] == "NOT RUN"
