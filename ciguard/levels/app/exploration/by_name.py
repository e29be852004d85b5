"""Values for what is called so that its name says what it takes."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.registered import conventions, conventions_of

if TYPE_CHECKING:
    from ciguard.domain.values import Json

_SURE_ENOUGH = re.compile(r"(^|_)(threshold|confidence|score)$")
_AT_MOST = re.compile(r"^(max|num|n)_\w+$|(^|_)(count|limit|num|page|offset)$")
_WHETHER = re.compile(r"^(is|has|show|use|with|should)_|^(verbose|debug)$")
_SPOKEN = re.compile(r"(^|_)(lang|language|locale)(_?code)?$")
_WHO_ASKS = re.compile(
    r"(^|_)(endpoint|region(_name)?|api_?key|key(_id)?|secret|token|subscription(_key)?)$"
)
_PLACE = re.compile(r"(^|_)(bucket(_name)?|key|region)$")
_NAME = re.compile(r"(^|_)(name|id|title|prefix)$|[a-z]_(tag|label)$")
_ADDRESS = re.compile(r"(^|_)uri$")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where a word begins in a name such as `imageTag`."""
_ENDPOINT = re.compile("ENDPOINT|URL|HOST", re.IGNORECASE)
_REGION = re.compile("REGION|LOCATION", re.IGNORECASE)
_MADE_UP = (
    (re.compile("BUCKET", re.IGNORECASE), "bucket"),
    (re.compile("KEY|SECRET|TOKEN|SUBSCRIPTION", re.IGNORECASE), "0123456789abcdef" * 2),
)


def made_up(name: str) -> str:
    """Return a value for what says where a service is, and who asks it: none is asked with these.

    Args:
        name: of a variable of the environment, or a parameter.

    Returns:
        Nothing for any other.
    """
    if _ENDPOINT.search(name):
        return next((one.endpoint for one in conventions() if one.endpoint), "")
    if _REGION.search(name):
        return next((one.region for one in conventions() if one.region), "")
    return next((value for pattern, value in _MADE_UP if pattern.search(name)), "")


def setting(name: str, annotation: str, *, highest: float, is_heard: bool) -> Json:
    """Return a value for a parameter that says how a service is asked; None for any other.

    Args:
        name: of the parameter.
        annotation: as it is written; may be empty.
        highest: what scores of the service go up to.
        is_heard: whether that hears speech.
    """
    words = _words(name)
    if annotation in {"", "float"} and _SURE_ENOUGH.search(words):
        return highest / 2
    if annotation in {"", "int"} and _AT_MOST.search(words):
        return 10
    if annotation in {"", "bool"} and _WHETHER.search(words):
        return False
    if annotation in {"", "str"} and _SPOKEN.search(words):
        return "en-US" if is_heard else "en"
    return None


def text_form(name: str, provider: str) -> Json:
    """Return the form of a parameter that takes a text no service is asked about; None for others.

    A guess: something else may be called so.

    Args:
        name: of the parameter.
        provider: of the service that is asked.
    """
    words = _words(name)
    if words.startswith("on_"):
        return None
    if _WHO_ASKS.search(words):
        return {"made_up": made_up(words)}
    if _NAME.search(words):
        return {"guess": "name"}
    scheme = conventions_of(provider).storage_scheme
    if _ADDRESS.search(words) and scheme:
        return {"made_up": f"{scheme}://bucket/upload"}
    return None


def place(name: str) -> str:
    """Return a value for a field that says where something lies, or who asks; empty for others."""
    words = _words(name)
    return made_up(words) if _PLACE.search(words) else ""


def _words(name: str) -> str:
    return _WORD.sub("_", name).lower()
