"""The settings of a run, each described where its value is."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ciguard.config.kinds import (
    SettingKind,
    choice,
    disclosure,
    duration,
    file,
    folder,
    label,
    location,
    path_or_nothing,
    place,
    policy,
    severity,
    shard,
    size,
    switch,
    texts,
    whole,
)
from ciguard.domain.findings import Severity
from ciguard.domain.policy import Policy, PolicyRule
from ciguard.domain.shards import Shard

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ciguard.config.locations import Location
    from ciguard.config.setting import Setting

_TENSORFLOW = ("tensorflow-cpu==2.20.0", "tensorflow-cpu==2.21.0")
# TensorFlow has no build for Python 3.14 yet.
DEFAULT_TARGETS = ("torch==2.13.0", *(_TENSORFLOW if sys.version_info < (3, 14) else ()))
"""Have builds for every Python that ciguard runs on."""

TAGS = (
    "files",
    "network",
    "process",
    "global-state",
    "blocking",
    "debug",
    "callback",
    "removed",
)
"""Calls with one of these tags are left out unless the `allow` setting names it."""

CONFINE_ALWAYS, CONFINE_WHERE_POSSIBLE, CONFINE_NEVER = "required", "best-effort", "off"

T = TypeVar("T")
_DAY_S = 86_400.0
LEVELS_THERE_ARE = "{levels}"
"""Stands for the levels that there are."""


def _described(kind: SettingKind, text: str, **names: object) -> Mapping[str, object]:
    """Return the metadata of a field: kind, help, and names that differ from the field's."""
    return MappingProxyType({"kind": kind, "help": text, **names})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The effective settings of one command."""

    targets: tuple[str, ...] = field(
        default=DEFAULT_TARGETS,
        metadata=_described(
            texts("TARGET", required=True),
            "Environment that cases run in, e.g. torch==2.13.0, current, 'keras==3.15.1 + jax'. "
            "Several targets of one library are compared with each other.",
            flag="--target",
        ),
    )
    base: tuple[str, ...] = field(
        default=(),
        metadata=_described(
            texts("TARGET"),
            "Target of the base that a pull request is judged against: it runs the same cases, and "
            "what it shows too is known. Nothing is written to the baseline, which need not exist.",
            in_files=False,
        ),
    )
    levels: tuple[str, ...] = field(
        default=("api",),
        metadata=_described(
            texts("LEVEL", required=True),
            f"What is tested: {LEVELS_THERE_ARE}.",
            flag="--level",
        ),
    )
    api: tuple[str, ...] = field(
        default=("*",),
        metadata=_described(
            texts("GLOB", required=True),
            "Glob over API names: cases are generated only for APIs that match one.",
        ),
    )
    exclude: tuple[str, ...] = field(
        default=(),
        metadata=_described(texts("GLOB"), "Glob over API names that are left out."),
    )
    of_levels: Mapping[str, Any] = field(default_factory=dict)
    """What levels declare, by the name of the setting; what is not there has its default.
    Read by `config[SETTING]`."""
    focus: tuple[str, ...] = field(
        default=(),
        metadata=_described(
            texts("GLOB"),
            "Glob over API names that are tried first and most: they get seven of ten batches.",
        ),
    )
    plan: str = field(
        default="",
        metadata=_described(
            path_or_nothing(),
            "Plan that `ciguard plan` wrote: what to try first, and what reports say of it.",
            in_files=False,
        ),
    )
    allow: tuple[str, ...] = field(
        default=(),
        metadata=_described(
            texts("TAG", known=TAGS),
            f"Call APIs with this tag too, which are left out otherwise: {', '.join(TAGS)}.",
        ),
    )
    relations: tuple[str, ...] = field(
        default=("*",),
        metadata=_described(
            texts("GLOB"),
            "Glob over names of metamorphic relations that calls are tried with; "
            "an empty list turns them off.",
            flag="--relation",
        ),
    )
    seed: int = field(default=0, metadata=_described(whole(0, 2**63 - 1), "Same seed, same cases."))
    budget_s: float = field(
        default=180.0,
        metadata=_described(
            duration(1.0, 30 * _DAY_S),
            "Wall time of the whole run; provisioning of targets excluded.",
            key="budget",
        ),
    )
    max_cases: int = field(
        default=0,
        metadata=_described(
            whole(0, 10**12),
            "Stop after this many cases; 0 means that only the budget ends the run.",
        ),
    )
    jobs: int = field(
        default=0, metadata=_described(whole(0, 1024), "Workers per target; 0 means one.")
    )
    confine: str = field(
        default=CONFINE_WHERE_POSSIBLE,
        metadata=_described(
            choice(CONFINE_ALWAYS, CONFINE_WHERE_POSSIBLE, CONFINE_NEVER),
            "What is done where this machine does not refuse workers all that it ought to: "
            "required ends the run before the first case, best-effort warns. off confines no "
            "worker, for machines whose drivers do not start otherwise; no file may say so.",
            not_in_files=(CONFINE_NEVER,),
        ),
    )
    out: Path = field(
        default=Path(".ciguard/run"), metadata=_described(folder(), "Folder for results.")
    )
    baseline: Location = field(
        default=Path(".ciguard/baseline"),
        metadata=_described(
            location(),
            "Where the baseline is kept: a folder, or a branch of a git remote such as "
            "git+origin#ciguard-baseline.",
        ),
    )
    compare_only: bool = field(
        default=False,
        metadata=_described(
            switch(),
            "Compare with the baseline, write neither it nor issues: for pull requests.",
            in_files=False,
        ),
    )
    tracker: Path = field(
        default=Path(".ciguard/issues"),
        metadata=_described(folder(), "Folder of the local tracker: one file per bucket."),
    )
    issues: str = field(
        default="",
        metadata=_described(
            place(),
            "File issues there instead: github:owner/name, with the token in GITHUB_TOKEN.",
        ),
    )
    issue_marker: str = field(
        default="ciguard",
        metadata=_described(
            label(),
            "Label of every issue that ciguard files on GitHub; by it they are found again.",
        ),
    )
    issue_labels: tuple[str, ...] = field(
        default=(),
        metadata=_described(
            texts("LABEL"), "Label of new issues, beside ciguard's own.", flag="--issue-label"
        ),
    )
    issue_assignees: tuple[str, ...] = field(
        default=(),
        metadata=_described(
            texts("USER"), "Who is assigned to new issues.", flag="--issue-assignee"
        ),
    )
    issues_per_run: int = field(
        default=5,
        metadata=_described(
            whole(0, 10_000),
            "New issues that one run may open on GitHub; the rest goes on one list.",
        ),
    )
    issues_per_day: int = field(
        default=20,
        metadata=_described(
            whole(0, 10_000), "New issues that all runs of 24 hours may open on GitHub."
        ),
    )
    issues_security: str = field(
        default="withhold",
        metadata=_described(
            disclosure(),
            "Where security-relevant crashes are filed: withhold (nowhere), public, "
            "github:owner/name (a private repository) or advisory (a draft security advisory).",
        ),
    )
    issue_template: Path = field(
        default=Path(".ciguard/issue.md.j2"),
        metadata=_described(
            file(), "Jinja template of an issue's text; where there is none, the built-in one."
        ),
    )
    dry_run: bool = field(
        default=False,
        metadata=_described(switch(), "Only say what would be filed."),
    )
    fail_on: Severity = field(
        default=Severity.MEDIUM,
        metadata=_described(
            severity(),
            "Least severity of a new finding that fails the run: "
            f"{', '.join(item.label for item in Severity)}.",
        ),
    )
    rules: tuple[PolicyRule, ...] = field(
        default=(),
        metadata=_described(
            policy(),
            "What is done about some findings, whatever fail-on says, as SELECTOR=ACTION; actions "
            "are off, report, file and fail (docs/severity.md).",
            key="policy",
            flag="--policy",
        ),
    )
    case_limit_s: float = field(
        default=0.0,
        metadata=_described(
            duration(0.1, 3_600.0, or_zero=True),
            "Time limit of one case; 0 means the library's own (5s; more where calls compile).",
            key="case-limit",
        ),
    )
    memory_mib: int = field(
        default=1024,
        metadata=_described(
            size(256, 1024 * 1024), "Memory that one worker may allocate.", key="memory"
        ),
    )
    confirmations: int = field(
        default=3,
        metadata=_described(whole(1, 100), "Fresh workers in which a finding must reproduce."),
    )
    resume: bool = field(
        default=False,
        metadata=_described(
            switch(), "Continue the campaign found in the output folder.", in_files=False
        ),
    )

    shard: Shard = field(
        default=Shard(),
        metadata=_described(
            shard(),
            "Do this part of the campaign and judge nothing: `ciguard merge` joins the parts.",
            in_files=False,
        ),
    )
    part: bool = field(
        default=False,
        metadata=_described(
            switch(),
            "Judge nothing, although it is the only shard on these targets: `ciguard merge` joins "
            "it with runs on other targets.",
            in_files=False,
        ),
    )

    def __getitem__(self, setting: Setting[T]) -> T:
        """Return the value of a setting, of a level's as of any other."""
        if setting.is_of_level:
            return cast("T", self.of_levels.get(setting.field, setting.default))
        return cast("T", getattr(self, setting.field))

    def having(self, setting: Setting[T], value: T) -> Config:
        """Return these settings with another value of one."""
        if not setting.is_of_level:
            changed: dict[str, Any] = {setting.field: value}
            return replace(self, **changed)
        others = {name: one for name, one in self.of_levels.items() if name != setting.field}
        given = {} if value == setting.default else {setting.field: value}
        return replace(self, of_levels=others | given)

    @property
    def policy(self) -> Policy:
        """What is done about a finding."""
        return Policy(fail_on=self.fail_on, rules=self.rules)

    @property
    def is_read_only(self) -> bool:
        """True if the run writes neither baseline nor issues."""
        return self.compare_only or bool(self.base) or self.is_part

    @property
    def is_part(self) -> bool:
        """True if another command judges this run together with others."""
        return self.part or not self.shard.is_all
