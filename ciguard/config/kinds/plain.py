"""General kinds of settings: numbers, strings, paths and switches."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.config.kinds.contract import SettingKind, closest
from ciguard.config.quantities import duration_text, parse_duration, parse_size, size_text

if TYPE_CHECKING:
    from collections.abc import Callable

CONTROL_CHARACTER = re.compile(r"[\0-\x1f\x7f]")


def whole(minimum: int, maximum: int) -> SettingKind:
    """Return the kind of a setting whose value is an integer from `minimum` to `maximum`."""
    return SettingKind(
        metavar="N",
        remedy=f"a whole number from {minimum} to {maximum}",
        parse=_whole_number,
        toml_types=(int,),
        check=_range_check(minimum, maximum),
    )


def duration(min_s: float, max_s: float, *, or_zero: bool = False) -> SettingKind:
    """Return the kind of a setting whose value is a duration in a range.

    Args:
        min_s: the shortest duration, in seconds.
        max_s: the longest duration, in seconds.
        or_zero: whether 0 is valid, too.
    """
    check_range = _range_check(min_s, max_s)
    bounds = f"from {duration_text(min_s)} to {duration_text(max_s)}"
    return SettingKind(
        metavar="DURATION",
        remedy=f"a duration {bounds}{', or 0' if or_zero else ''}, such as 90s, 3m, 1h30m or a "
        "number of seconds",
        parse=parse_duration,
        toml_types=(str, int, float),
        check=lambda value: 0.0 if or_zero and value == 0 else float(check_range(value)),
        show=duration_text,
    )


def size(min_mib: int, max_mib: int) -> SettingKind:
    """Return the kind of a setting whose value is a memory size in a range, in MiB."""
    return SettingKind(
        metavar="SIZE",
        remedy=f"a size from {size_text(min_mib)} to {size_text(max_mib)}, such as 4GiB, "
        "512MiB or a number of MiB",
        parse=parse_size,
        toml_types=(str, int),
        check=_range_check(min_mib, max_mib),
        show=size_text,
    )


def string_list(item: str, *, known: tuple[str, ...] = (), required: bool = False) -> SettingKind:
    """Return the kind of lists of strings.

    Args:
        item: placeholder of one item in `--help`.
        known: valid items; empty if all items are valid.
        required: whether the list needs at least one item.
    """

    def check(items: Any) -> tuple[str, ...]:
        if not all(isinstance(text, str) and text.strip() for text in items):
            msg = "an item is empty or not a string"
            raise ValueError(msg)
        if required and not items:
            msg = "the list is empty"
            raise ValueError(msg)
        for text in items:
            if known and text not in known:
                msg = f"{text!r} is unknown{closest(text, known)}"
                raise ValueError(msg)
        return tuple(text.strip() for text in items)

    among = f" among {', '.join(known)}" if known else ""
    return SettingKind(
        metavar=item,
        remedy=f"a list of strings{among}",
        parse=split_list,
        toml_types=(list,),
        check=check,
        show=", ".join,
        is_list=True,
    )


def name() -> SettingKind:
    """Return the kind of names, which are validated when they are used."""
    return SettingKind(metavar="NAME", remedy="a name", parse=_name, toml_types=(str,), show=str)


def choice(*known: str) -> SettingKind:
    """Return the kind of a choice among words."""

    def parse(text: str) -> str:
        if text.strip() not in known:
            msg = f"{text!r} is unknown{closest(text, known)}"
            raise ValueError(msg)
        return text.strip()

    remedy = f"one of {', '.join(known)}"
    return SettingKind(metavar="WORD", remedy=remedy, parse=parse, toml_types=(str,))


def folder() -> SettingKind:
    """Return the kind of paths of folders."""
    return SettingKind(
        metavar="DIR",
        remedy="the path of a folder",
        parse=_path,
        toml_types=(str,),
        show=Path.as_posix,
    )


def file() -> SettingKind:
    """Return the kind of paths of files."""
    return replace(folder(), metavar="FILE", remedy="the path of a file")


def optional_file() -> SettingKind:
    """Return the kind of optional paths of files; the value is an empty string if there is none."""
    return replace(file(), parse=lambda text: str(_path(text)), show=str)


def boolean() -> SettingKind:
    """Return the kind of booleans, whose flag has no value."""
    return SettingKind(
        metavar="",
        remedy="true or false",
        parse=_boolean,
        toml_types=(bool,),
        show=lambda value: "true" if value else "false",
    )


def split_list(text: str) -> list[str]:
    """Split text at newlines, or at commas if there is no newline.

    A comma in brackets or before a comparison belongs to a requirement, as in `numpy>=1,<2`.
    """
    items = text.strip()
    if "\n" in items:
        return [line.strip() for line in items.splitlines() if line.strip()]
    return re.split(r"\s*,(?!\s*[<>=!~])(?![^\[]*\])\s*", items) if items else []


def _range_check(minimum: float, maximum: float) -> Callable[[Any], Any]:
    """Return a function that returns a number in the range, and raises a ValueError otherwise."""

    def check(number: Any) -> Any:
        if not minimum <= number <= maximum:
            msg = "out of range"
            raise ValueError(msg)
        return number

    return check


def _whole_number(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]{1,30}", text.strip()):
        msg = "not a whole number"
        raise ValueError(msg)
    return int(text)


def _name(text: str) -> str:
    if not text.strip():
        msg = "the name is empty"
        raise ValueError(msg)
    return text.strip()


def _path(text: str) -> Path:
    # A path with a newline would be two paths in logs, and for programs that read them by line.
    if not text.strip() or CONTROL_CHARACTER.search(text):
        msg = "not a path"
        raise ValueError(msg)
    return Path(text)


def _boolean(text: str) -> bool:
    word = text.strip().lower()
    if word not in {"1", "true", "yes", "on", "0", "false", "no", "off"}:
        msg = "neither true nor false"
        raise ValueError(msg)
    return word in {"1", "true", "yes", "on"}
