"""Bisection over released versions of a library, for the first one that shows a defect."""

from __future__ import annotations

import json
import logging
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from packaging.version import InvalidVersion, Version

from ciguard.campaign.group import groups_of
from ciguard.campaign.levels import level_of, rerun_settings
from ciguard.campaign.workers import worker_spec
from ciguard.domain.case import case_id
from ciguard.domain.findings import PairKind
from ciguard.domain.outcomes import Rejected, Stage
from ciguard.errors import ConfigurationError, ProvisioningError, WorkerStartError
from ciguard.execution import Dispatcher, Job
from ciguard.files import read_text, replace_file
from ciguard.libraries import LIBRARIES
from ciguard.oracles import judge
from ciguard.oracles.relations import encode
from ciguard.targets import (
    at_version,
    cache_folder,
    parse_target,
    provision,
    released_versions,
    unique_names,
)
from ciguard.triage import fingerprint, summary_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from ciguard.campaign.group import Group
    from ciguard.config import Config
    from ciguard.domain.findings import Bucket, Finding
    from ciguard.domain.outcomes import Outcome
    from ciguard.libraries import Library
    from ciguard.targets import Environment, Target

log = logging.getLogger(__name__)

_WAIT_S = 1.0
_MAX_CACHE_BYTES = 1 << 20
_MAX_DETAIL = 200


class VersionStatus(StrEnum):
    """Status of a version in a bisection."""

    GOOD = "good"
    """The version does not show the defect."""
    BAD = "bad"
    """The version shows the defect."""
    SKIPPED = "skipped"
    """The version cannot be installed, lacks the API, or fails in another way."""


@dataclass(frozen=True, slots=True)
class VersionTrial:
    """Result of testing one version."""

    version: str
    """Version number."""
    status: VersionStatus
    """Status of the version."""
    detail: str = ""
    """Outcome or reason, in one line."""


@dataclass(slots=True)
class Bisection:
    """Result of a bisection."""

    trials: list[VersionTrial] = field(default_factory=list)
    """Results of the tested versions, in the order of the tests."""
    first_bad: str = ""
    """First version that shows the defect."""
    last_good: str = ""
    """Last version before it that does not; empty if all tested versions show the defect."""
    between: list[str] = field(default_factory=list)
    """Skipped versions between the two, each of which may be the first bad one."""
    is_fix: bool = False
    """True if the good version is newer than the bad one, so that a fix was searched."""


