"""Level `app` of a campaign: functions of applications that ask cognitive services, in turn.

They run in a process of their own on each target, whose environment holds no secret; that process
is not confined, as the application's own tests would not be.
"""

from __future__ import annotations

import base64
import fnmatch
import json
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard.applications import (
    Caller,
    Ended,
    Endless,
    Trying,
    arguments_for,
    assess,
    dead_conditions,
    explore,
    find,
    host_of,
    known_providers,
    plain_contents,
    providers_of,
    read_application,
    read_vocabulary,
    routines_of,
    settings_for,
)
from ciguard.campaign.seeding import APP as LEVEL
from ciguard.domain import (
    AppCase,
    Aspect,
    BatchFinished,
    Crashed,
    Errored,
    Frame,
    Hung,
    InputsMissed,
    Passed,
    Rejected,
    Warned,
    visible,
)
from ciguard.errors import ConfigurationError, WorkerStartError
from ciguard.oracles import Applied, of_answers, of_conditions, of_inputs

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from ciguard.applications import (
        Answered,
        Application,
        Assessed,
        Dead,
        Explored,
        Found,
        Vocabulary,
    )
    from ciguard.baseline import BaselineRecord
    from ciguard.campaign.budget import Budget
    from ciguard.campaign.group import Group, Member
    from ciguard.config import Config
    from ciguard.domain import Event, Finding, Json, Outcome
    from ciguard.targets import Environment

_MOST_FUNCTIONS = 2_000
_MOST_S = 60.0
"""For the answers of one function, and as much again for its inputs."""
_LEAST_S = 2.0
"""Worth beginning with."""
_LIMIT_S = 20.0
_UNKNOWN = "unknown-label"


def check_applications(config: Config) -> None:
    """Refuse to test applications where there are none, before anything is built.

    Raises:
        ConfigurationError: if none are given, one cannot be read or asks no service, or another
            file that the settings name does not hold what it should.
    """
    if LEVEL not in config.levels:
        return
    if not config.applications:
        msg = (
            f"levels: {LEVEL!r} needs to know which applications to test: give folders or files, "
            "such as --application app."
        )
        raise ConfigurationError(msg)
    found = [one for read in _applications(config) for one in read.found]
    if not found:
        named = ", ".join(map(visible, config.applications))
        msg = f"applications: no function in {named} asks a service that ciguard knows."
        raise ConfigurationError(msg)
    if len(found) > _MOST_FUNCTIONS:
        msg = f"applications: {len(found)} functions are more than {_MOST_FUNCTIONS}. Name fewer."
        raise ConfigurationError(msg)
    settings_for(_trying(config, 1.0))
    if config.app_labels:
        read_vocabulary(Path(config.app_labels))


@dataclass(frozen=True, slots=True)
class _Read:
    """An application, and which of its functions ask services."""

    application: Application
    root: str
    found: tuple[Found, ...]


def _applications(config: Config) -> list[_Read]:
    here = Path.cwd().resolve()
    several = []
    for text in config.applications:
        application = read_application(Path(text))
        root = application.root.resolve()
        if not root.is_relative_to(here):
            msg = f"applications: {visible(text)!r} lies outside of {here}. Run ciguard above it."
            raise ConfigurationError(msg)
        below = root.relative_to(here).as_posix()
        several.append(_Read(application, below, find(application, known_providers())))
    return several


