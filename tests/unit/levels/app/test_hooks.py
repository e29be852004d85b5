"""Hooks of providers, as the application's process loads them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.levels.app.in_target import hooks
from ciguard.levels.app.in_target.hooks import CLIENTS, Hook, load

if TYPE_CHECKING:
    from pathlib import Path

OWN = """
from ciguard.levels.app.in_target.hooks import Hook

class OwnHook(Hook):
    def advice(self, message):
        return "Look again." if "eyes" in message else ""

HOOK = OwnHook()
"""


@pytest.fixture(autouse=True)
def _nothing_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooks, "CLIENTS", type(CLIENTS)())


def test_hook_is_loaded_once_from_the_file_of_its_module(tmp_path: Path) -> None:
    file = tmp_path / "own_hook.py"
    file.write_text(OWN)

    hook = load("own", "own_hook_of_acme", str(file))

    assert isinstance(hook, Hook)
    assert load("own", "own_hook_of_acme") is hook
    assert hooks.CLIENTS["own"] is hook
    assert hooks.advice("no eyes") == "Look again."


def test_hook_of_a_built_in_provider_is_found_by_its_name() -> None:
    assert type(hooks.CLIENTS["google"]).__name__ == "GoogleHook"
    assert list(hooks.CLIENTS) == ["google"]
    with pytest.raises(ModuleNotFoundError):
        hooks.CLIENTS["unheard"]


@pytest.mark.parametrize(
    "message",
    [
        "cannot import name 'types' from 'google.cloud.vision' (/a/b.py)",
        "No module named 'google.cloud.vision_v1.enums'",
        "module 'google.cloud.vision' has no attribute 'types'",
    ],
)
def test_advice_explains_attributes_that_old_clients_had(message: str) -> None:
    load("google", "ciguard.levels.app.providers.google.in_target.clients")

    assert hooks.advice(message).endswith("such as google-cloud-vision<2")
    assert hooks.advice("No module named 'google.cloud.vision'") == ""
