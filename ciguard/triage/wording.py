"""Removal of local paths and passwords from a library's text before it is published."""

from __future__ import annotations

import re

from ciguard.domain.text import without_userinfo

_PART = r"[^\s/\\:'\",;()\[\]]+"
_NOT_AFTER = r"(?<![\w/:.<>)\]…])"
_NOT_A_DEVICE = r"(?!/|job:|replica:|task:|device:)"
_PACKAGE_FOLDER = re.compile(rf"(?:[A-Za-z]:)?[/\\](?:{_PART}[/\\])+(?:site|dist)-packages[/\\]")
_NESTED_PATH = re.compile(
    rf"{_NOT_AFTER}(?:[A-Za-z]:[/\\]|~?/){_NOT_A_DEVICE}(?:{_PART}[/\\])+(?={_PART})"
)
_TOP_LEVEL_PATH = re.compile(rf"{_NOT_AFTER}~?/{_NOT_A_DEVICE}[\w.+@-]+(?=[\s'\",;:)\]]|$)")


def without_local_paths(text: str) -> str:
    """Return `text` without local folders, and without user names and passwords in URLs.

    Paths of installed packages start at the package. Other absolute paths keep only their last
    part. TensorFlow's device names (`/job:localhost/…`) are not paths and stay unchanged.
    """
    return _TOP_LEVEL_PATH.sub(
        "…", _NESTED_PATH.sub("…/", _PACKAGE_FOLDER.sub("", without_userinfo(text)))
    )