@dataclass(slots=True)
class Applications:
    """Tests applications on all targets, and knows what was looked at."""

    config: Config
    groups: Mapping[str, Group]
    budget: Budget
    _met: set[tuple[str, str]] = field(default_factory=set)
    """Target and function: it was called with made answers, to the end."""
    _judged: set[tuple[str, str, str]] = field(default_factory=set)
    """Target, function and sub-condition: its inputs were enough to judge it."""
    _roots: set[str] = field(default_factory=set)
    """Folders of applications that were read."""
    _present: set[str] = field(default_factory=set)
    """Functions that there are."""

    def events(self, until: float) -> Iterator[Event | Finding]:
        """Try one function after the other, on each target.

        Args:
            until: when to end, on the clock of `time.monotonic`.

        Raises:
            ConfigurationError: if an application cannot be read any more.
        """
        several = _applications(self.config)
        yield Warned(
            message=f"level {LEVEL}: applications run with what you are allowed, not confined; "
            "their services are answered here, and nobody is asked"
        )
        members = [
            member
            for group in self.groups.values()
            for member in group.running
            if member.name in group.running_eagerly
        ]
        for read in several:
            for member in members[:1]:
                yield from self._conditions(read, member)
            self._roots.add(read.root)
            self._present |= {_applied(read, "", "").api(one) for one in read.found}
        turns = [
            (read, one, member) for read in several for one in read.found for member in members
        ]
        shard = self.config.shard
        turns.sort(key=lambda turn: not self._is_first(turn[0], turn[1]))
        own = turns if shard.is_all else turns[shard.index - 1 :: shard.of]
        for at, (read, found, member) in enumerate(own):
            left_s = until - time.monotonic()
            if left_s < _LEAST_S:
                yield Warned(
                    message=f"level {LEVEL}: the time ended before {len(own) - at} of "
                    f"{len(own)} functions were tried: give a longer --budget"
                )
                return
            yield from self._function(read, found, member, left_s / (len(own) - at))

    def _is_first(self, read: _Read, found: Found) -> bool:
        """Tell whether a function is among those that come first."""
        api = _applied(read, "", "").api(found)
        return any(fnmatch.fnmatchcase(api, glob) for glob in self.config.focus)

    def _conditions(self, read: _Read, member: Member) -> Iterator[Finding]:
        if self.config.shard.index != 1:
            return
        at = _applied_on(read, member)
        always = _dead(read, None)
        yield from of_conditions(always.items(), at, kind="dead-condition")
        if self.config.app_labels:
            with_labels = _dead(read, read_vocabulary(Path(self.config.app_labels)))
            unknown = {dead: found for dead, found in with_labels.items() if dead not in always}
            yield from of_conditions(unknown.items(), at, kind=_UNKNOWN)

    def _function(
        self, read: _Read, found: Found, member: Member, budget_s: float
    ) -> Iterator[Event | Finding]:
        applied = _applied_on(read, member)
        environment = member.environment
        half_s = min(_MOST_S, budget_s / 2)
        try:
            explored, assessed = self._tried(read, found, environment, half_s)
        except WorkerStartError as error:
            yield Warned(message=f"{member.name}: {applied.api(found)}: not tried: {error}")
            return
        if explored.problem:
            reason = visible(explored.problem)
            yield Warned(message=f"{member.name}: {applied.api(found)}: not explored: {reason}")
        else:
            self._met.add((member.name, applied.api(found)))
        call = _Recalled(read.application, found, explored.form)
        yield from of_answers(explored, applied, call)
        for one in assessed:
            yield from of_inputs(one, applied, call)
            yield from _missed(one, applied)
            for verdict in one.verdicts:
                condition = (verdict.goal.text, verdict.goal.branch.condition)
                self._judged.add((member.name, applied.api(found), _words(*condition)))
        counts = _counts(explored, assessed)
        member.count((), counts)
        yield BatchFinished(
            target=member.name,
            api=applied.api(found),
            counts=counts,
            elapsed_s=self.budget.elapsed_s,
        )

    def _tried(
        self, read: _Read, found: Found, environment: Environment, half_s: float
    ) -> tuple[Explored, list[Assessed]]:
        python, variables = str(environment.python), environment.variables
        (explored,) = explore(
            read.application, [found], python=python, budget_s=half_s, environment=variables
        )
        if explored.problem:
            return explored, []
        settings = settings_for(_trying(self.config, half_s, environment=variables))
        return explored, list(
            assess(read.application, [found], [explored], settings, python=python)
        )

    def passed(
        self, known: Sequence[BaselineRecord], met: Mapping[str, int]
    ) -> dict[str, frozenset[str]]:
        """Return which known buckets would have been met, and were not: the targets by fingerprint.

        Args:
            known: of the baseline.
            met: how often buckets were, by fingerprint.
        """
        gone: dict[str, frozenset[str]] = {}
        for record in known:
            case = record.exhibit.case
            if not isinstance(case, AppCase) or record.fingerprint in met:
                continue
            if record.exhibit.kind == _UNKNOWN and not self.config.app_labels:
                continue
            targets = frozenset(name for name in record.targets if self._looked_at(case, name))
            if targets:
                gone[record.fingerprint] = targets
        return gone

    def _looked_at(self, case: AppCase, target: str) -> bool:
        """Tell whether what a case is about was tried on a target, or is there no more."""
        if case.root not in self._roots:
            return False
        if case.aspect is Aspect.CONDITION or case.api not in self._present:
            return self.config.shard.index == 1
        if case.aspect is Aspect.ANSWER:
            return (target, case.api) in self._met
        return (target, case.api, case.condition) in self._judged


