"""Changes between two versions of a library, in the order in which an upgrade is reviewed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ciguard.domain.documentation import DocumentationCheck, DocumentationFinding
from ciguard.domain.findings import Bucket, Comparison, Confirmation, PairKind, Severity, Verdict
from ciguard.domain.policy import FindingClass, class_of
from ciguard.domain.text import markdown_code, markdown_text, shortened
from ciguard.oracles import traits_of
from ciguard.reports.wording import (
    by_cause,
    functions_text,
    in_display_order,
    message_without_api,
    plural,
    publishable,
    short_fingerprint,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from ciguard.domain.events import RunFinished
    from ciguard.domain.findings import Finding
    from ciguard.domain.plan import Place, Plan
    from ciguard.domain.values import Json

MAX_ENTRIES = 20
"""Maximum number of entries in one section."""
_MAX_NAMED = 5
_MAX_SIDE = 200
"""Maximum length of the behaviour of one version, in characters."""
REGRESSIONS, ANNOUNCED, STRICTER, LAXER, OTHER, COST, REMOVED, DOCUMENTED = (
    "regressions", "announced", "stricter", "laxer", "other", "performance", "removed", "documented"
)  # fmt: skip
"""Names of the sections, in display order."""
TITLES = {
    REGRESSIONS: (
        "Regressions",
        "Defects that only the newer version has. Its documentation does not announce them.",
    ),
    ANNOUNCED: (
        "Announced changes",
        "Calls behave differently, and the documentation announces it.",
    ),
    STRICTER: (
        "Stricter argument checks",
        "The newer version rejects unusual or forbidden arguments that the older one accepted.",
    ),
    LAXER: (
        "More lenient argument checks",
        "The newer version accepts arguments that the older one rejected.",
    ),
    OTHER: ("Other differences", "Differences that programs seldom depend on."),
    COST: ("Time and memory", "Calls need more time or memory, or leak memory."),
    REMOVED: ("Removed APIs", "The newer version has no such API."),
    DOCUMENTED: (
        "Documented, but not observed",
        "The documentation says that the behaviour changed, but no call of this run shows it.",
    ),
}
"""Name of a section → its title, and the sentence below it."""
_BY_CHECK = {
    DocumentationCheck.REMOVED: REMOVED,
    DocumentationCheck.CHANGED_ALONE: DOCUMENTED,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeEntry:
    """One change. Its texts may hold fuzzed text: escape them for display."""

    apis: tuple[str, ...]
    """APIs that show the change, the first one in `text`."""
    text: str
    """Behaviour before and now, or a description of the change, without the name of the API."""
    sentence: str = ""
    """Sentence that announces the change; empty without one."""
    fingerprint: str
    """Fingerprint of the most severe bucket, or of the finding about documentation."""
    reproducer: str = ""
    """Path of the script, relative to the output folder; empty without one."""
    places: tuple[Place, ...] = ()
    """Places in the user's sources that use the APIs."""

    @property
    def is_of_documentation(self) -> bool:
        """True if the entry is a finding about documentation, which has no bucket."""
        return self.fingerprint.startswith("d")


@dataclass(frozen=True, slots=True, kw_only=True)
class UpgradeChanges:
    """Changes between the versions of a run's libraries."""

    versions: tuple[tuple[str, str, str], ...]
    """Library, older version and newer version of each upgrade."""
    sections: Mapping[str, tuple[UpgradeEntry, ...]]
    """Entries by the name of their section, without empty sections."""
    called: str
    """Numbers of APIs that were called on the newer versions, and of tested functions."""
    is_of_uses: bool
    """True if only the APIs that the user's sources use are included."""

    @property
    def title(self) -> str:
        """Title of the page."""
        return "What this upgrade changes" + " for the APIs that you use" * self.is_of_uses

    @property
    def versions_text(self) -> str:
        """The upgrades as text: `torch 2.12.0 → 2.13.0`."""
        return ", ".join(f"{name} {base} → {head}" for name, base, head in self.versions)

    @property
    def counts_text(self) -> str:
        """The number of entries by section: `Regressions: 1, Announced changes: 3`."""
        counts = (f"{TITLES[name][0]}: {len(items)}" for name, items in self.sections.items())
        return ", ".join(counts) or f"No change found in {self.called}"


