"""The description of one setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from ciguard.config.kinds import SettingKind

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Generic[T_co]):
    """Description of one setting; `Config` holds its value."""

    field: str
    """Name of the setting's field in `Config`, or its key in `Config.level_values`."""
    key: str
    """Name of the setting in files."""
    kind: SettingKind
    help: str
    """Help text of one or two sentences, also for `ciguard run --help`."""
    flag: str
    """Command-line flag, e.g. `--target`."""
    default: T_co
    in_files: bool = True
    """False for settings that apply to a single run, which files cannot set."""
    not_in_files: tuple[object, ...] = ()
    """Values that files must not set, because a tested pull request can edit files."""
    is_of_level: bool = False
    """True if the package of a level declares the setting."""
    decides_cases: bool = False
    """True for a level's setting on which the generated cases depend, so that all parts of a
    campaign must have the same value."""
    is_input: bool = False
    """True if the GitHub action has an input with this key."""

    @property
    def variable(self) -> str:
        """Name of the environment variable."""
        return "CIGUARD_" + self.key.upper().replace("-", "_")


def level_setting(  # noqa: PLR0913 - an argument for each field of a setting
    key: str,
    kind: SettingKind,
    default: T,
    text: str,
    *,
    flag: str = "",
    decides_cases: bool = True,
    is_input: bool = False,
) -> Setting[T]:
    """Return a setting of a level.

    Args:
        key: name of the setting in files, such as `model-width`.
        kind: kind of the setting's values; see `ciguard.config.kinds`.
        default: default value, of the type that `kind` parses to.
        text: help text of one or two sentences.
        flag: command-line flag; `--KEY` if empty.
        decides_cases: whether the generated cases depend on the setting, so that all parts of a
            campaign must have the same value.
        is_input: whether the GitHub action has an input with this key.
    """
    return Setting(
        field=key.replace("-", "_"),
        key=key,
        kind=kind,
        help=text,
        flag=flag or f"--{key}",
        default=default,
        is_of_level=True,
        decides_cases=decides_cases,
        is_input=is_input,
    )