def _dead(read: _Read, labels: Vocabulary | None) -> dict[Dead, list[Found]]:
    """Return the sub-conditions that are always the same, with the functions that reach each."""
    reached: dict[Dead, list[Found]] = {}
    for one in read.found:
        for dead in dead_conditions(one, labels):
            reached.setdefault(dead, []).append(one)
    return reached


def _missed(assessed: Assessed, at: Applied) -> Iterator[InputsMissed]:
    """Yield the inputs of what is found, for people to look at."""
    api = at.api(assessed.explored.found)
    for verdict in assessed.verdicts:
        if verdict.is_failure and not verdict.is_simulated and verdict.missed:
            yield InputsMissed(
                target=at.target,
                api=api,
                line=verdict.goal.line,
                says=f"{verdict.goal.text}: {verdict.claim}, answered by {verdict.engine}",
                inputs=tuple(one.shown() for one in verdict.missed),
            )
    for crash, tried in assessed.crashes:
        yield InputsMissed(
            target=at.target,
            api=api,
            line=crash.line,
            says=f"fails: {crash.error}",
            inputs=(tried.shown(),),
        )


def _words(text: str, whole: str) -> str:
    return text if text == whole else f"{text} in {whole}"


def _applied(read: _Read, library: str, target: str) -> Applied:
    return Applied(root=read.root, library=library, target=target)


def _applied_on(read: _Read, member: Member) -> Applied:
    return _applied(read, member.environment.library.name, member.name)


def _trying(
    config: Config, budget_s: float, environment: Mapping[str, str] | None = None
) -> Trying:
    def named(text: str) -> Path | None:
        return Path(text) if text else None

    return Trying(
        images=named(config.app_images),
        labels=named(config.app_labels),
        replay=named(config.app_recording),
        seed=config.seed,
        budget_s=budget_s,
        environment=environment,
    )


def _counts(explored: Explored, assessed: Sequence[Assessed]) -> dict[str, int]:
    """Return the calls by what became of them; none where nothing can be said of a function."""
    failed = len(explored.crashes) + len(explored.unguarded)
    hung = len(explored.hangs)
    ran = 0 if explored.problem else explored.runs + sum(one.trials for one in assessed)
    counts = {"passed": max(0, ran - failed - hung), "errored": failed, "hung": hung}
    return {name: count for name, count in counts.items() if count}


@dataclass(frozen=True, slots=True)
class _Recalled:
    """Writes down all that it takes to call a function again."""

    application: Application
    found: Found
    form: int

    def __call__(self, answers: Sequence[Answered]) -> Json:
        module, routine = routines_of(self.application)[self.found.name]
        with tempfile.TemporaryDirectory(prefix="ciguard-app-") as name:
            folder = Path(name)
            contents = plain_contents(b"".join(one.text for one in answers))
            forms = arguments_for(self.found, routine, contents, folder)
            files = {
                path.relative_to(folder).as_posix(): base64.b64encode(path.read_bytes()).decode()
                for path in sorted(folder.rglob("*"))
                if path.is_file()
            }
            arguments = {
                name: _moved(given, str(folder), _HERE)
                for name, given in forms[min(self.form, len(forms) - 1)].items()
            }
        return {
            "module": module.name,
            "function": routine.name,
            "arguments": arguments,
            "files": {name: data for name, data in files.items() if _is_used(name, arguments)},
            "answers": {one.operation.name: one.to_json() for one in answers},
            "providers": providers_of(self.application),
            "refused": any(one.is_refusal for one in answers),
        }


