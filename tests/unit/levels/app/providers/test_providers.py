"""Descriptions of providers: those that are shipped, and one's own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.errors import ConfigurationError
from ciguard.levels.app.providers.azure.in_target import clients as azure_clients
from ciguard.levels.app.providers.description import Field, RecognitionTask, read_provider
from ciguard.levels.app.providers.google.in_target import clients as google_clients
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find, read_application

if TYPE_CHECKING:
    from pathlib import Path
    from types import ModuleType

OWN = """
name = "acme"
packages = ["acme.sight"]

[[clients]]
name = "eyes"
made_by = ["acme.sight.Eyes"]
[clients.operations]
what_is_this = { task = "labels", records = "things", key = "name", score = "sure" }
"""


def test_every_task_of_the_paper_can_be_asked_of_google() -> None:
    (google,) = (one for one in known_providers() if one.name == "google")

    tasks = {one.task for client in google.clients for one in client.operations.values()}

    assert tasks == set(RecognitionTask) - {RecognitionTask.PHRASES, RecognitionTask.LANGUAGE}


def test_what_inputs_are_made_for_says_where_its_results_are() -> None:
    for provider in known_providers():
        for client in provider.clients:
            for operation in client.operations.values():
                known = operation.records or operation.fields
                assert known or operation.task in {
                    RecognitionTask.OTHER,
                    RecognitionTask.FACES,
                    RecognitionTask.SPEECH,
                }, operation


def test_a_provider_of_one_s_own_is_found(tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(OWN)
    (tmp_path / "app.py").write_text(
        "from acme.sight import Eyes\ndef look(x):\n    return Eyes().what_is_this(x)\n"
    )

    provider = read_provider(tmp_path / "acme.toml")
    (found,) = find(read_application(tmp_path), [provider])

    (call,) = found.calls
    assert call.answer.operation.title == "acme what_is_this"
    assert call.answer.operation.fields == {Field.KEY: "name", Field.SCORE: "sure"}


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('name = "acme"', 'nme = "acme"', "name = None"),
        ("packages = [", "packages = [3, ", "packages = [3"),
        (
            'task = "labels"',
            'task = "lables"',
            "clients[0].operations.what_is_this.task = 'lables'",
        ),
        ('score = "sure"', 'scroe = "sure"', "scroe = 'sure'"),
        ("[clients.operations]\n", "[clients.other]\n", "clients[0].other = "),
        ("[clients.operations]\n", "about = 1\n[clients.operations]\n", "clients[0].about = 1"),
        (OWN, "\n", "name = None"),
        (OWN, "= ", "cannot be read"),
    ],
)
def test_what_is_wrong_in_a_description_is_named(
    tmp_path: Path, before: str, after: str, told: str
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN.replace(before, after))

    with pytest.raises(ConfigurationError) as raised:
        read_provider(file)

    assert str(file) in str(raised.value)
    assert told in str(raised.value)


@pytest.mark.parametrize("module", [azure_clients, google_clients])
def test_every_client_that_can_be_made_for_a_function_is_described(module: ModuleType) -> None:
    name = module.__name__.split(".")[4]
    (provider,) = (one for one in known_providers() if one.name == name)
    described = {one.name: one.made_by for one in provider.clients if one.about is None}

    assert module.MADE.keys() == described.keys()
    for client, several in module.MADE.items():
        assert {f"{package}.{kind}" for package, kind in several} <= set(described[client])