def search(
    versions: Sequence[str], trial_of: Callable[[str], VersionTrial], *, knows_good: bool = False
) -> Bisection:
    """Search a range of versions by halving it, for the first bad one after a good one.

    Args:
        versions: versions in order; the last one is expected to be bad.
        trial_of: function that tests a version; called at most once per version.
        knows_good: whether the first version is expected to be good; otherwise the search begins
            with the oldest version that can be tested.

    Raises:
        ConfigurationError: if the last version does not show the defect, or the first one does
            although it is expected to be good.
    """
    result = Bisection()

    def test(index: int) -> VersionStatus:
        result.trials.append(trial_of(versions[index]))
        return result.trials[-1].status

    bad = len(versions) - 1
    if test(bad) is not VersionStatus.BAD:
        trial = result.trials[-1]
        msg = f"{trial.version} does not show the defect: {trial.status}, {trial.detail}"
        raise ConfigurationError(msg)
    good = -1
    skipped: set[int] = set()
    while candidates := [index for index in range(good + 1, bad) if index not in skipped]:
        # The oldest version comes first, as there is no range to halve without a good one.
        index = candidates[len(candidates) // 2] if good >= 0 else candidates[0]
        match test(index):
            case VersionStatus.GOOD:
                good = index
            case VersionStatus.BAD if knows_good and not index:
                msg = f"{versions[0]} is not good: {result.trials[-1].detail}"
                raise ConfigurationError(msg)
            case VersionStatus.BAD:
                bad = index
            case VersionStatus.SKIPPED:
                skipped.add(index)
    result.first_bad = versions[bad]
    result.last_good = versions[good] if good >= 0 else ""
    result.between = [versions[index] for index in range(good + 1, bad)]
    return result


def bisect(
    bucket: Bucket,
    config: Config,
    *,
    good: str = "",
    bad: str = "",
    on_step: Callable[[str], None] = log.info,
) -> Bisection:
    """Test released versions of a bucket's library until the first bad one is known.

    Results are cached, so that an interrupted bisection continues where it stopped.

    Args:
        bucket: bucket of a run or of the baseline.
        config: settings, with limits and repetitions.
        good: a version without the defect; by default the oldest that can be installed. If it is
            newer than the bad one, the version with the fix is searched.
        bad: a version that shows the defect; by default the one that showed it first.
        on_step: called with a line of text for each step.

    Raises:
        ConfigurationError: if an end of the range has the wrong status, or the bucket does not
            depend on a version.
        ProvisioningError: if the versions cannot be listed.
    """
    level_of(bucket.finding.case.level).check_rerun(bucket.finding)
    library = LIBRARIES.get(bucket.finding.library)
    target = _requested(bucket.finding.targets[-1])
    bad = _version(bad or provision(target, on_step=on_step).version)
    good = _version(good) if good else ""
    if good == bad:
        msg = f"Version {good} cannot be both good and bad."
        raise ConfigurationError(msg)
    is_fix = bool(good) and Version(good) > Version(bad)
    newest, oldest = (good, bad) if is_fix else (bad, good)
    on_step(f"listing the versions of {library.name} up to {newest}")
    listed = released_versions(target, library, newest=newest, oldest=oldest)
    ends = {bad, good} - {""}
    versions = sorted({*listed, *ends}, key=Version, reverse=is_fix)
    tester = _VersionTester(bucket, library, config, on_step=on_step)
    on_step(f"{len(versions)} versions, from {versions[0]} to {versions[-1]}")
    result = search(versions, tester.trial, knows_good=bool(good))
    result.is_fix = is_fix
    return result


def _version(text: str) -> str:
    try:
        return Version(text).public
    except InvalidVersion as error:
        msg = f"{text!r} is not a version. Give one such as 2.13.0."
        raise ConfigurationError(msg) from error


def _requested(name: str) -> Target:
    # The second of two equal targets has a number that is not part of the request.
    return parse_target(name.partition(" #")[0])


class _VersionTester:
    """Tests each version once, and caches the results."""

    def __init__(
        self, bucket: Bucket, library: Library, config: Config, *, on_step: Callable[[str], None]
    ) -> None:
        self._bucket = bucket
        self._library = library
        self._config = rerun_settings(bucket.finding, config)
        self._on_step = on_step
        name = f"{bucket.fingerprint.replace(':', '-')}-{case_id(bucket.finding.case)}.json"
        self._path = cache_folder() / "bisect" / name
        self._cached = _read(self._path)

    def trial(self, version: str) -> VersionTrial:
        """Return the result of a version, from the cache if possible."""
        trial = self._cached.get(version)
        if trial is None:
            trial = self._test(version)
        if trial.status is not VersionStatus.SKIPPED:  # it may be installable next time
            self._cached[version] = trial
            _write(self._path, self._cached)
        self._on_step(f"{version}: {trial.status}, {trial.detail}")
        return trial

    def _test(self, version: str) -> VersionTrial:
        try:
            environments = self._environments(version)
            repetitions = self._outcomes(environments)
        except (ProvisioningError, WorkerStartError) as error:
            return VersionTrial(version, VersionStatus.SKIPPED, _line(str(error)))
        group = groups_of(environments)[self._library.name]
        shown = sum(_shows(self._bucket, outcomes, group) for outcomes in repetitions)
        outcome = repetitions[0][list(environments)[-1]]
        detail = _line(summary_line(outcome) or "the call returned")
        if shown:
            times = "" if shown == len(repetitions) else f" ({shown} of {len(repetitions)} times)"
            return VersionTrial(version, VersionStatus.BAD, f"{detail}{times}")
        if isinstance(outcome, Rejected) and outcome.stage is Stage.BUILD:
            return VersionTrial(
                version, VersionStatus.SKIPPED, f"it cannot make this call: {detail}"
            )
        if any(_findings(self._bucket, outcomes, group) for outcomes in repetitions):
            return VersionTrial(
                version, VersionStatus.SKIPPED, f"it fails in another way: {detail}"
            )
        return VersionTrial(version, VersionStatus.GOOD, detail)

    def _environments(self, version: str) -> dict[str, Environment]:
        finding = self._bucket.finding
        targets = [_requested(name) for name in finding.targets]
        if finding.pair is PairKind.NONE:
            targets = targets[-1:]
        # A comparison of two versions keeps its reference; otherwise all targets get this version.
        unchanged = targets[:-1] if finding.pair is PairKind.VERSION else []
        changed = targets[len(unchanged) :]
        versioned = [at_version(target, self._library, version) for target in changed]
        requested = [*unchanged, *versioned]
        return {
            name: provision(target, on_step=self._on_step)
            for name, target in zip(unique_names(requested), requested, strict=True)
        }

    def _outcomes(self, environments: Mapping[str, Environment]) -> list[dict[str, Outcome]]:
        """Run the case in fresh workers, as often as confirming a new finding does."""
        if not self._bucket.finding.case.is_run_by_worker:
            return [self._run_by_level(environments) for _ in range(self._config.confirmations)]
        case = encode(self._bucket.finding.case)
        repetitions: list[dict[str, Outcome]] = [{} for _ in range(self._config.confirmations)]
        with Dispatcher() as dispatcher:
            specs = [
                worker_spec(name, environment, self._config)
                for name, environment in environments.items()
            ]
            for started in dispatcher.start(specs).values():
                if isinstance(started, WorkerStartError):
                    raise started
            for number in range(len(repetitions)):
                for name in environments:
                    dispatcher.add(Job(name, number, (case,), fresh=True))
            while not dispatcher.is_idle:
                for result in dispatcher.wait(_WAIT_S):
                    number = int(str(result.job.key))
                    repetitions[number][result.job.target] = result.outcomes[0]
            for name in environments:
                if dispatcher.failure(name):
                    raise WorkerStartError(dispatcher.failure(name))
        return [{name: outcomes[name] for name in environments} for outcomes in repetitions]

    def _run_by_level(self, environments: Mapping[str, Environment]) -> dict[str, Outcome]:
        case = self._bucket.finding.case
        level = level_of(case.level)
        return {
            name: level.run_again(case, environment, self._config)
            for name, environment in environments.items()
        }


def _shows(bucket: Bucket, outcomes: Mapping[str, Outcome], group: Group) -> bool:
    """Return whether outcomes show a bucket's defect, by oracle and symptom."""
    # Not by fingerprint, as the wording of messages differs between versions.
    expected = (bucket.finding.oracle, dict(bucket.grouping).get("symptom"))
    return any(
        (finding.oracle, dict(fingerprint(finding).grouping).get("symptom")) == expected
        for finding in _findings(bucket, outcomes, group)
    )


def _findings(bucket: Bucket, outcomes: Mapping[str, Outcome], group: Group) -> list[Finding]:
    return judge(bucket.finding.case, outcomes, group.subject(bucket.finding.api))


def _line(text: str) -> str:
    return " ".join(text.split())[:_MAX_DETAIL]


def _read(path: Path) -> dict[str, VersionTrial]:
    """Return the cached results for a case; nothing if the file is damaged."""
    try:
        stored = json.loads(read_text(path, most=_MAX_CACHE_BYTES))
        return {
            str(version): VersionTrial(str(version), VersionStatus(status), str(detail))
            for version, (status, detail) in stored.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        log.warning("%s: ignored, as it cannot be read: %s", path, error)
        return {}


def _write(path: Path, trials: Mapping[str, VersionTrial]) -> None:
    stored = {trial.version: [trial.status.value, trial.detail] for trial in trials.values()}
    with suppress(OSError):  # without a cache, bisecting again only takes longer
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(stored, indent=1) + "\n")