def upgrade_of(
    event: RunFinished, plan: Plan | None, documentation: Iterable[DocumentationFinding] = ()
) -> UpgradeChanges | None:
    """Return what the head's version of a library changes.

    None if no library has another version, or if the run has no verdict about it.

    Args:
        event: the last event of the run.
        plan: the plan of the run; its APIs in use are the only ones that are included.
        documentation: the findings about documentation.
    """
    versions = tuple(dict.fromkeys(_versions(event)))
    if not versions or event.verdict is Verdict.NOT_RUN:
        return None
    uses = plan.uses if plan else {}
    entries: dict[str, list[UpgradeEntry]] = {name: [] for name in TITLES}
    met = [bucket for bucket in in_display_order(event.buckets) if _is_of_upgrade(bucket)]
    for name in TITLES:
        buckets = [bucket for bucket in met if section_of(bucket) == name]
        used = [bucket for bucket in buckets if not uses or _is_used(bucket.finding, uses)]
        entries[name] += [_entry(group, uses) for group in by_cause(used)]
    for finding in documentation:
        if finding.check in _BY_CHECK and (not uses or finding.api in uses):
            entries[_BY_CHECK[finding.check]].append(_documented(finding, uses))
    return UpgradeChanges(
        versions=versions,
        sections={name: tuple(items) for name, items in entries.items() if items},
        called=_called_text(event),
        is_of_uses=bool(uses),
    )


def _versions(event: RunFinished) -> Iterator[tuple[str, str, str]]:
    """Yield library, base and head version of each library whose version differs from its base."""
    heads = _head_names(event)
    for base in (target for target in event.targets if target.name not in heads):
        for head in (target for target in event.targets if target.name in heads):
            if head.library == base.library and head.version != base.version:
                yield base.library, base.version, head.version


def _is_used(finding: Finding, uses: Mapping[str, object]) -> bool:
    """Return whether a finding is about an API in use, or about the user's project itself."""
    return finding.api in uses or finding.case.is_user_code


def _called_text(event: RunFinished) -> str:
    called = sum(event.apis_exercised.get(name, 0) for name in _head_names(event))
    functions = functions_text(event)
    apis = [plural(called, "called API")] if called or not functions else []
    return " and ".join([*apis, *([f"{functions} annotated functions"] if functions else [])])


def _head_names(event: RunFinished) -> list[str]:
    """Return the names of the head's targets, which are all without a base."""
    base = event.parameters.get("base")
    names = base if isinstance(base, list | tuple) else ()
    return [target.name for target in event.targets if target.name not in names]


def _is_of_upgrade(bucket: Bucket) -> bool:
    """Return whether a bucket is a difference between versions, or new on the newer version."""
    if not bucket.is_met or bucket.confirmation is not Confirmation.CONFIRMED:
        return False
    if bucket.comparison not in {Comparison.NEW, Comparison.KNOWN}:
        return False
    pair = bucket.finding.pair
    is_new_defect = pair is PairKind.NONE and bucket.attribution is not None
    return pair is PairKind.VERSION or (is_new_defect and bucket.comparison is Comparison.NEW)


def section_of(bucket: Bucket) -> str:
    """Return the name of the section of a bucket."""
    finding = bucket.finding
    kind = class_of(finding)
    is_difference = traits_of(finding.oracle).is_differential
    if kind is FindingClass.ANNOUNCED:
        return ANNOUNCED
    if kind is FindingClass.PERFORMANCE:
        return COST
    if is_difference and finding.kind == "accepted":
        return LAXER
    if finding.severity >= Severity.MEDIUM:
        return REGRESSIONS
    return STRICTER if is_difference and finding.kind == "refused" else OTHER


