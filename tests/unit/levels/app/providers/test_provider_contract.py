"""The contract of registered providers, and the refusal of invalid ones."""

from __future__ import annotations

import ast
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from ciguard.errors import RegistrationError
from ciguard.levels import app
from ciguard.levels.app.in_target.hooks import Hook
from ciguard.levels.app.providers.codes import Code, ServiceError
from ciguard.levels.app.providers.description import MediaKind, RecognitionTask, media_kind
from ciguard.levels.app.providers.registered import (
    PROVIDERS,
    hooks_of_other_packages,
    is_recognisable,
)
from ciguard.levels.app.providers.request import ServiceRequest

OF_USERS = {
    "commands/emulate.py": "the help names whose clients it answers",
    "reports/emulation.py": "explains how each provider's clients are given the address",
}
"""File that names a provider to users → the reason."""
EVERY = sorted(PROVIDERS.items().items())


@pytest.fixture(params=EVERY, ids=lambda operation: str(operation[0]))
def registered(request: pytest.FixtureRequest) -> tuple[str, Any]:
    found: tuple[str, Any] = request.param
    return found


def test_provider_has_one_name_everywhere(registered: tuple[str, Any]) -> None:
    name, provider = registered

    assert provider.name == name
    assert provider.services().provider == name


def test_answered_operations_are_described(registered: tuple[str, Any]) -> None:
    _, provider = registered
    parts = () if provider.image_analysis is None else provider.image_analysis.parts

    for name in (*provider.answered, *parts):
        assert any(map(is_recognisable, provider.description.operations(name))) or {
            operation.task for operation in provider.description.operations(name)
        } <= {RecognitionTask.PHRASES, RecognitionTask.LANGUAGE, RecognitionTask.OTHER}, name


def test_provider_has_messages_of_all_its_tasks(registered: tuple[str, Any]) -> None:
    _, provider = registered
    described = {operation.name for operation in provider.description.clients}
    tasks = {
        operation.task
        for client in provider.description.clients
        if client.name in provider.messages.CLIENTS
        for operation in client.operations.values()
    }

    assert described >= provider.messages.CLIENTS
    assert tasks >= provider.messages.TASKS
    assert RecognitionTask.FACES not in tasks or provider.faces is not None
    assert RecognitionTask.SPEECH not in tasks or provider.speech is not None


def test_provider_has_a_refusal_of_images(registered: tuple[str, Any]) -> None:
    _, provider = registered

    for client in provider.description.clients:
        for operation in client.operations.values():
            refusals = provider.messages.refusals(operation)
            assert any(not refusal.depends_on_content for refusal in refusals)
            assert media_kind(operation.task) is not MediaKind.IMAGE or any(
                r.depends_on_content for r in refusals
            )


def test_hook_is_an_object_of_its_module(registered: tuple[str, Any]) -> None:
    _, provider = registered

    assert provider.hook_file.name == f"{provider.hook.rpartition('.')[2]}.py"
    assert isinstance(import_module(provider.hook).HOOK, Hook)


def test_request_is_refused_in_the_format_of_the_provider(registered: tuple[str, Any]) -> None:
    _, provider = registered
    request = ServiceRequest("POST", "/", headers={"x-amz-target": "Unknown"})

    reply = provider.services().refusal(request, ServiceError(Code.INTERNAL, "It fails."))

    assert reply.status >= 500
    assert reply.message == "It fails."
    assert "It fails." in str(reply.content)


def test_secrets_are_a_valid_pattern(registered: tuple[str, Any]) -> None:
    _, provider = registered

    assert re.compile(provider.secrets).fullmatch("It fails.") is None


def test_hooks_of_other_packages_exclude_own_providers() -> None:
    assert hooks_of_other_packages(["google", "aws", "azure", "unheard"]) == {}
    assert hooks_of_other_packages(["google", "notes"]) == {"notes": "ciguard_planted.notes.hook"}


def test_entry_point_that_is_not_a_provider_is_refused() -> None:
    nothing: Any = object()

    with pytest.raises(
        RegistrationError, match=r"does not implement the interface ciguard\.provid"
    ):
        PROVIDERS.register("nothing", nothing)
    with pytest.raises(RegistrationError, match="registered twice"):
        PROVIDERS.register("google", PROVIDERS.get("google"))


def test_no_other_package_names_a_provider() -> None:
    """Neither in a text nor in code: each provider's folder declares what is its own."""
    packages = Path(app.__file__).parent
    named = re.compile(r"\b(google|aws|azure|boto3?|amazonaws|s3|gs)\b", re.IGNORECASE)
    culprits = [
        f"{file.relative_to(packages)}:{node.lineno}"
        for package in packages.iterdir()
        if package.name not in {"providers", "in_target"}
        for file in package.rglob("*.py")
        if file.relative_to(packages).as_posix() not in OF_USERS
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and "\n" not in node.value.strip()
        and not node.value.endswith(".")  # documentation
        and named.search(node.value)
    ]

    assert not culprits
