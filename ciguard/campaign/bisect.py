"""Bisection: the first released version of a library that shows a bucket's defect."""

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
from ciguard.triage import fingerprint, telling_line

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
_MAX_SAID = 200


class Standing(StrEnum):
    """What a version is seen to be."""

    GOOD = "good"
    BAD = "bad"
    """It shows the defect."""
    SKIPPED = "skipped"
    """It cannot be installed, lacks the API, or fails in another way: it tells nothing."""


@dataclass(frozen=True, slots=True)
class VersionTrial:
    """One version, tried."""

    version: str
    standing: Standing
    says: str = ""
    """One line: what happened."""


@dataclass(slots=True)
class Bisection:
    """What a bisection has found."""

    trials: list[VersionTrial] = field(default_factory=list)
    """In the order in which they were made."""
    first_bad: str = ""
    last_good: str = ""
    """Empty when the defect shows on every version that can be tried."""
    between: list[str] = field(default_factory=list)
    """Versions between the two that tell nothing: any of them may be the first bad one."""
    is_fix: bool = False
    """The good version is newer than the bad one: what is found is where the defect went away."""


def search(
    versions: Sequence[str], trial_of: Callable[[str], VersionTrial], *, knows_good: bool = False
) -> Bisection:
    """Halve a range of versions until the first bad one stands next to the last good one.

    Args:
        versions: in order, from the good end to the last one, which is meant to be bad.
        trial_of: tries one; called once per version.
        knows_good: the first one is meant to be good; otherwise the oldest that can be tried is.

    Raises:
        ConfigurationError: if the last one does not show the defect, or the first one does though
            it is meant to be good.
    """
    found = Bisection()

    def standing_of(place: int) -> Standing:
        found.trials.append(trial_of(versions[place]))
        return found.trials[-1].standing

    bad = len(versions) - 1
    if standing_of(bad) is not Standing.BAD:
        trial = found.trials[-1]
        msg = f"{trial.version} does not show the defect: {trial.standing}, {trial.says}"
        raise ConfigurationError(msg)
    good = -1
    skipped: set[int] = set()
    while left := [place for place in range(good + 1, bad) if place not in skipped]:
        # The oldest comes first: without a good one there is nothing to halve.
        place = left[len(left) // 2] if good >= 0 else left[0]
        match standing_of(place):
            case Standing.GOOD:
                good = place
            case Standing.BAD if knows_good and not place:
                msg = f"{versions[0]} is not good: {found.trials[-1].says}"
                raise ConfigurationError(msg)
            case Standing.BAD:
                bad = place
            case Standing.SKIPPED:
                skipped.add(place)
    found.first_bad = versions[bad]
    found.last_good = versions[good] if good >= 0 else ""
    found.between = [versions[place] for place in range(good + 1, bad)]
    return found


def bisect(
    bucket: Bucket,
    config: Config,
    *,
    good: str = "",
    bad: str = "",
    on_step: Callable[[str], None] = log.info,
) -> Bisection:
    """Try released versions of a bucket's library until the first bad one is known.

    What was tried is kept in the cache, so that an interrupted bisection goes on where it was.

    Args:
        bucket: from a run or from the baseline.
        config: limits and repetitions.
        good: a version that is known to be good; by default the oldest that can be installed.
            One that is newer than the bad one finds where the defect went away.
        bad: a version that shows the defect; by default that where it was found.
        on_step: told what is happening, one line each.

    Raises:
        ConfigurationError: if an end of the range is not what it is meant to be, or the bucket is
            about a sub-condition of an application, which depends on no version.
        ProvisioningError: if the versions cannot be listed.
    """
    level_of(bucket.finding.case.level).check_rerun(bucket.finding)
    library = LIBRARIES.get(bucket.finding.library)
    target = _requested(bucket.finding.targets[-1])
    bad = _version(bad or provision(target, on_step=on_step).version)
    good = _version(good) if good else ""
    if good == bad:
        msg = f"{good} cannot be both good and bad."
        raise ConfigurationError(msg)
    is_fix = bool(good) and Version(good) > Version(bad)
    newest, oldest = (good, bad) if is_fix else (bad, good)
    on_step(f"listing the versions of {library.name} up to {newest}")
    listed = released_versions(target, library, newest=newest, oldest=oldest)
    ends = {bad, good} - {""}
    versions = sorted({*listed, *ends}, key=Version, reverse=is_fix)
    tries = _Tries(bucket, library, config, on_step=on_step)
    on_step(f"{len(versions)} versions, from {versions[0]} to {versions[-1]}")
    found = search(versions, tries.of, knows_good=bool(good))
    found.is_fix = is_fix
    return found


def _version(text: str) -> str:
    try:
        return Version(text).public
    except InvalidVersion as error:
        msg = f"{text!r} is no version such as 2.13.0."
        raise ConfigurationError(msg) from error


def _requested(name: str) -> Target:
    # Of two equal targets the second carries a number that is not part of the request.
    return parse_target(name.partition(" #")[0])


class _Tries:
    """Tries versions, each once; what is settled is kept."""

    def __init__(
        self, bucket: Bucket, library: Library, config: Config, *, on_step: Callable[[str], None]
    ) -> None:
        self._bucket = bucket
        self._library = library
        self._config = rerun_settings(bucket.finding, config)
        self._on_step = on_step
        name = f"{bucket.fingerprint.replace(':', '-')}-{case_id(bucket.finding.case)}.json"
        self._path = cache_folder() / "bisect" / name
        self._kept = _read(self._path)

    def of(self, version: str) -> VersionTrial:
        """Try a version, or recall what came of it."""
        trial = self._kept.get(version)
        if trial is None:
            trial = self._try(version)
        if trial.standing is not Standing.SKIPPED:  # next time it may be possible
            self._kept[version] = trial
            _write(self._path, self._kept)
        self._on_step(f"{version}: {trial.standing}, {trial.says}")
        return trial

    def _try(self, version: str) -> VersionTrial:
        try:
            environments = self._environments(version)
            repetitions = self._outcomes(environments)
        except (ProvisioningError, WorkerStartError) as error:
            return VersionTrial(version, Standing.SKIPPED, _line(str(error)))
        group = groups_of(environments)[self._library.name]
        shown = sum(_shows(self._bucket, outcomes, group) for outcomes in repetitions)
        outcome = repetitions[0][list(environments)[-1]]
        says = _line(telling_line(outcome) or "the call returned")
        if shown:
            times = "" if shown == len(repetitions) else f" ({shown} of {len(repetitions)} times)"
            return VersionTrial(version, Standing.BAD, f"{says}{times}")
        if isinstance(outcome, Rejected) and outcome.stage is Stage.BUILD:
            return VersionTrial(version, Standing.SKIPPED, f"it cannot make this call: {says}")
        if any(_findings(self._bucket, outcomes, group) for outcomes in repetitions):
            return VersionTrial(version, Standing.SKIPPED, f"it fails in another way: {says}")
        return VersionTrial(version, Standing.GOOD, says)

    def _environments(self, version: str) -> dict[str, Environment]:
        finding = self._bucket.finding
        targets = [_requested(name) for name in finding.targets]
        if finding.pair is PairKind.NONE:
            targets = targets[-1:]
        # Two versions were compared: the reference stays. Otherwise both sides have this version.
        kept = targets[:-1] if finding.pair is PairKind.VERSION else []
        moved = [at_version(t, self._library, version) for t in targets[len(kept) :]]
        wanted = [*kept, *moved]
        return {
            name: provision(target, on_step=self._on_step)
            for name, target in zip(unique_names(wanted), wanted, strict=True)
        }

    def _outcomes(self, environments: Mapping[str, Environment]) -> list[dict[str, Outcome]]:
        """Run the case in fresh workers, as often as a new finding is confirmed."""
        if not self._bucket.finding.case.is_run_by_worker:
            return [self._applied(environments) for _ in range(self._config.confirmations)]
        case = encode(self._bucket.finding.case)
        repetitions: list[dict[str, Outcome]] = [{} for _ in range(self._config.confirmations)]
        with Dispatcher() as dispatcher:
            specs = [worker_spec(name, e, self._config) for name, e in environments.items()]
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
        return [{name: seen[name] for name in environments} for seen in repetitions]

    def _applied(self, environments: Mapping[str, Environment]) -> dict[str, Outcome]:
        case = self._bucket.finding.case
        level = level_of(case.level)
        return {
            name: level.run_again(case, environment, self._config)
            for name, environment in environments.items()
        }


def _shows(bucket: Bucket, outcomes: Mapping[str, Outcome], group: Group) -> bool:
    """Return whether outcomes show a bucket's defect; another version may word it differently."""
    wanted = (bucket.finding.oracle, dict(bucket.grouping).get("symptom"))
    return any(
        (found.oracle, dict(fingerprint(found).grouping).get("symptom")) == wanted
        for found in _findings(bucket, outcomes, group)
    )


def _findings(bucket: Bucket, outcomes: Mapping[str, Outcome], group: Group) -> list[Finding]:
    return judge(bucket.finding.case, outcomes, group.subject(bucket.finding.api))


def _line(text: str) -> str:
    return " ".join(text.split())[:_MAX_SAID]


def _read(path: Path) -> dict[str, VersionTrial]:
    """Return what earlier bisections of the same case have settled; nothing if it is damaged."""
    try:
        stored = json.loads(read_text(path, most=_MAX_CACHE_BYTES))
        return {
            str(version): VersionTrial(str(version), Standing(standing), str(says))
            for version, (standing, says) in stored.items()
        }
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        log.warning("%s: not used, %s", path, error)
        return {}


def _write(path: Path, trials: Mapping[str, VersionTrial]) -> None:
    stored = {trial.version: [trial.standing.value, trial.says] for trial in trials.values()}
    with suppress(OSError):  # a cache that cannot be written costs time only
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, json.dumps(stored, indent=1) + "\n")
