"""What stands between an application and the clients of its providers: one hook for each.

A provider's hook is one object, `HOOK`, in a module that its `Provider` names. It runs in the
application's interpreter: standard library only, Python 3.9 and later. What it needs of the clients
it imports when it is asked to.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import TYPE_CHECKING, Any, Dict

if TYPE_CHECKING:
    from ciguard.levels.app.in_target.asking import Answering, Hearing


class Hook:
    """Base of what stands between an application and one provider's clients."""

    def intercept(self, answering: Answering) -> None:
        """Have every client that is made from now on ask `answering`.

        Raises:
            ImportError: if no client is installed here.
        """
        raise NotImplementedError

    def observe(self, hearing: Hearing) -> None:
        """Have every client ask its service, and `hearing` told the answers.

        Raises:
            ImportError: if no client is installed here.
        """
        raise NotImplementedError

    def client(self, name: str) -> Any:
        """Return a new client, by its name among the descriptions."""
        raise NotImplementedError

    def advice(self, message: str) -> str:
        """Return what may help with an exception of that message; empty if nothing is known."""
        del message
        return ""


class _Clients(Dict[str, Hook]):
    """Those that were loaded, by provider; ciguard's own are found by the name."""

    def __missing__(self, provider: str) -> Hook:
        return load(provider, f"ciguard.levels.app.providers.{provider}.in_target.clients")


CLIENTS = _Clients()


def load(provider: str, module: str, file: str = "") -> Hook:
    """Return the hook of a provider.

    Args:
        provider: its name.
        module: that has the hook.
        file: of that module, where it cannot be imported by its name.
    """
    if provider not in CLIENTS:
        CLIENTS[provider] = (_at(module, file) if file else importlib.import_module(module)).HOOK
    return CLIENTS[provider]


def _at(name: str, file: str) -> Any:
    """Return the module of a file."""
    spec: Any = importlib.util.spec_from_file_location(name, file)
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def advice(message: str) -> str:
    """Return what a provider knows to help with an exception; empty if none does."""
    return next(filter(None, (hook.advice(message) for hook in CLIENTS.values())), "")
