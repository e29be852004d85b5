"""Kinds of settings: how a value is read from text and from TOML, checked, and shown again."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard.config.locations import location_text, parse_location
from ciguard.config.quantities import duration_text, parse_duration, parse_size, size_text
from ciguard.domain import MAX_SHARDS, Action, FindingClass, Rule, Severity, parse_shard
from ciguard.errors import suggestion

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_LABEL = 50
"""Characters; GitHub takes no more."""
_CONTROL = re.compile(r"[\0-\x1f\x7f]")
_TYPE_NAMES = {
    bool: "a boolean",
    int: "a number",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "a table",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One type of value. Its functions raise ValueError with the reason; callers add the place."""

    metavar: str
    """The placeholder in `--help`."""
    remedy: str
    """What to write instead, as the end of `Write …`."""
    parse: Callable[[str], Any]
    """Read the text of a flag or of an environment variable."""
    toml_types: tuple[type, ...]
    """What TOML may hold; a string among them is parsed, everything else is the value."""
    check: Callable[[Any], Any] = lambda value: value
    """Return a value that is within bounds."""
    show: Callable[[Any], str] = str
    """Return the value as `from_text` reads it."""
    is_list: bool = False

    def from_text(self, text: str) -> Any:
        """Read the text of a flag or of an environment variable.

        Raises:
            ValueError: with the reason, if it is not such a value.
        """
        return self.check(self.parse(text))

    def from_toml(self, value: object) -> Any:
        """Read what a TOML file holds.

        Raises:
            ValueError: with the reason, if it is not such a value.
        """
        # A boolean is an int in Python, never in TOML.
        if type(value) not in self.toml_types:
            msg = f"{_TYPE_NAMES.get(type(value), 'a date or time')} is not allowed here"
            raise ValueError(msg)
        return self.from_text(value) if isinstance(value, str) else self.check(value)


def whole(least: int, greatest: int) -> Kind:
    """Return the kind of whole numbers within bounds."""
    return Kind(
        metavar="N",
        remedy=f"a whole number from {least} to {greatest}",
        parse=_whole_number,
        toml_types=(int,),
        check=_within(least, greatest),
    )


def duration(least_s: float, greatest_s: float, *, or_zero: bool = False) -> Kind:
    """Return the kind of spans of time, in seconds; 0 may mean something of its own."""
    within = _within(least_s, greatest_s)
    bounds = f"from {duration_text(least_s)} to {duration_text(greatest_s)}"
    return Kind(
        metavar="DURATION",
        remedy=f"a duration {bounds}{', or 0' if or_zero else ''}, such as 90s, 3m, 1h30m or a "
        "number of seconds",
        parse=parse_duration,
        toml_types=(str, int, float),
        check=lambda value: 0.0 if or_zero and value == 0 else float(within(value)),
        show=duration_text,
    )


def size(least_mib: int, greatest_mib: int) -> Kind:
    """Return the kind of amounts of memory, in MiB."""
    return Kind(
        metavar="SIZE",
        remedy=f"a size from {size_text(least_mib)} to {size_text(greatest_mib)}, such as 4GiB, "
        "512MiB or a number of MiB",
        parse=parse_size,
        toml_types=(str, int),
        check=_within(least_mib, greatest_mib),
        show=size_text,
    )


