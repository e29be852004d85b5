"""Makes the plan: finds what a checkout changes and uses, and the jobs that test it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from glob import escape
from itertools import chain
from typing import TYPE_CHECKING

from ciguard.domain.plan import Plan, PlanMode
from ciguard.domain.text import visible
from ciguard.errors import PlanError
from ciguard.libraries import LIBRARIES
from ciguard.planning.annotated import annotated_files, annotation_advice
from ciguard.planning.api_names import ApiNames
from ciguard.planning.checkout import (
    REGISTERING_SUFFIXES,
    Checkout,
    display_path,
    readable_files,
)
from ciguard.planning.compiled import changed_modes, compiled_groups
from ciguard.planning.gpu_changes import GPU_WORDS, gpu_reasons
from ciguard.planning.own_changes import touched_globs
from ciguard.planning.reasons import (
    change_sentences,
    focus_sentences,
    shortened_reasons,
    skipped_sentences,
    upgrade_sentence,
)
from ciguard.planning.requirement_files import project_name, reader_of
from ciguard.planning.rows import (
    CPU,
    Runners,
    TargetGroup,
    group_by_library,
    library_name,
    rows,
    with_variables,
)
from ciguard.planning.upgrades import (
    changes_of,
    library_of,
    required_backends,
    required_pins_of,
    required_targets,
    revisions_of,
    upgrades_of,
)
from ciguard.planning.uses import MAX_APIS, MAX_SOURCES, Usage, find_uses, own_sources, own_uses
from ciguard.planning.wheels import wheel_groups
from ciguard.targets import IndexPackage, newest_release, parse_target

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

    from ciguard.planning.upgrades import Newest, RequiredPins, Revision, Upgrade
    from ciguard.planning.wheels import Wheels

_DOCUMENTATION = re.compile(
    r"(.*/)?(docs?/.*|[^/]*\.(md|rst|adoc|png|jpe?g|gif|svg|webp|pdf|bib)"
    r"|(LICEN[CS]E|NOTICE|AUTHORS|CITATION|CODEOWNERS|\.gitignore)[^/]*)",
    re.IGNORECASE,
)
_MAX_PATH_LENGTH = 200
"""Maximum length of a path in a focus glob."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRequest:
    """What to plan: the checkout, the targets and the runners."""

    folder: Path
    """Folder in the checkout; only files below the folder are considered."""
    mode: PlanMode
    """Kind of run that is planned."""
    against: str = ""
    """Base: a commit or branch; empty for none."""
    deepens: bool = False
    """True to fetch the history up to the base if the checkout is shallow."""
    targets: tuple[str, ...]
    """Targets to test."""
    targets_are_chosen: bool = True
    """False for ciguard's default targets, which the project's requirements override."""
    base: tuple[str, ...] = ()
    """Targets before the change, with which `targets` are compared."""
    runners: Runners = field(default_factory=Runners)
    """Devices, labels of runners, and shards."""
    wheels: Wheels | None = None
    """Wheels to test; None to test releases."""
    variables: tuple[str, ...] = ()
    """Environment variables to set in every worker, each as `NAME=VALUE`."""
    levels: tuple[str, ...] = ()
    """Levels that the settings name."""


def make_plan(request: PlanRequest, newest: Newest = newest_release) -> Plan:
    """Return the plan for a checkout: what to test, and why.

    Args:
        request: what to plan.
        newest: a function that returns the newest version that satisfies a requirement.

    Raises:
        PlanError: if the repository, its history or a limit prevents a plan.
        TargetSyntaxError, UnknownLibraryError: if a target is invalid.
    """
    return _Planner(request, newest).plan()


