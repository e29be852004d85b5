"""Calls of Django's views, with requests that are made here and a database in memory.

Standard library and the application's Django only, Python 3.9 and later.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import importlib.util
import inspect
import json
import os
import urllib.parse
from typing import Any, Callable, Dict, List

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


def set_up(project: Dict[str, Any], describe: Callable[[BaseException], str]) -> List[str]:
    """Load the application's settings and its models, with an empty database in memory.

    Args:
        project: the fields of `DjangoProject` in `static_analysis/django.py`.
        describe: returns the description of an exception for messages.

    Returns:
        Sentences about settings that could not be used.

    Raises:
        ImportError: if the settings import a package that is missing.
        BaseException: what the applications of the settings raise while they are imported.
    """
    settings = importlib.import_module("django.conf").settings
    remarks = [] if settings.configured else _load(settings, project, describe)
    installed = [app for app in settings.INSTALLED_APPS if _is_installed(app)]
    missing = [app for app in settings.INSTALLED_APPS if app not in installed]
    settings.INSTALLED_APPS = installed
    remarks += [f"{app} of INSTALLED_APPS is not installed, and was left out" for app in missing]
    settings.DATABASES = {"default": _DATABASE}
    settings.MIGRATION_MODULES = _NoMigrations()
    settings.ALLOWED_HOSTS = ["*"]
    _populate()
    management = importlib.import_module("django.core.management")
    with contextlib.suppress(Exception):  # a view that needs a missing table fails by itself
        management.call_command(
            "migrate", run_syncdb=True, verbosity=0, interactive=False, skip_checks=True
        )
    return remarks


def _is_installed(app: str) -> bool:
    return importlib.util.find_spec(app.partition(".")[0]) is not None


def _populate() -> None:
    """Import the installed applications; if this fails, it can be tried again.

    Raises:
        BaseException: what they raise.
    """
    registry = importlib.import_module("django.apps").apps
    try:
        importlib.import_module("django").setup()
    except BaseException:
        registry.app_configs.clear()
        registry.loading = registry.apps_ready = registry.models_ready = registry.ready = False
        raise


def _load(
    settings: Any, project: Dict[str, Any], describe: Callable[[BaseException], str]
) -> List[str]:
    """Load the settings of a project; if they cannot be loaded, use others and say why.

    Raises:
        ImportError: if the settings import a package that is missing.
    """
    module, reason = project["settings"], ""
    if module:
        os.environ["DJANGO_SETTINGS_MODULE"] = module
        try:
            settings.INSTALLED_APPS  # noqa: B018 - loads the settings
        except ImportError as error:
            is_absent = f"{module}.".startswith(f"{getattr(error, 'name', None)}.")
            if not is_absent:
                raise
            reason = "there is no such module"
        except Exception as error:  # noqa: BLE001 - it may read what only its server has
            reason = describe(error)
    if not module or reason:
        apps = [*_SETTINGS["INSTALLED_APPS"], *project["apps"]]
        settings.configure(**{**_SETTINGS, "INSTALLED_APPS": apps})
    if not reason:
        return []
    return [f"Django's settings {module} cannot be loaded, and defaults are used: {reason}"]


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
