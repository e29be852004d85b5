"""Calls of Django's views, with requests that are made here and a database in memory.

Standard library and the application's Django only, Python 3.9 and later.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import inspect
import json
import os
import urllib.parse
from typing import Any, Callable, Dict

_DATABASE = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
_TEMPLATES = {"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}
_SETTINGS: Dict[str, Any] = {
    "SECRET_KEY": "ciguard",
    "INSTALLED_APPS": ["django.contrib.contenttypes", "django.contrib.auth"],
    "TEMPLATES": [_TEMPLATES],
}
"""Settings of an application that has none, or whose settings cannot be loaded."""


class _NoMigrations:
    """Setting `MIGRATION_MODULES` by which tables are made from the models alone."""

    def __contains__(self, application: str) -> bool:
        return True

    def __getitem__(self, application: str) -> None:
        return None

    def setdefault(self, application: str, default: object) -> None:
        """Return the migrations of an application: none."""


def set_up(module: str) -> None:
    """Load the application's settings and its models, with an empty database in memory.

    Args:
        module: the module of the settings; empty if the application has none.

    Raises:
        ImportError: if the settings import a package that is missing.
    """
    settings = importlib.import_module("django.conf").settings
    if not settings.configured:
        _load(settings, module)
    settings.DATABASES = {"default": _DATABASE}
    settings.MIGRATION_MODULES = _NoMigrations()
    settings.ALLOWED_HOSTS = ["*"]
    importlib.import_module("django").setup()
    management = importlib.import_module("django.core.management")
    with contextlib.suppress(Exception):  # a view that needs a missing table fails by itself
        management.call_command(
            "migrate", run_syncdb=True, verbosity=0, interactive=False, skip_checks=True
        )


def _load(settings: Any, module: str) -> None:
    """Load the settings of a module; if they cannot be loaded, use others."""
    if module:
        os.environ["DJANGO_SETTINGS_MODULE"] = module
        try:
            settings.INSTALLED_APPS  # noqa: B018 - loads the settings
        except ImportError:
            raise
        except Exception:  # noqa: BLE001 - the settings may read what only their server has
            settings.configure(**_SETTINGS)
    else:
        settings.configure(**_SETTINGS)


class _User:
    """A user who has signed in and may do everything."""

    id = pk = 1
    username = first_name = last_name = "name"
    email = "name@example.com"
    is_authenticated = is_active = is_staff = is_superuser = True
    is_anonymous = False

    def has_perm(self, *_: object) -> bool:
        """Return whether the user has a permission: always."""
        return True

    def has_perms(self, *_: object) -> bool:
        """Return whether the user has permissions: always."""
        return True


class _Messages:
    """Storage of messages for the user, which drops them."""

    def add(self, *_: object) -> None:
        """Drop a message."""


def answering(function: Any, parts: Dict[str, Any]) -> Callable[..., Any]:
    """Return a function that calls a view of Django with a request.

    Args:
        function: the view of the application; it gets the request as its argument `request`.
        parts: the fields of each part of the request: `files`, `form`, `args` and `json`; for
            `data`, the body under the key "".
    """

    def in_request(*positional: Any, **keywords: Any) -> Any:
        request = _request(parts)
        result = function(*positional, request=request, **keywords)
        return asyncio.run(result) if inspect.iscoroutine(result) else result

    return in_request


def _request(parts: Dict[str, Any]) -> Any:
    """Return a request of a signed-in user; one with a body is a POST request."""
    factory = importlib.import_module("django.test").RequestFactory()
    query = urllib.parse.urlencode(parts.get("args", {}))
    path = f"/?{query}" if query else "/"
    if parts.get("json"):
        body = json.dumps(parts["json"])
        request = factory.post(path, data=body, content_type="application/json")
        request.data = parts["json"]  # as views of the Django REST framework read it
    elif "data" in parts:
        body = parts["data"].get("", b"")
        request = factory.generic("POST", path, body, content_type="application/octet-stream")
    elif query and not parts.keys() & {"form", "files"}:
        request = factory.get(path)
    else:
        request = factory.post(path, {**parts.get("form", {}), **_files(parts.get("files", {}))})
    request.user, request.session = _User(), {}
    request._messages = _Messages()  # noqa: SLF001 - where Django's messages look for it
    return request


def _files(uploads: Dict[str, Any]) -> Dict[str, Any]:
    """Return uploaded files in the form that a test request takes."""
    kind = importlib.import_module("django.core.files.uploadedfile").SimpleUploadedFile
    return {
        name: kind(upload.name, upload.getvalue(), upload.content_type)
        for name, upload in uploads.items()
    }
