"""What is known of one setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from ciguard.config.kinds import SettingKind

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting(Generic[T_co]):
    """What is known of one setting; `Config` holds its value."""

    field: str
    """Its name in `Config`, or in `Config.of_levels`."""
    key: str
    """Its name in files."""
    kind: SettingKind
    help: str
    """One or two sentences; also what `ciguard run --help` says."""
    flag: str
    """Its flag, e.g. `--target`."""
    default: T_co
    in_files: bool = True
    """False for what concerns one run only."""
    not_in_files: tuple[object, ...] = ()
    """Values that a file must not hold: a pull request changes files."""
    is_of_level: bool = False
    """True if the package of a level declares it."""
    decides_cases: bool = False
    """True if parts of one campaign must agree in it; of a level's setting."""
    is_input: bool = False
    """True if the packaged action has an input of its key."""

    @property
    def variable(self) -> str:
        """Its environment variable."""
        return "CIGUARD_" + self.key.upper().replace("-", "_")


def level_setting(  # noqa: PLR0913 - what is declared of it
    key: str,
    kind: SettingKind,
    default: T,
    text: str,
    *,
    flag: str = "",
    decides_cases: bool = True,
    is_input: bool = False,
) -> Setting[T]:
    """Return a setting that belongs to a level.

    Args:
        key: its name in files, such as `model-width`.
        kind: how its value is read and checked; see `ciguard.config.kinds`.
        default: as `kind` returns it.
        text: one or two sentences of help.
        flag: where it is not `--key`.
        decides_cases: whether parts of one campaign must agree in it.
        is_input: whether the packaged action has an input of that name.
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