def texts(item: str, *, known: tuple[str, ...] = (), required: bool = False) -> Kind:
    """Return the kind of lists of texts.

    Args:
        item: what one item is, for `--help`.
        known: the only items allowed; empty means any.
        required: at least one item.
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
                msg = f"{text!r} is unknown{_closest(text, known)}"
                raise ValueError(msg)
        return tuple(text.strip() for text in items)

    among = f" among {', '.join(known)}" if known else ""
    return Kind(
        metavar=item,
        remedy=f"a list of strings{among}",
        parse=split_list,
        toml_types=(list,),
        check=check,
        show=", ".join,
        is_list=True,
    )


def name() -> Kind:
    """Return the kind of names; what names there are is known when it is looked up."""
    return Kind(metavar="NAME", remedy="a name", parse=_name, toml_types=(str,), show=str)


def label() -> Kind:
    """Return the kind of labels of issues, as trackers take them."""
    return Kind(
        metavar="LABEL",
        remedy="a label of at most 50 characters without a comma",
        parse=_label,
        toml_types=(str,),
        show=str,
    )


def choice(*known: str) -> Kind:
    """Return the kind of words of which there are a few."""

    def chosen(text: str) -> str:
        if text.strip() not in known:
            msg = f"{text!r} is unknown{_closest(text, known)}"
            raise ValueError(msg)
        return text.strip()

    remedy = f"one of {', '.join(known)}"
    return Kind(metavar="WORD", remedy=remedy, parse=chosen, toml_types=(str,))


def folder() -> Kind:
    """Return the kind of paths of folders."""
    return Kind(
        metavar="DIR",
        remedy="the path of a folder",
        parse=_path,
        toml_types=(str,),
        show=Path.as_posix,
    )


def file() -> Kind:
    """Return the kind of paths of files."""
    return replace(folder(), metavar="FILE", remedy="the path of a file")


def path_or_nothing() -> Kind:
    """Return the kind of paths of files that need not be given; empty means none."""
    return replace(file(), parse=lambda text: str(_path(text)), show=str)


def location() -> Kind:
    """Return the kind of places of a baseline."""
    return Kind(
        metavar="PLACE",
        remedy="the path of a folder, or git+REMOTE#BRANCH",
        parse=parse_location,
        toml_types=(str,),
        show=location_text,
    )


def place() -> Kind:
    """Return the kind of trackers: a name, a colon and what the tracker takes for a location."""
    return Kind(
        metavar="TRACKER",
        remedy="a tracker such as github:owner/name",
        parse=_tracker,
        toml_types=(str,),
    )


def disclosure() -> Kind:
    """Return the kind of places for what must not be published."""
    return Kind(
        metavar="HOW",
        remedy="withhold, public, advisory, or a private repository such as github:owner/name",
        parse=_disclosure,
        toml_types=(str,),
        show=str,
    )


def shard() -> Kind:
    """Return the kind of shards: which of how many."""
    return Kind(
        metavar="I/N",
        remedy=f"I/N with 1 <= I <= N <= {MAX_SHARDS}, such as 2/8",
        parse=parse_shard,
        toml_types=(str,),
    )


def severity() -> Kind:
    """Return the kind of severities, by name."""
    return Kind(
        metavar="SEVERITY",
        remedy=f"one of {', '.join(item.label for item in Severity)}",
        parse=_severity,
        toml_types=(str,),
        show=lambda value: value.label,
    )


def policy() -> Kind:
    """Return the kind of policies: a table in files, `SELECTOR=ACTION` elsewhere."""
    return Kind(
        metavar="RULE",
        remedy=f'a table such as [policy] with lines such as performance = "fail": left one of '
        f"{', '.join(FindingClass)}, or a glob such as 'metamorphic/*' or 'torch.nn.*'; "
        f"right one of {', '.join(action.label for action in Action)}",
        parse=split_list,
        toml_types=(dict,),
        check=_rules,
        show=lambda rules: ", ".join(map(str, rules)),
        is_list=True,
    )


def switch() -> Kind:
    """Return the kind of yes or no."""
    return Kind(
        metavar="",
        remedy="true or false",
        parse=_truth,
        toml_types=(bool,),
        show=lambda value: "true" if value else "false",
    )


def split_list(text: str) -> list[str]:
    """Split at newlines or, where there is none, at commas.

    A comma inside brackets or before a comparison belongs to a requirement: `numpy>=1,<2`.
    """
    written = text.strip()
    if "\n" in written:
        return [line.strip() for line in written.splitlines() if line.strip()]
    return re.split(r"\s*,(?!\s*[<>=!~])(?![^\[]*\])\s*", written) if written else []


def _within(least: float, greatest: float) -> Callable[[Any], Any]:
    def check(number: Any) -> Any:
        if not least <= number <= greatest:
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
        msg = "it is empty"
        raise ValueError(msg)
    return text.strip()


def _label(text: str) -> str:
    written = text.strip()
    # A listing of issues separates labels with commas.
    if not 0 < len(written) <= _MAX_LABEL or "," in written or _CONTROL.search(written):
        msg = "not a label"
        raise ValueError(msg)
    return written


def _path(text: str) -> Path:
    # Paths are shown in logs and handed to other programs line by line.
    if not text.strip() or _CONTROL.search(text):
        msg = "not a path"
        raise ValueError(msg)
    return Path(text)


def _tracker(text: str) -> str:
    written = text.strip()
    if written and not re.fullmatch(r"[a-z][a-z0-9_-]*:[!-~]+", written):
        msg = "not a tracker"
        raise ValueError(msg)
    return written


def _disclosure(text: str) -> str:
    written = text.strip()
    if written in {"withhold", "public", "advisory"} or written.startswith("github:"):
        return _tracker(written) if ":" in written else written
    msg = "not a way to disclose a vulnerability"
    raise ValueError(msg)


def _severity(text: str) -> Severity:
    by_label = {item.label: item for item in Severity}
    if text.strip().lower() not in by_label:
        msg = f"not a severity{_closest(text.lower(), by_label)}"
        raise ValueError(msg)
    return by_label[text.strip().lower()]


def _rules(given: Any) -> tuple[Rule, ...]:
    if not isinstance(given, dict):
        parted = [text.partition("=") for text in given]
        for text, (_, sign, _) in zip(given, parted, strict=True):
            if not sign:
                msg = f"{text!r} is not SELECTOR=ACTION"
                raise ValueError(msg)
        given = {selector.strip(): action.strip() for selector, _, action in parted}
    return tuple(_rule(selector, action) for selector, action in given.items())


def _rule(selector: str, wanted: object) -> Rule:
    if not {"/", "."}.intersection(selector) and selector not in set(FindingClass):
        msg = f"{selector!r} is no class of findings{_closest(selector, FindingClass)}"
        raise ValueError(msg)
    by_label = {action.label: action for action in Action}
    if not isinstance(wanted, str) or wanted not in by_label:
        near = _closest(wanted, by_label) if isinstance(wanted, str) else ""
        msg = f"{selector} = {wanted!r}: no such action{near}"
        raise ValueError(msg)
    action = by_label[wanted]
    if selector == FindingClass.DOCUMENTATION and action > Action.REPORT:
        msg = f"{selector} = {wanted!r}: what documentation says is only ever reported"
        raise ValueError(msg)
    return Rule(selector, action)


def _truth(text: str) -> bool:
    word = text.strip().lower()
    if word not in {"1", "true", "yes", "on", "0", "false", "no", "off"}:
        msg = "neither true nor false"
        raise ValueError(msg)
    return word in {"1", "true", "yes", "on"}


def _closest(text: str, known: Any) -> str:
    """Return `. Did you mean 'x'?` or nothing; the remedy lists what is known."""
    hint = suggestion(text, map(str, known)).partition(" Known:")[0]
    return "." + hint if hint else ""
