"""Values for parameters and environment variables, guessed from their names."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.levels.app.providers.registered import conventions, conventions_of

if TYPE_CHECKING:
    from ciguard.domain.values import Json

_THRESHOLD = re.compile(r"(^|_)(threshold|confidence|score)$")
_COUNT = re.compile(r"^(max|num|n)_\w+$|(^|_)(count|limit|num|page|offset)$")
_FLAG = re.compile(r"^(is|has|show|use|with|should)_|^(verbose|debug)$")
_LANGUAGE = re.compile(r"(^|_)(lang|language|locale)(_?code)?$")
_CREDENTIAL = re.compile(
    r"(^|_)(endpoint|region(_name)?|api_?key|key(_id)?|secret|token|subscription(_key)?)$"
)
_LOCATION = re.compile(r"(^|_)(bucket(_name)?|key|region)$")
_NAME = re.compile(r"(^|_)(name|id|title|prefix)$|[a-z]_(tag|label)$")
_ADDRESS = re.compile(r"(^|_)uri$")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Word boundary within a camel-case name such as `imageTag`."""
_ENDPOINT = re.compile("ENDPOINT|URL|HOST", re.IGNORECASE)
_REGION = re.compile("REGION|LOCATION", re.IGNORECASE)
_PLACEHOLDERS = (
    (re.compile("BUCKET", re.IGNORECASE), "bucket"),
    (re.compile("KEY|SECRET|TOKEN|SUBSCRIPTION", re.IGNORECASE), "0123456789abcdef" * 2),
)


def placeholder_value(name: str) -> str:
    """Return a made-up endpoint, region, bucket or key, which no real service gets.

    Args:
        name: the name of an environment variable or a parameter.

    Returns:
        An empty text if the name suggests no such value.
    """
    if _ENDPOINT.search(name):
        return next((item.endpoint for item in conventions() if item.endpoint), "")
    if _REGION.search(name):
        return next((item.region for item in conventions() if item.region), "")
    return next((value for pattern, value in _PLACEHOLDERS if pattern.search(name)), "")


def setting_value(name: str, annotation: str, *, max_score: float, is_speech: bool) -> Json:
    """Return a value for a parameter that is a setting of the request; else None.

    Args:
        name: the name of the parameter.
        annotation: its annotation as text; may be empty.
        max_score: the maximum score of the service.
        is_speech: whether the service recognises speech.
    """
    words = _snake_case(name)
    if annotation in {"", "float"} and _THRESHOLD.search(words):
        return max_score / 2
    if annotation in {"", "int"} and _COUNT.search(words):
        return 10
    if annotation in {"", "bool"} and _FLAG.search(words):
        return False
    if annotation in {"", "str"} and _LANGUAGE.search(words):
        return "en-US" if is_speech else "en"
    return None


def text_form(name: str, provider: str) -> Json:
    """Return the form of a text parameter that holds a key, name or address; else None.

    The value is guessed from the name alone.

    Args:
        name: the name of the parameter.
        provider: the provider of the service.
    """
    words = _snake_case(name)
    if words.startswith("on_"):
        return None
    if _CREDENTIAL.search(words):
        return {"made_up": placeholder_value(words)}
    if _NAME.search(words):
        return {"guess": "name"}
    scheme = conventions_of(provider).storage_scheme
    if _ADDRESS.search(words) and scheme:
        return {"made_up": f"{scheme}://bucket/upload"}
    return None


def location_value(name: str) -> str:
    """Return a value for a field with a bucket, key or region; empty for other fields."""
    words = _snake_case(name)
    return placeholder_value(words) if _LOCATION.search(words) else ""


def _snake_case(name: str) -> str:
    return _WORD.sub("_", name).lower()