_HERE = "{folder}"
"""Stands for the folder that the files of a call are in."""


def _moved(given: Json, old: str, new: str) -> Json:
    """Return an argument whose paths begin elsewhere."""
    match given:
        case dict():
            return {key: _moved(one, old, new) for key, one in given.items()}
        case list():
            return [_moved(one, old, new) for one in given]
        case str() if given == old or given.startswith(f"{old}/"):
            return new + given.removeprefix(old)
        case _:
            return given


def _is_used(name: str, arguments: Mapping[str, Json]) -> bool:
    said = str(arguments)
    return f"{_HERE}/{name}" in said or f"{_HERE}/{name.partition('/')[0]}'" in said


def run_again(case: AppCase, environment: Environment, config: Config) -> Outcome:
    """Call a function again as a case says, or read its sub-condition again.

    Returns:
        Of a sub-condition `Passed` if it is as it was, `Rejected` if not.

    Raises:
        ConfigurationError: if there is no such function or application, or the case is about many
            inputs together.
        WorkerStartError: if the environment's interpreter does not start.
    """
    if case.aspect is Aspect.CONDITION:
        return _read_again(case, config)
    if case.aspect is Aspect.INPUTS or not case.call:
        msg = (
            f"{visible(case.api)}: {visible(case.condition)!r} misses too many inputs, which no "
            f"single call shows. Run: ciguard accuracy {visible(case.root)}"
        )
        raise ConfigurationError(msg)
    root = Path(case.root)
    application = read_application(root)
    found = next(
        (one for one in find(application, known_providers()) if one.name == case.function), None
    )
    if found is None:
        msg = f"{case.api}: there is no such function that asks a service any more."
        raise ConfigurationError(msg)
    module, routine = routines_of(application)[found.name]
    with (
        host_of(
            application, [found], str(environment.python), environment=environment.variables
        ) as host,
        tempfile.TemporaryDirectory(prefix="ciguard-app-") as folder,
    ):
        _write_files(case.call["files"], Path(folder))
        arguments = {
            name: _moved(given, _HERE, folder) for name, given in case.call["arguments"].items()
        }
        called = Caller(host, found, module, routine).call(arguments, answers=case.call["answers"])
    if isinstance(called, Endless):
        return Hung(_LIMIT_S) if called.instead == "does not end" else Crashed("exit")
    if not isinstance(called, Ended):
        msg = f"{case.api}: cannot be called: {called.reason}"
        raise ConfigurationError(msg)
    if called.raised is None:
        return Passed(b"{}", 0.0)
    frames = called.raised["frames"] or [[found.file, found.line, ""]]
    file, line, function = frames[-1]
    path = file if case.root == "." else f"{case.root}/{file}"
    message = f"{path}:{line}: {called.raised['message']}"
    return Errored(called.raised["type"], message, (Frame(path, function),))


def refuse_read(finding: Finding) -> None:
    """Refuse a finding about a sub-condition, where it takes a call that versions may change.

    Raises:
        ConfigurationError: if it is about one.
    """
    case = finding.case
    if isinstance(case, AppCase) and case.aspect is not Aspect.ANSWER:
        msg = (
            f"{visible(case.api)}: about {visible(case.condition)!r} as the application has it, "
            "whatever version of a library is there."
        )
        raise ConfigurationError(msg)


def _read_again(case: AppCase, config: Config) -> Outcome:
    application = read_application(Path(case.root))
    read = _Read(application, case.root, find(application, known_providers()))
    labels = read_vocabulary(Path(config.app_labels)) if config.app_labels else None
    at = _applied(read, "", "")
    for dead in _dead(read, labels):
        written = _words(dead.text, dead.branch.condition)
        if (at.path(dead.branch.file), written) == (case.file, case.condition):
            return Passed(json.dumps({"reason": dead.reason}).encode(), 0.0)
    return Rejected("Gone", f"{case.file} has no such condition any more")


def _write_files(files: Mapping[str, str], folder: Path) -> None:
    for name, data in files.items():
        path = (folder / name).resolve()
        if not path.is_relative_to(folder.resolve()):
            msg = f"{visible(name)!r}: a file outside of the folder that it belongs in."
            raise ConfigurationError(msg)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(data))
