"""Text of a library made fit to leave this machine: no local paths, no passwords."""

from __future__ import annotations

import re

from ciguard.domain.text import without_userinfo

_PART = r"[^\s/\\:'\",;()\[\]]+"
_START = r"(?<![\w/:.<>)\]…])"
_NOT_A_PLACE = r"(?!/|job:|replica:|task:|device:)"
_INSTALLED = re.compile(rf"(?:[A-Za-z]:)?[/\\](?:{_PART}[/\\])+(?:site|dist)-packages[/\\]")
_NESTED = re.compile(rf"{_START}(?:[A-Za-z]:[/\\]|~?/){_NOT_A_PLACE}(?:{_PART}[/\\])+(?={_PART})")
_ROOTED = re.compile(rf"{_START}~?/{_NOT_A_PLACE}[\w.+@-]+(?=[\s'\",;:)\]]|$)")


def without_local_paths(text: str) -> str:
    """Return `text` with absolute paths cut to what every machine shares.

    Names and passwords in addresses are replaced too.

    Paths of installed packages begin at the package; of others the last part remains.
    TensorFlow's device names (`/job:localhost/…`) look like paths and are none.
    """
    return _ROOTED.sub("…", _NESTED.sub("…/", _INSTALLED.sub("", without_userinfo(text))))