def _entry(buckets: Sequence[Bucket], uses: Mapping[str, tuple[Place, ...]]) -> UpgradeEntry:
    """Return the entry of the buckets with one cause."""
    first = buckets[0]
    apis = tuple(dict.fromkeys(bucket.finding.api for bucket in buckets))
    return UpgradeEntry(
        apis=apis,
        text=_before_and_now(first.finding) or message_without_api(first.finding),
        sentence=first.finding.evidence.announced,
        fingerprint=first.fingerprint,
        reproducer=first.reproducer,
        places=tuple(place for api in apis for place in uses.get(api, ())),
    )


def _before_and_now(finding: Finding) -> str:
    """Return the behaviour of both versions; empty if the finding does not compare versions."""
    expected, observed = finding.evidence.expected, finding.evidence.observed
    if finding.pair is not PairKind.VERSION or not expected or not observed:
        return ""
    base, head = finding.targets
    before, now = expected.removeprefix(f"{base}: "), observed.removeprefix(f"{head}: ")
    return f"before: {shortened(before, _MAX_SIDE)}; now: {shortened(now, _MAX_SIDE)}"


def _documented(
    finding: DocumentationFinding, uses: Mapping[str, tuple[Place, ...]]
) -> UpgradeEntry:
    return UpgradeEntry(
        apis=(finding.api,),
        text=finding.message,
        fingerprint=finding.fingerprint,
        places=uses.get(finding.api, ()),
    )


def upgrade_to_json(upgrade: UpgradeChanges | None) -> Json:
    """Return the JSON form of an upgrade, for `run.json`; None for None."""
    if upgrade is None:
        return None
    return {
        "versions": [
            {"library": library, "base": base, "head": head}
            for library, base, head in upgrade.versions
        ],
        "only_used_apis": upgrade.is_of_uses,
        **{
            name: [
                {
                    "apis": list(entry.apis),
                    "fingerprint": entry.fingerprint,
                    "text": entry.text,
                    "announced": entry.sentence,
                }
                for entry in upgrade.sections.get(name, ())
            ]
            for name in TITLES
        },
    }


def upgrade_blocks(upgrade: UpgradeChanges) -> Iterator[str]:
    """Yield the changes as markdown, one block per section."""
    versions = markdown_text(upgrade.versions_text)
    yield f"\n## {upgrade.title}\n\n{versions}. {upgrade.counts_text}.\n"
    for name, entries in upgrade.sections.items():
        title, explanation = TITLES[name]
        lines = [f"\n### {title} ({len(entries)})\n\n{explanation}\n"]
        lines += [f"- {_entry_in_markdown(entry)}" for entry in entries[:MAX_ENTRIES]]
        if len(entries) > MAX_ENTRIES:
            lines.append(f"- … and {len(entries) - MAX_ENTRIES:,} more")
        yield "\n".join(lines)


def _entry_in_markdown(entry: UpgradeEntry) -> str:
    """Return an entry as one item of a list."""
    apis = ", ".join(markdown_code(publishable(api), limit=120) for api in entry.apis[:_MAX_NAMED])
    more = len(entry.apis) - _MAX_NAMED
    parts = [apis + (f" and {more} more APIs with the same cause" if more > 0 else "")]
    if entry.places:
        place, *others = entry.places
        used = markdown_code(publishable(f"{place.path}:{place.line}"), limit=200)
        parts.append(f" (used in {used}{f' and {len(others)} more' * bool(others)})")
    parts.append(f": {markdown_code(publishable(entry.text), limit=400)}")
    if entry.sentence:
        parts.append(f"<br>Announced: {markdown_code(publishable(entry.sentence), limit=600)}")
    if entry.reproducer:
        parts.append(f"<br>Script: {markdown_code(entry.reproducer)}")
    if not entry.is_of_documentation:
        parts.append(f"<br>Bucket: `{short_fingerprint(entry.fingerprint)}`")
    return "".join(parts)
