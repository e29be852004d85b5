"""The settings of a run and their descriptions."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeVar, cast

from ciguard.config.kinds import (
    SettingKind,
    boolean,
    choice,
    disclosure,
    duration,
    file,
    folder,
    label,
    location,
    optional_file,
    policy,
    severity,
    shard,
    size,
    string_list,
    tracker_location,
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
# TensorFlow does not have a build for Python 3.14 yet.
DEFAULT_TARGETS = ("torch==2.13.0", *(_TENSORFLOW if sys.version_info < (3, 14) else ()))
"""Default targets, all of which have a build for the running version of Python."""

TAGS = (
    "files", "network", "process", "global-state", "blocking", "debug", "callback", "removed",
)  # fmt: skip
"""Tags of APIs that are not called unless the setting `allow` names the tag."""

CONFINE_ALWAYS, CONFINE_WHERE_POSSIBLE, CONFINE_NEVER = "required", "best-effort", "off"

COUNT_ALWAYS, COUNT_IN_LONG_RUNS, COUNT_NEVER = "on", "auto", "off"

T = TypeVar("T")
_DAY_S = 86_400.0
LEVELS_PLACEHOLDER = "{levels}"
"""Placeholder in help texts that the names and summaries of the registered levels replace."""


def _metadata(kind: SettingKind, text: str, **attributes: object) -> Mapping[str, object]:
    """Return the metadata of a field of `Config`.

    Args:
        kind: the kind of the setting's values.
        text: the help text.
        attributes: further attributes of the `Setting` that differ from the defaults.
    """
    return MappingProxyType({"kind": kind, "help": text, **attributes})


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """The effective settings of one command."""

    targets: tuple[str, ...] = field(
        default=DEFAULT_TARGETS,
        metadata=_metadata(
            string_list("TARGET", required=True),
            "Environment to run cases in, e.g. torch==2.13.0, current or 'keras==3.15.1 + jax'. "
            "Several targets of one library are compared with each other. Libraries that the "
            "project's requirement files name take the place of the default.",
            flag="--target",
        ),
    )
    base: tuple[str, ...] = field(
        default=(),
        metadata=_metadata(
            string_list("TARGET"),
            "Target without the pull request's change: it runs the same cases, and "
            "defects that it shows count as known. The baseline need not exist, and is "
            "not written.",
            in_files=False,
        ),
    )
    levels: tuple[str, ...] = field(
        default=("api",),
        metadata=_metadata(
            string_list("LEVEL", required=True),
            f"Level to test: {LEVELS_PLACEHOLDER}.",
            flag="--level",
        ),
    )
    api: tuple[str, ...] = field(
        default=("*",),
        metadata=_metadata(
            string_list("GLOB", required=True),
            "Glob over API names: cases are generated only for APIs that match at least one glob.",
        ),
    )
    exclude: tuple[str, ...] = field(
        default=(),
        metadata=_metadata(
            string_list("GLOB"), "Glob over API names: matching APIs are not tested."
        ),
    )
    level_values: Mapping[str, Any] = field(default_factory=dict)
    """Values of levels' settings that differ from the default, by `Setting.field`. Read them with
    `config[SETTING]`, which returns the default of other settings."""
    focus: tuple[str, ...] = field(
        default=(),
        metadata=_metadata(
            string_list("GLOB"),
            "Glob over API names: matching APIs are tested first, and in seven of ten batches.",
        ),
    )
    plan: str = field(
        default="",
        metadata=_metadata(
            optional_file(),
            "File that `ciguard plan` wrote: it names the APIs to test first, and the reasons.",
            in_files=False,
        ),
    )
    allow: tuple[str, ...] = field(
        default=(),
        metadata=_metadata(
            string_list("TAG", known=TAGS),
            f"Tag of APIs that are called only if this setting names the tag: {', '.join(TAGS)}.",
        ),
    )
    relations: tuple[str, ...] = field(
        default=("*",),
        metadata=_metadata(
            string_list("GLOB"),
            "Glob over names of metamorphic relations to check calls with; an empty list turns "
            "all relations off.",
            flag="--relation",
        ),
    )
    seed: int = field(
        default=0,
        metadata=_metadata(
            whole(0, 2**63 - 1), "Seed of the campaign; the same seed generates the same cases."
        ),
    )
    budget_s: float = field(
        default=180.0,
        metadata=_metadata(
            duration(1.0, 30 * _DAY_S),
            "Wall time of the run; the time to build the targets' environments does not count.",
            key="budget",
        ),
    )
    max_cases: int = field(
        default=0,
        metadata=_metadata(
            whole(0, 10**12),
            "Maximum number of cases; 0 means that only the budget ends the run.",
        ),
    )
    jobs: int = field(
        default=0,
        metadata=_metadata(
            whole(0, 1024), "Workers per target; 0 means as many as cores and memory allow."
        ),
    )
    confine: str = field(
        default=CONFINE_WHERE_POSSIBLE,
        metadata=_metadata(
            choice(CONFINE_ALWAYS, CONFINE_WHERE_POSSIBLE, CONFINE_NEVER),
            "Action if this machine cannot confine workers completely: required ends the "
            "run before the first case, best-effort warns. The value off turns "
            "confinement off, for machines whose drivers require that; configuration "
            "files cannot set this value.",
            not_in_files=(CONFINE_NEVER,),
        ),
    )
    out: Path = field(
        default=Path(".ciguard/run"), metadata=_metadata(folder(), "Folder for results.")
    )
    baseline: Location = field(
        default=Path(".ciguard/baseline"),
        metadata=_metadata(
            location(),
            "Location of the baseline: a folder, or a branch of a git remote such as "
            "git+origin#ciguard-baseline.",
        ),
    )
    compare_only: bool = field(
        default=False,
        metadata=_metadata(
            boolean(),
            "Compare with the baseline, but write neither the baseline nor issues; for pull "
            "requests.",
            in_files=False,
        ),
    )
    tracker: Path = field(
        default=Path(".ciguard/issues"),
        metadata=_metadata(
            folder(), "Folder for the local tracker, which writes one file per issue."
        ),
    )
    issues: str = field(
        default="",
        metadata=_metadata(
            tracker_location(),
            "Tracker for issues instead of a folder: github:owner/name. GITHUB_TOKEN must contain "
            "the token.",
        ),
    )
    issue_marker: str = field(
        default="ciguard",
        metadata=_metadata(
            label(),
            "Label of all issues that ciguard files on GitHub; ciguard finds its issues "
            "by this label.",
        ),
    )
    issue_labels: tuple[str, ...] = field(
        default=(),
        metadata=_metadata(
            string_list("LABEL"), "Another label of new issues.", flag="--issue-label"
        ),
    )
    issue_assignees: tuple[str, ...] = field(
        default=(),
        metadata=_metadata(
            string_list("USER"), "User to assign to new issues.", flag="--issue-assignee"
        ),
    )
    issues_per_run: int = field(
        default=5,
        metadata=_metadata(
            whole(0, 10_000),
            "Maximum number of new issues per run on GitHub; a single issue lists all others.",
        ),
    )
    issues_per_day: int = field(
        default=20,
        metadata=_metadata(
            whole(0, 10_000), "Maximum number of new issues on GitHub in 24 hours, over all runs."
        ),
    )
    issues_security: str = field(
        default="withhold",
        metadata=_metadata(
            disclosure(),
            "Where to report security-relevant crashes: withhold (nowhere), public (like other "
            "findings), github:owner/name (a private repository) or advisory (a draft security "
            "advisory).",
        ),
    )
    issue_template: Path = field(
        default=Path(".ciguard/issue.md.j2"),
        metadata=_metadata(
            file(),
            "Path of a Jinja template for an issue's text; without a path, the built-in "
            "template is used.",
        ),
    )
    dry_run: bool = field(
        default=False,
        metadata=_metadata(boolean(), "Print the issues without filing them."),
    )
    fail_on: Severity = field(
        default=Severity.MEDIUM,
        metadata=_metadata(
            severity(),
            "Minimum severity of a new finding that fails the run: "
            f"{', '.join(item.label for item in Severity)}.",
        ),
    )
    instructions: str = field(
        default=COUNT_IN_LONG_RUNS,
        metadata=_metadata(
            choice(COUNT_IN_LONG_RUNS, COUNT_ALWAYS, COUNT_NEVER),
            "Count instructions of calls with Valgrind, which shows slowdowns of 5 %. The value "
            "auto counts in runs of at least 5 minutes without --max-cases.",
        ),
    )
    detection: bool = field(
        default=True,
        metadata=_metadata(
            boolean(),
            "Plant known defects into judged calls, and report how many of them the run notices.",
        ),
    )
    min_detection: int = field(
        default=0,
        metadata=_metadata(
            whole(0, 100),
            "Minimum share of the planted defects that a run must notice to pass, in per cent.",
        ),
    )
    rules: tuple[PolicyRule, ...] = field(
        default=(),
        metadata=_metadata(
            policy(),
            "Action for selected findings as SELECTOR=ACTION; it has precedence over fail-on. "
            "Actions are off, report, file and fail (docs/severity.md).",
            key="policy",
            flag="--policy",
        ),
    )
    release_notes: tuple[str, ...] = field(
        default=(),
        metadata=_metadata(
            string_list("FILE"),
            "File with release notes of the tested library: a difference between versions that "
            "it names is an announced change.",
        ),
    )
    case_limit_s: float = field(
        default=0.0,
        metadata=_metadata(
            duration(0.1, 3_600.0, or_zero=True),
            "Timeout of one case; 0 means the library's default (5s, or more if calls compile).",
            key="case-limit",
        ),
    )
    memory_mib: int = field(
        default=1024,
        metadata=_metadata(size(256, 1024 * 1024), "Maximum memory of one worker.", key="memory"),
    )
    confirmations: int = field(
        default=3,
        metadata=_metadata(
            whole(1, 100), "Number of fresh workers that must reproduce a finding to confirm it."
        ),
    )
    resume: bool = field(
        default=False,
        metadata=_metadata(
            boolean(), "Continue the campaign in the output folder.", in_files=False
        ),
    )

    shard: Shard = field(
        default=Shard(),
        metadata=_metadata(
            shard(),
            "Run only this shard of the campaign, without a verdict; `ciguard merge` merges the "
            "shards.",
            in_files=False,
        ),
    )
    part: bool = field(
        default=False,
        metadata=_metadata(
            boolean(),
            "Run the whole work on these targets, but without a verdict; `ciguard merge` "
            "merges the results with those of runs on other targets.",
            in_files=False,
        ),
    )

    def __getitem__(self, setting: Setting[T]) -> T:
        """Return the value of a setting of a run or a level."""
        if setting.is_of_level:
            return cast("T", self.level_values.get(setting.field, setting.default))
        return cast("T", getattr(self, setting.field))

    def with_value(self, setting: Setting[T], value: T) -> Config:
        """Return a copy of the settings with one value changed."""
        if not setting.is_of_level:
            changes: dict[str, Any] = {setting.field: value}
            return replace(self, **changes)
        others = {name: old for name, old in self.level_values.items() if name != setting.field}
        changed = {} if value == setting.default else {setting.field: value}
        return replace(self, level_values=others | changed)

    @property
    def policy(self) -> Policy:
        """Policy for new findings."""
        return Policy(fail_on=self.fail_on, rules=self.rules)

    @property
    def is_read_only(self) -> bool:
        """True if the run writes neither baseline nor issues."""
        return self.compare_only or bool(self.base) or self.is_part

    @property
    def has_fixed_cases(self) -> bool:
        """True if the run calls the same cases on every machine, however fast it is."""
        return bool(self.max_cases) or not self.shard.is_whole_campaign

    @property
    def is_part(self) -> bool:
        """True if `ciguard merge` decides the verdict of this run together with other parts."""
        return self.part or not self.shard.is_whole_campaign
