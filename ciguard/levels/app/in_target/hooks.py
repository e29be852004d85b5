"""Hooks that intercept the clients of providers; each provider has one hook.

A provider's hook is one object, `HOOK`, in a module that its `Provider` names. It runs in the
application's interpreter: standard library only, Python 3.9 and later. It imports the clients on
first use.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any, Dict

if TYPE_CHECKING:
    from ciguard.levels.app.in_target.asking import AnswerCallback, AnswerFunction


class Hook:
    """Base class of hooks, which intercept or observe the clients of a provider."""

    def intercept(self, get_answer: AnswerFunction) -> None:
        """Make every client that is created from now on get its answers from a function.

        Args:
            get_answer: function that returns the answer to an operation about a content.

        Raises:
            ImportError: if no client of the provider is installed.
        """
        raise NotImplementedError

    def observe(self, on_answer: AnswerCallback) -> None:
        """Make every client pass the answers of its real service to a callback.

        Args:
            on_answer: callback, which gets the operation, the content and the answer.

        Raises:
            ImportError: if no client of the provider is installed.
        """
        raise NotImplementedError

    def client(self, name: str) -> Any:
        """Return a new client, whose `name` is that in the provider's description."""
        raise NotImplementedError

    def advice(self, message: str) -> str:
        """Return advice for an exception with this message; empty if the hook has none."""
        del message
        return ""


class _Clients(Dict[str, Hook]):
    """Loaded hooks by provider; hooks of ciguard's own providers are loaded on first access."""

    def __missing__(self, provider: str) -> Hook:
        return load(provider, f"ciguard.levels.app.providers.{provider}.in_target.clients")


CLIENTS = _Clients()


def load(provider: str, module: str, file: str = "") -> Hook:
    """Return the hook of a provider.

    Args:
        provider: the name of the provider.
        module: the module that defines the hook.
        file: the file of the module; empty if the module can be imported by its name.
    """
    if provider not in CLIENTS:
        CLIENTS[provider] = (
            _load_file(module, file) if file else importlib.import_module(module)
        ).HOOK
    return CLIENTS[provider]


def _load_file(name: str, file: str) -> Any:
    """Return the module that a file defines."""
    spec: Any = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def advice(message: str) -> str:
    """Return advice of the first hook that has some for this message; empty if none has."""
    return next(filter(None, (hook.advice(message) for hook in CLIENTS.values())), "")
