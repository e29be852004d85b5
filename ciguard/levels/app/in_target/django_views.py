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

from ciguard.levels.app.in_target.given import NotAll, event

_DATABASE = {"ENGINE": "django.db.backends.sqlite3", "NAME": ":memory:"}
_TEMPLATES = {"BACKEND": "django.template.backends.django.DjangoTemplates", "APP_DIRS": True}
_SETTINGS: Dict[str, Any] = {
    "SECRET_KEY": "ciguard",
    "INSTALLED_APPS": ["django.contrib.contenttypes", "django.contrib.auth"],
    "TEMPLATES": [_TEMPLATES],
}
"""Settings of an application that has none, or whose settings cannot be loaded."""
_USER_FIELDS = {
    "username": "name",
    "first_name": "name",
    "last_name": "name",
    "email": "name@example.com",
    "is_active": True,
    "is_staff": True,
    "is_superuser": True,
}
"""Fields of the signed-in user, of which the project's model need not have all."""
_FIELD_TEXTS = ("1", "2000-01-01", "12:00", "00000000-0000-4000-8000-000000000000")
"""Values for required fields: a number, date, time or identifier, whichever a field accepts."""


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
    settings.SECRET_KEY = _SETTINGS["SECRET_KEY"]  # its variable may be missing here
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
    except BaseException:  # a later attempt starts over, whatever ended this one
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
    """A user who has signed in and may do everything, for a project without Django's users."""

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


def _signed_in_user() -> Any:
    """Return a user who may do everything: a row of the project's model if this can be saved."""
    try:
        model = importlib.import_module("django.contrib.auth").get_user_model()
        known = {field.name for field in model._meta.concrete_fields}  # noqa: SLF001 - documented
        values = {model.USERNAME_FIELD: "name", **_USER_FIELDS}
        values = {name: value for name, value in values.items() if name in known}
        user = model(**values)
    except Exception:  # noqa: BLE001 - the project has no users, or none that can be made alike
        return _User()
    with contextlib.suppress(Exception):  # a view that needs a saved user fails by itself
        rows = model._base_manager.filter(  # noqa: SLF001 - documented
            **{model.USERNAME_FIELD: values[model.USERNAME_FIELD]}
        )
        if not rows.exists():
            _fill_required_fields(user)
            user.save()
        rows.update(**values)  # an earlier call may have changed them
        user = rows.get()
    if user.pk is None:
        user.pk = 1
    return user


def _fill_required_fields(row: Any) -> None:
    """Set each field of a row that has no value but needs one, unless it refers to another row."""
    for field in row._meta.concrete_fields:  # noqa: SLF001 - documented
        is_optional = field.null or field.primary_key or field.is_relation
        if is_optional or getattr(row, field.attname) is not None:
            continue
        for text in _FIELD_TEXTS:
            with contextlib.suppress(Exception):  # another text may suit the field
                setattr(row, field.attname, field.to_python(text))
                break


def answering(function: Any, parts: Dict[str, Any]) -> Callable[..., Any]:
    """Return a function that calls a view of Django with a request.

    Args:
        function: the view of the application; it gets the request as its argument `request`.
        parts: the fields of each part of the request: `files`, `form`, `args` and `json`; for
            `data`, the body under the key "".
    """
    user = _signed_in_user()

    def in_request(*positional: Any, **keywords: Any) -> Any:
        request = _as_received(function, _request(parts, user), keywords)
        result = function(*positional, request=request, **keywords)
        return asyncio.run(result) if inspect.iscoroutine(result) else result

    return in_request


def _as_received(function: Any, request: Any, keywords: Dict[str, Any]) -> Any:
    """Return a request in the form that a function gets, which differs for the REST framework.

    A view whose method the function is gets the request as an attribute, too.
    """
    view = getattr(function, "__self__", None)
    if not isinstance(view, importlib.import_module("django.views").View):
        return request
    view.setup(request, **keywords)
    if not hasattr(view, "initialize_request"):
        return request
    view.format_kwarg, view.action_map = None, {request.method.lower(): function.__name__}
    view.request = view.initialize_request(request, **keywords)
    if hasattr(request, "data"):
        view.request._full_data = request.data  # noqa: SLF001 - the parsed body
    return view.request


def _request(parts: Dict[str, Any], user: Any) -> Any:
    """Return a request of a signed-in user; one with a body is a POST request.

    An item that is missing from its session, cookies or variables raises `NotGivenError`.
    """
    factory = importlib.import_module("django.test").RequestFactory()
    query = urllib.parse.urlencode(parts.get("args", {}))
    path = f"/?{query}" if query else "/"
    is_form = bool(parts.keys() & {"form", "files"})
    if "json" in parts and is_form:
        request = _form(path, parts)
    elif "json" in parts:
        body = json.dumps(parts["json"])
        request = factory.post(path, data=body, content_type="application/json")
        request.data = event(parts["json"])
    elif "data" in parts:
        body = parts["data"].get("", b"")
        request = factory.generic("POST", path, body, content_type="application/octet-stream")
    elif query and not is_form:
        request = factory.get(path)
    else:
        request = _form(path, parts)
    request.query_params = request.GET  # as code for the REST framework reads it
    request.META, request.COOKIES = NotAll(request.META), NotAll(request.COOKIES)
    request.user = request._force_auth_user = user  # noqa: SLF001 - for the REST framework
    request.session = _session()
    storage = importlib.import_module("django.contrib.messages.storage.cookie").CookieStorage
    request._messages = storage(request)  # noqa: SLF001 - where Django's messages look for it
    return request


def _form(path: str, parts: Dict[str, Any]) -> Any:
    """Return a request with a form, whose fields and files the REST framework reads as data."""
    factory = importlib.import_module("django.test").RequestFactory()
    parsed, files = parts.get("json", {}), _files(parts.get("files", {}))
    fields = {
        name: value if isinstance(value, str) else json.dumps(value)
        for name, value in parsed.items()
    }
    request = factory.post(path, {**fields, **parts.get("form", {}), **files})
    if "json" in parts:
        request.data = NotAll({**event(parsed), **files})
    return request


def _session() -> Any:
    """Return an empty session with a key, which is stored nowhere."""
    backend = importlib.import_module("django.contrib.sessions.backends.signed_cookies")
    session = backend.SessionStore()
    session.save()
    session.modified = False
    session._session_cache = NotAll()  # noqa: SLF001 - the items, before any is read
    return session


def _files(uploads: Dict[str, Any]) -> Dict[str, Any]:
    """Return uploaded files in the form that a test request takes."""
    kind = importlib.import_module("django.core.files.uploadedfile").SimpleUploadedFile
    return {
        name: kind(upload.name, upload.getvalue(), upload.content_type)
        for name, upload in uploads.items()
    }
