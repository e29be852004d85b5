"""Security-relevant crashes: filed in private places, and written down to be sent upstream."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from ciguard.domain.policy import FindingClass, class_of
from ciguard.errors import OutputError
from ciguard.files import replace_file
from ciguard.libraries import LIBRARIES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from ciguard.domain.findings import Bucket
    from ciguard.trackers.contract import Report
    from ciguard.trackers.groups import BucketGroup

WITHHOLD = "withhold"
PUBLIC = "public"
ADVISORY = "advisory"
FOLDER = "upstream-report"
"""Of the run's results: one text per crash, to be sent to the library's maintainers."""
_MAX_NAMED = 5
_VERSION = re.compile(r"\d[\w.+!-]{0,40}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityCrash:
    """A crash that must not be published, and what is written of it."""

    report: Report
    library: str
    apis: tuple[str, ...]
    """Functions that crash."""
    versions: tuple[str, ...] = ()
    """Of the library, where the crash was met."""

    @property
    def package(self) -> str:
        """Name of the library on the package index."""
        known = LIBRARIES.items().get(self.library)
        return known.distributions[0] if known is not None else self.library

    @property
    def policy(self) -> str:
        """Where the library's maintainers say how they want to hear of it; empty if unknown."""
        known = LIBRARIES.items().get(self.library)
        return known.security_policy if known is not None else ""


@dataclass(frozen=True, slots=True)
class Disclosed:
    """Where a crash is filed."""

    place: str
    """As the run's messages may name it."""
    is_new: bool


class Discloser(Protocol):
    """A place that only those can read who may know of the crash."""

    def disclose(self, crash: SecurityCrash, *, creates: bool) -> Disclosed | None:
        """File the crash; where it was filed before, bring the text up to date.

        Args:
            crash: what is filed.
            creates: whether it may be filed if it was not before.

        Returns:
            Where it is; nothing if it was not filed.

        Raises:
            TrackerUnavailableError: if the place does not answer in time.
            TrackerError: if it refuses, or others can read it.
        """


def crash_of(group: BucketGroup, report: Report, versions: Mapping[str, str]) -> SecurityCrash:
    """Return what is to be filed of a group with a bucket whose class is `security-crash`.

    Args:
        group: as this run met it.
        report: its text.
        versions: of the library, by target.
    """
    findings = [member.bucket.finding for member in group.met or group.members]
    met = {versions.get(target, "") for finding in findings for target in finding.targets}
    return SecurityCrash(
        report=report,
        library=findings[0].library,
        apis=tuple(sorted({finding.api for finding in findings})),
        versions=tuple(sorted(filter(_VERSION.fullmatch, met))),
    )


def is_security_relevant(bucket: Bucket) -> bool:
    """Return whether the run has seen that the bucket's crash corrupts memory."""
    return class_of(bucket.finding) is FindingClass.SECURITY


def write_upstream_reports(out: Path, crashes: Iterable[SecurityCrash]) -> list[Path]:
    """Write the texts that a person may send to the maintainers of the library.

    Args:
        out: the run's folder.
        crashes: what this run met.

    Returns:
        The files, in the order of the crashes.

    Raises:
        OutputError: if the folder cannot be written.
    """
    paths = []
    for crash in crashes:
        mark = crash.report.fingerprint.replace(":", "-")
        path = out / FOLDER / f"{crash.report.slug}-{mark}.md".lstrip("-")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            replace_file(path, _upstream_text(crash))
        except OSError as error:
            msg = f"{path}: cannot be written: {error.strerror or error}. Free space, run again."
            raise OutputError(msg) from error
        paths.append(path)
    return paths


def _upstream_text(crash: SecurityCrash) -> str:
    policy = crash.policy
    where = f"as <{policy}> asks" if policy else "as the `SECURITY.md` of the library asks"
    body = crash.report.body.partition("\n")[2].strip("\n")  # without the marker
    return (
        f"<!-- Send this in private, {where}. Do not open a public issue. "
        "Delete this line. -->\n\n"
        f"# {crash.report.title}\n\n{body}\n"
    )


def withheld(count: int) -> str:
    """Return the message about crashes that are filed nowhere."""
    what = "crash is" if count == 1 else "crashes are"
    return (
        f"{count} security-relevant {what} in the reports and not filed, since others can read "
        f"issues. Send the texts in {FOLDER}/ to the library's maintainers in private, or set "
        "issues-security (docs/severity.md)"
    )


def disclosed(places: Sequence[str]) -> str:
    """Return the message about crashes that were filed in private."""
    named = ", ".join(places[:_MAX_NAMED])
    more = f" and {len(places) - _MAX_NAMED} more" if len(places) > _MAX_NAMED else ""
    what = "crash was" if len(places) == 1 else "crashes were"
    return f"{len(places)} security-relevant {what} filed in private: {named}{more}"
