"""A group: all targets of one library. They run the same cases and are compared."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ciguard.domain.findings import PairKind, Tally
from ciguard.domain.intent import Intent
from ciguard.oracles import Identity, Subject
from ciguard.oracles.comparing import is_of_values
from ciguard.oracles.laws import Law, laws_of
from ciguard.targets import EAGER

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping

    from ciguard.domain.case import Case
    from ciguard.domain.findings import Finding
    from ciguard.domain.records import ApiRecord
    from ciguard.targets import Environment

_MIN_CASES = 200
_MAX_UNBUILT_MORE = 0.25
"""Share of cases; versions and devices lack a type or two, which costs a few in a hundred."""


@dataclass(slots=True, kw_only=True)
class Member:
    """One target of a group."""

    name: str
    environment: Environment
    identity: Identity
    confined_by: tuple[str, ...] = ()
    unconfined: tuple[str, ...] = ()
    """Names of the attempts of a worker or an application that nothing refused."""
    is_tried: bool = False
    """Whether attempts were made."""
    catalogue: Mapping[str, ApiRecord] = field(default_factory=dict)
    tally: Tally = field(default_factory=Tally)
    tried: int = 0
    """Cases of this run, without those of the run that it resumes."""
    unbuilt: int = 0
    """Those of them whose arguments could not be made."""
    exercised: set[str] = field(default_factory=set)
    """APIs that were called at least once."""
    unnoted: set[str] = field(default_factory=set)
    """Those of them that the journal does not hold yet."""
    not_run: str = ""

    @property
    def unbuilt_share(self) -> float:
        """Share of the cases whose arguments could not be made."""
        return self.unbuilt / self.tried if self.tried else 0.0

    def count(self, apis: Collection[str], counts: Mapping[str, int]) -> None:
        """Note that cases of these APIs were executed, by status."""
        new = set(apis) - self.exercised
        self.exercised |= new
        self.unnoted |= new
        for status, count in counts.items():
            setattr(self.tally, status, getattr(self.tally, status) + count)


@dataclass(slots=True, kw_only=True)
class Group:
    """The targets of one library, in the order given: the first that runs is the reference."""

    library: str
    members: dict[str, Member]
    unstable: set[str] = field(default_factory=set)
    """APIs that were seen to disagree with themselves."""
    _laws: dict[str, Mapping[str, tuple[Law, ...]]] = field(default_factory=dict)
    """What was read of each API so far."""

    @property
    def running(self) -> list[Member]:
        """Members that can run cases."""
        return [member for member in self.members.values() if not member.not_run]

    @property
    def names(self) -> list[str]:
        """Names of the members that can run cases, in the order given."""
        return [member.name for member in self.running]

    def ill_built(self) -> Iterator[str]:
        """Yield what to say of devices that can make the arguments of far fewer cases than others.

        A device that answers nothing any more looks healthy otherwise: every call is refused.
        """
        built = [member for member in self.running if member.tried >= _MIN_CASES]
        best = min(built, key=lambda member: member.unbuilt_share, default=None)
        for member in built:
            if best is None or member.identity.device == best.identity.device:
                continue
            if member.unbuilt_share - best.unbuilt_share > _MAX_UNBUILT_MORE:
                yield (
                    f"{member.name}: {member.unbuilt_share:.0%} of its cases had arguments that "
                    f"could not be made, {best.unbuilt_share:.0%} on {best.name}: "
                    "what it computes on may not work; see docs/gpu.md"
                )

    @property
    def has_api(self) -> bool:
        """Whether the library has an API to call; the client of a service has none."""
        return any(member.environment.library.has_api for member in self.members.values())

    def record(self, api: str) -> ApiRecord | None:
        """Return what the first target that has the API says of it."""
        for member in self.running:
            if api in member.catalogue:
                return member.catalogue[api]
        return None

    def records(self) -> list[ApiRecord]:
        """Return one record per API that any running target has, by name."""
        merged: dict[str, ApiRecord] = {}
        for member in reversed(self.running):
            merged |= member.catalogue
        return [merged[api] for api in sorted(merged)]

    def targets_with(self, api: str) -> list[str]:
        """Return the names of the running targets that have an API."""
        return [member.name for member in self.running if api in member.catalogue]

    def targets_for(self, case: Case) -> list[str]:
        """Return the names of the running targets that a case is for.

        A program says itself what a target lacks, and may be about no API of its library at all. A
        case that no worker runs is for none.
        """
        if not case.is_run_by_worker:
            return []
        if not case.is_api_use:
            return list(self.running_eagerly)
        names = self.targets_with(case.api)
        return names if is_for_modes(case) else [n for n in names if self.mode_of(n) == EAGER]

    @property
    def running_eagerly(self) -> tuple[str, ...]:
        """The names of the running targets that execute calls eagerly."""
        return tuple(m.name for m in self.running if m.identity.mode == EAGER)

    def mode_of(self, target: str) -> str:
        """Return how a target executes calls."""
        return self.members[target].identity.mode

    @property
    def modes(self) -> list[str]:
        """Every mode of execution among the running targets, once."""
        return list(dict.fromkeys(member.identity.mode for member in self.running))

    def subject(self, api: str) -> Subject:
        """Return what the oracles need to know of an API."""
        record = self.record(api)
        tags = record.tags if record is not None else frozenset()
        return Subject(
            library=self.library,
            api=api,
            tags=tags | {"unstable"} if api in self.unstable else tags,
            targets={name: member.identity for name, member in self.members.items()},
            laws=self._laws_of(record),
        )

    def _laws_of(self, record: ApiRecord | None) -> Mapping[str, tuple[Law, ...]]:
        if record is None:
            return {}
        if record.api not in self._laws:
            self._laws[record.api] = laws_of(record)
        return self._laws[record.api]

    def note(self, finding: Finding) -> None:
        """Remember that an API disagrees with itself, when a flaky finding shows that."""
        if is_of_values(finding):
            self.unstable.add(finding.api)


def is_for_modes(case: Case) -> bool:
    """Return whether a case is worth compiling.

    Compiling is slow, and what a mode does with wrong arguments is nobody's promise: those are for
    eager execution alone, and so is what a relation holds against a twin. A program says itself
    what it compiles.
    """
    return case.is_api_use and case.intent is Intent.CONFORMING and not case.relation


def groups_of(environments: Mapping[str, Environment]) -> dict[str, Group]:
    """Return the groups of the provisioned targets, by library."""
    groups: dict[str, Group] = {}
    for name, environment in environments.items():
        library = environment.library.name
        group = groups.setdefault(library, Group(library=library, members={}))
        group.members[name] = Member(
            name=name, environment=environment, identity=_identity(environment)
        )
    return groups


def _identity(environment: Environment) -> Identity:
    target = environment.target
    packages = tuple(sorted(f"{name}=={ver}" for name, ver in environment.packages.items()))
    return Identity(
        request=target.name,
        packages=packages,
        version=environment.version,
        device=target.device,
        mode=target.mode,
        environment=target.variables,
        library=environment.library.name,
        engine=environment.variables.get(environment.library.backend_variable)
        or environment.library.name,
    )


def subject_of(groups: Mapping[str, Group], finding: Finding) -> Subject:
    """Return what the oracles need to know to judge a finding's case again."""
    subject = groups[finding.library].subject(finding.api)
    if finding.pair is not PairKind.LIBRARY:
        return subject
    return replace(subject, targets=identities(groups))


def identities(groups: Mapping[str, Group]) -> dict[str, Identity]:
    """Return the identities of all targets of all libraries, by name."""
    return {name: member.identity for name, member in members_of(groups).items()}


def members_of(groups: Mapping[str, Group]) -> dict[str, Member]:
    """Return every target of every group, by name."""
    return {name: m for group in groups.values() for name, m in group.members.items()}