class _Planner:
    """Reads the checkout once and derives the plan."""

    def __init__(self, request: PlanRequest, newest: Newest) -> None:
        self._request = request
        self._newest = newest
        self._checkout = Checkout(request.folder)
        self._problems: list[str] = []
        self._names = ApiNames()
        self._paths = self._checkout.files()
        self._base = self._base_commit()
        self._changed = self._checkout.changes(self._base) if self._base else []

    def plan(self) -> Plan:
        """Return the plan."""
        required_pins = required_pins_of(self._checkout, self._paths, self._problems)
        revisions = revisions_of(self._checkout, self._base, self._changed, self._problems)
        changes = changes_of(revisions)
        upgrades, assumptions = upgrades_of(changes, required_pins, self._newest)
        usage = self._usage()
        touched_apis = self._touched_api_globs()
        target_groups, group_reasons = self._groups(required_pins, upgrades, usage)
        compiled = list(compiled_groups(target_groups, self._modes(usage)))
        target_groups += [group for group, _ in compiled]
        group_reasons += [reason for _, reason in compiled]
        groups = with_variables(target_groups, self._request.variables)
        libraries = {library_name(text) for group in groups for text in group.targets}
        focus = self._focus(usage, touched_apis, libraries)
        idle_reason = self._idle_reason(touched_apis)
        gpu_reason_stream = self._gpu_reasons(groups, touched_apis, revisions, usage)
        runners, runner_reasons = self._runners(gpu_reason_stream)
        jobs, skipped, shard_reason = rows([] if idle_reason else groups, runners)
        reasons = [
            *([f"Nothing will run, since {idle_reason}."] if idle_reason else []),
            *map(upgrade_sentence, upgrades),
            *group_reasons,
            *([] if idle_reason else runner_reasons),
            *self._own_library_advice(),
            *annotation_advice(annotated_files(self._request.folder), self._request.levels),
            *assumptions,
            *change_sentences(self._changed, changes),
            *focus_sentences(usage, touched_apis, focus),
            *([shard_reason] if shard_reason else []),
            *skipped_sentences(skipped),
            *self._problems,
            *usage.problems,
        ]
        paths_by_level = chain.from_iterable(usage.paths_by_level.values())
        files = tuple(dict.fromkeys((*usage.annotated_files, *paths_by_level)))
        return Plan(
            mode=self._request.mode,
            reasons=tuple(shortened_reasons(reasons)),
            changes=tuple(change.to_package_change() for change in changes),
            jobs=tuple(jobs),
            skipped=tuple(skipped),
            focus=(*focus, *_function_globs(files)),
            uses=usage.places,
        )

    def _base_commit(self) -> str:
        """Return the merge base with the requested base; empty if none is requested."""
        if self._request.against:
            if self._request.deepens:
                self._checkout.deepen(self._request.against)
            return self._checkout.base_of(self._request.against)
        if self._request.mode is PlanMode.PULL_REQUEST:
            msg = (
                "a plan for a pull request needs the base commit. Add --against, e.g. "
                "--against origin/main."
            )
            raise PlanError(msg)
        return ""

    def _usage(self) -> Usage:
        """Return what the sources use; at most `MAX_SOURCES` files are analysed."""
        changed_paths = {change.path for change in self._changed}
        sources = sorted(own_sources(self._paths), key=lambda path: path not in changed_paths)
        if len(sources) > MAX_SOURCES:
            omitted_count = len(sources) - MAX_SOURCES
            self._problems.append(
                f"{omitted_count} Python sources were not analysed, "
                f"since the limit is {MAX_SOURCES}"
            )
            sources = sources[:MAX_SOURCES]
        return find_uses(
            readable_files(self._checkout, sources, self._problems), self._changed, self._names
        )

    def _touched_api_globs(self) -> list[str]:
        """Return globs of the APIs that the change touches, if the repository builds a library."""
        library = library_of(self._project())
        present_changes = [
            change
            for change in self._changed
            if not change.is_gone and change.path.endswith(REGISTERING_SUFFIXES)
        ]
        by_path = {change.path: change for change in present_changes}
        globs: dict[str, None] = {}
        for path, content in readable_files(self._checkout, list(by_path), self._problems):
            module = library.module if library and path.endswith(".py") else ""
            text = content.decode("utf-8", "replace")
            globs |= dict.fromkeys(touched_globs(by_path[path], text, module))
        return list(globs)

    def _project(self) -> str:
        """Return the name of the topmost project; empty if there is none."""
        project_files = [
            path for path in self._paths if path.rpartition("/")[2] == "pyproject.toml"
        ]
        try:
            topmost_file = min(project_files, key=lambda path: path.count("/"))
            return project_name(self._checkout.content(topmost_file))
        except (OSError, ValueError):  # `min` raises ValueError if there is no such file
            return ""

    def _groups(
        self, required_pins: RequiredPins, upgrades: list[Upgrade], usage: Usage
    ) -> tuple[list[TargetGroup], list[str]]:
        """Return the groups of targets to compare, and the reasons for choosing them."""
        request = self._request
        examples = own_uses(usage.apis)
        project_targets = tuple(required_targets(required_pins, examples))
        if request.wheels is not None:
            companions = request.targets if request.targets_are_chosen else project_targets
            return wheel_groups(request.wheels, companions, self._newest)
        upgraded_libraries = {upgrade.library for upgrade in upgrades}
        groups = [
            TargetGroup(targets=(upgrade.target,), base=(upgrade.base,)) for upgrade in upgrades
        ]
        # An upgrade is compared alone, unless sources changed as well.
        if upgrades and request.mode is PlanMode.PULL_REQUEST and not self._sources_changed:
            return groups, []
        targets, reason = self._configured_targets(project_targets, usage)
        other_groups = [
            group
            for group in group_by_library(targets, request.base)
            if library_name(group.targets[0]) not in upgraded_libraries
        ]
        reasons = [reason] if other_groups else []
        if other_groups and targets == project_targets:
            backends = sorted(required_backends(required_pins) & examples.keys())
            reasons += [
                f"{name} is tested on its own too, since the sources use {examples[name]}."
                for name in backends
            ]
        return [*groups, *other_groups], reasons

    def _modes(self, usage: Usage) -> dict[str, dict[str, str]]:
        """Return by library the modes to test, each with its reason, a clause."""
        modes = {
            library: {mode: f"the sources use {name}" for mode, name in used.items()}
            for library, used in usage.modes.items()
        }
        own = library_of(self._project())
        if own is not None:
            paths = [change.path for change in self._changed]
            modes[own.name] = modes.get(own.name, {}) | {
                mode: f"the change touches {visible(display_path(path))}"
                for mode, path in changed_modes(own, paths).items()
            }
        return modes

    def _configured_targets(
        self, project_targets: tuple[str, ...], usage: Usage
    ) -> tuple[tuple[str, ...], str]:
        """Return the targets if neither upgrades nor wheels determine them, and the reason."""
        targets = self._request.targets
        if self._request.targets_are_chosen:
            return targets, "The targets come from the settings."
        if project_targets:
            return project_targets, "The targets are the versions that the project requires."
        reason = "The project requires no known library, so the targets are ciguard's defaults."
        advice = [
            f"The sources import packages that level {name} knows. To test them, name the level, "
            f"its targets and your sources in ciguard.toml (docs/levels/{name}.md)."
            for name in usage.levels
        ]
        return targets, " ".join([reason, *advice])

    def _own_library_advice(self) -> list[str]:
        """Return advice on how to test the library that the repository builds; empty if none."""
        library = library_of(self._project())
        if library is None or not self._changed or self._request.wheels is not None:
            return []
        return [
            (
                f"This repository builds {library.name}. To test the changed library, build a "
                "wheel and name it with --wheel."
            )
        ]

    @property
    def _sources_changed(self) -> bool:
        """True if files other than requirement files and documentation changed."""
        return any(
            not reader_of(change.path) and not _is_documentation(change.path)
            for change in self._changed
        )

    def _idle_reason(self, touched_apis: list[str]) -> str:
        """Return the reason why a pull request needs no run; empty if a run is needed."""
        request = self._request
        if request.mode is not PlanMode.PULL_REQUEST or request.wheels is not None or touched_apis:
            return ""
        if not self._changed:
            return "nothing differs from the base"
        if all(_is_documentation(change.path) for change in self._changed):
            return "only documentation changes"
        return ""

    def _runners(self, reasons_for_gpus: Iterator[str]) -> tuple[Runners, list[str]]:
        """Return the runners, without GPUs if the change cannot matter on them, and the reason."""
        runners = self._request.runners
        gpus = ", ".join(device for device in runners.devices if device != CPU)
        if not gpus or self._request.mode is not PlanMode.PULL_REQUEST:
            return runners, []
        reason = next(reasons_for_gpus, "")
        if reason:
            return runners, [f"Planned for {gpus}, since {reason}."]
        sentence = (
            f"Skipped on {gpus}: this pull request changes no device code, no related build file, "
            "and no requirement of a library or CUDA. Other runs include these GPU jobs."
        )
        devices = tuple(device for device in runners.devices if device == CPU)
        return replace(runners, devices=devices), [sentence]

    def _gpu_reasons(
        self,
        groups: Iterable[TargetGroup],
        touched_apis: list[str],
        revisions: list[Revision],
        usage: Usage,
    ) -> Iterator[str]:
        """Yield reasons why the change may matter on a GPU; nothing if it cannot."""
        library = library_of(self._project())
        if self._request.wheels is not None:
            yield "a wheel is tested"
        if library is not None:
            yield f"this repository builds {library.name}"
        if touched_apis:
            yield f"the change touches {visible(touched_apis[0])}"
        for text in (text for group in groups for text in group.targets):
            if not all(isinstance(item, IndexPackage) for item in parse_target(text).packages):
                yield f"{visible(text)} may contain what this change builds"
        paths = [change.path for change in self._changed if not _is_documentation(change.path)]
        try:
            gpu_paths = self._checkout.files_with_changed_lines(self._base, GPU_WORDS)
        except PlanError:  # git takes too long, so every path counts
            gpu_paths = paths
        yield from gpu_reasons(paths, gpu_paths, revisions, usage)

    def _focus(self, usage: Usage, touched_apis: list[str], libraries: set[str]) -> tuple[str, ...]:
        """Return the APIs to test first: those that the change touches, then those in use."""
        target_libraries = [LIBRARIES.get(name) for name in libraries if name]
        modules = {library.module for library in target_libraries}
        used_apis = [api for api in usage.apis if not modules or api.partition(".")[0] in modules]
        for library in target_libraries:
            # `tf.keras` in sources means the keras that the project requires.
            prefix = f"{library.exported_as}."
            nested_apis = [
                api for api in usage.apis if library.exported_as and api.startswith(prefix)
            ]
            used_apis += [f"{library.module}.{api.removeprefix(prefix)}" for api in nested_apis]
        return tuple(dict.fromkeys([*touched_apis[:MAX_APIS], *used_apis]))


def _is_documentation(path: str) -> bool:
    return not reader_of(path) and _DOCUMENTATION.fullmatch(path) is not None


def _function_globs(paths: tuple[str, ...]) -> list[str]:
    """Return globs of all functions in files; a colon distinguishes them from APIs."""
    return [f"{escape(path)}:*" for path in paths if len(path) <= _MAX_PATH_LENGTH]
