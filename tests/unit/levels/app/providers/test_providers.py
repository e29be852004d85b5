"""Descriptions of providers: the bundled ones, and those of users."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.errors import ConfigurationError
from ciguard.levels.app.providers.azure.in_target import clients as azure_clients
from ciguard.levels.app.providers.description import Field, RecognitionTask, read_provider
from ciguard.levels.app.providers.google.in_target import clients as google_clients
from ciguard.levels.app.providers.registered import known_providers
from ciguard.levels.app.static_analysis import find_service_functions, read_application

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


def test_google_has_an_operation_of_every_task_of_the_paper() -> None:
    (google,) = (provider for provider in known_providers() if provider.name == "google")

    tasks = {
        operation.task for client in google.clients for operation in client.operations.values()
    }

    assert tasks == set(RecognitionTask) - {RecognitionTask.PHRASES, RecognitionTask.LANGUAGE}


def test_operation_with_synthesised_inputs_has_the_path_of_its_results() -> None:
    for provider in known_providers():
        for client in provider.clients:
            for operation in client.operations.values():
                known = operation.records or operation.fields
                assert known or operation.task in {
                    RecognitionTask.OTHER,
                    RecognitionTask.FACES,
                    RecognitionTask.SAFETY,
                    RecognitionTask.SPEECH,
                }, operation


def test_described_provider_is_found_in_applications(tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(OWN)
    (tmp_path / "app.py").write_text(
        "from acme.sight import Eyes\ndef look(x):\n    return Eyes().what_is_this(x)\n"
    )

    provider = read_provider(tmp_path / "acme.toml")
    (function,) = find_service_functions(read_application(tmp_path), [provider])

    (call,) = function.calls
    assert call.answer.operation.title == "acme what_is_this"
    assert call.answer.operation.fields == {Field.KEY: "name", Field.SCORE: "sure"}


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ('name = "acme"', 'nme = "acme"', "name is missing. Set it to a text"),
        ("packages = [", "packages = [3, ", "packages has to be a list of texts, not [3"),
        (
            'task = "labels"',
            'task = "lables"',
            "clients[0].operations.what_is_this.task has to be one of ",
        ),
        ('score = "sure"', 'scroe = "sure"', "what_is_this.scroe is unknown. Known keys: "),
        ("[clients.operations]\n", "[clients.other]\n", "the key clients[0].other is unknown"),
        (
            "[clients.operations]\n",
            "about = 1\n[clients.operations]\n",
            "clients[0].about has to be a table",
        ),
        (OWN, "\n", "name is missing. Set it to a text"),
        (OWN, "= ", "cannot be read"),
    ],
)
def test_invalid_description_reports_the_invalid_key(
    tmp_path: Path, before: str, after: str, message: str
) -> None:
    file = tmp_path / "own.toml"
    file.write_text(OWN.replace(before, after))

    with pytest.raises(ConfigurationError) as raised:
        read_provider(file)

    assert str(file) in str(raised.value)
    assert message in str(raised.value)


@pytest.mark.parametrize("module", [azure_clients, google_clients])
def test_every_client_of_a_hook_is_described(module: ModuleType) -> None:
    name = module.__name__.split(".")[4]
    (provider,) = (provider for provider in known_providers() if provider.name == name)
    described = {
        operation.name: operation.factories
        for operation in provider.clients
        if operation.input_parameter is None
    }

    assert module.CLIENT_CLASSES.keys() == described.keys()
    for client, several in module.CLIENT_CLASSES.items():
        assert {f"{package}.{kind}" for package, kind in several} <= set(described[client])
