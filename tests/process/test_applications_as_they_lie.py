"""Applications as they lie: packages that are missing, code that runs on import, questions."""

from __future__ import annotations

import sys
from textwrap import dedent
from typing import TYPE_CHECKING

import pytest
from running_applications import written

from ciguard.levels.app.exploration import ExploredFunction, ProcessEnvironment, explore
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.slow


def lenient(folder: Path, *stubs: str) -> dict[str, ExploredFunction]:
    """Return the result of each function, as `ciguard app explore --stub` has it."""
    application = read_application(folder)
    found = find_service_functions(application, known_providers())
    environment = ProcessEnvironment(is_lenient=True, stubs=stubs)
    results = explore(
        application, found, python=sys.executable, budget_s=60.0, process_environment=environment
    )
    return {one.function.name.removeprefix("app."): one for one in results}


HEAD = """
from google.cloud import vision

def seen(path):
    with open(path, "rb") as file:
        image = vision.Image(content=file.read())
    client = vision.ImageAnnotatorClient()
    return [one.description for one in client.label_detection(image=image).label_annotations]
"""


def test_missing_packages_are_stubbed_and_named(tmp_path: Path) -> None:
    text = """
        import not_installed_pins.GPIO as GPIO
        from not_installed_push import Sender, route

        GPIO.setmode(GPIO.BCM)

        def judged(path):
            labels = seen(path)
            if labels[0] == "Fire":
                return "fire"
            return "none"

        def excused(path):
            labels = Sender(path).sorted(seen(path))
            if "Fire" in seen(path):
                GPIO.output(18, True)
            return [] + labels

        @route("/alarm")
        def decorated(path):
            return "Smoke" in seen(path)

        class Handler(Sender):
            def handle(self, path):
                return "Flame" in seen(path)

        def inner(path):
            import not_installed_store
            not_installed_store.put(path)
            return "Ember" in seen(path)
    """
    results = lenient(written(tmp_path / "app", HEAD + dedent(text)))

    assert [one.error.partition(":")[0] for one in results["judged"].crashes] == ["IndexError"]
    assert results["judged"].outcome_counts() == (2, 2)
    assert results["excused"].crashes == []
    assert "pins is not installed, and was stubbed" in "".join(results["judged"].remarks)
    for name in ("decorated", "Handler.handle", "inner"):
        assert (name, results[name].problem) == (name, "")
    assert any("not_installed_store" in remark for remark in results["inner"].remarks)


def test_statements_that_fail_on_import_are_skipped_and_named(tmp_path: Path) -> None:
    text = r"""
        import socket
        import sys

        path_of_program = sys.argv[7]
        names = open(r"C:\Users\me\names.txt").read().split()
        count = int(input("How many? "))
        server = socket.create_server(("127.0.0.1", 8000))
        if len(sys.argv) < 3:
            sys.exit("usage: app.py FILE OTHER")

        def independent(path):
            return "many" if len(seen(path)) > count else "few"

        def dependent(path):
            return "known" if "Fire" in seen(path) and names else "unknown"
    """
    results = lenient(written(tmp_path / "app", HEAD + dedent(text)))

    independent, dependent = results["independent"], results["dependent"]
    assert independent.problem == ""
    assert independent.outcome_counts() == (2, 2)
    assert len(independent.remarks) == 4
    assert any(
        "line 16 was skipped on import: PermissionError" in one for one in independent.remarks
    )
    assert any("line 14 was skipped on import: FileNotFound" in one for one in independent.remarks)
    assert dependent.problem.startswith("cannot be imported: FileNotFoundError")
    assert dependent.problem.endswith("(app.py, line 14)")


def test_questions_are_answered_with_the_input(tmp_path: Path) -> None:
    text = """
        def main():
            path = input("Which image? ")
            return "bird" if "Bird" in seen(path) else "none"
    """
    result = lenient(written(tmp_path / "app", HEAD + dedent(text)))["main"]

    assert (result.problem, result.outcome_counts()) == ("", (2, 2))


def test_packages_are_stubbed_on_request(tmp_path: Path) -> None:
    text = """
        import sqlite3

        store = sqlite3.connect("/nowhere/of/all/photos.db")

        def remember(path):
            store.execute("INSERT INTO photos VALUES (?)", (path,))
            return "new" if "Fire" in seen(path) else "known"
    """
    folder = written(tmp_path / "app", HEAD + dedent(text))

    without = lenient(folder)["remember"]
    result = lenient(folder, "sqlite3")["remember"]

    assert without.problem.startswith("cannot be imported: OperationalError")
    assert (result.problem, result.outcome_counts()) == ("", (2, 2))


UNDESCRIBED = """
from google.cloud import vision

def labels_of(content):
    image = vision.Image(content=content)
    return vision.ImageAnnotatorClient().label_detection(image=image).label_annotations

def grade(record, opts, mode):
    found = [one.score for one in labels_of(record["photo"]) if one.score > 0.9]
    share = len(found) / len(labels_of(record["photo"]))
    return opts["yes"] if share > 0.5 and mode == "party" else opts["no"]

def kept(content, store, limits: "Limits"):
    found = labels_of(content)
    if found[0].description == "Cat" and limits.has_room:
        store.save(found)
        return store.count() > 3
"""


def test_parameters_that_nothing_describes_get_what_the_function_reads(tmp_path: Path) -> None:
    results = lenient(written(tmp_path / "app", UNDESCRIBED))

    assert {name: one.problem for name, one in results.items() if one.problem} == {}
    assert {crash.error.partition(":")[0] for crash in results["grade"].crashes} == {
        "ZeroDivisionError"
    }
    assert not results["kept"].crashes
    notes = " ".join(results["kept"].remarks)
    assert "`store`" in notes
    assert "`limits`" in notes
    reached = {
        goal.text: set(values) for goal, values in results["kept"].answers_by_outcome.items()
    }
    assert reached["found[0].description == 'Cat'"] == {True, False}
