"""Security-relevant crashes, which are filed in private, or written to files to send upstream."""

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
"""Subfolder of the results with one text per crash, to send to the library's maintainers."""
_MAX_NAMED = 5
_VERSION = re.compile(r"\d[\w.+!-]{0,40}", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class SecurityCrash:
    """A crash that must not be published, and its report."""

    report: Report
    library: str
    apis: tuple[str, ...]
    """Names of the APIs that crash."""
    versions: tuple[str, ...] = ()
    """Versions of the library that crash, sorted."""

    @property
    def package(self) -> str:
        """Name of the library on the package index."""
        library = LIBRARIES.items().get(self.library)
        return library.distributions[0] if library is not None else self.library

    @property
    def policy(self) -> str:
        """URL of the library's security policy; empty if unknown."""
        library = LIBRARIES.items().get(self.library)
        return library.security_policy if library is not None else ""


@dataclass(frozen=True, slots=True)
class PrivateReport:
    """A report of a crash in a private place."""

    name: str
    """Name of the report that messages may show, such as `owner/name#7`."""
    is_new: bool
    """True if this run filed the crash; False if it was filed before."""


class Discloser(Protocol):
    """A private place in which crashes are filed."""

    def disclose(self, crash: SecurityCrash, *, may_create: bool) -> PrivateReport | None:
        """File the crash, or update its text if it was filed before.

        Args:
            crash: the crash to file.
            may_create: whether a new report may be created.

        Returns:
            The report; None if the crash was not filed.

        Raises:
            TrackerUnavailableError: if the place does not respond in time.
            TrackerError: if the place rejects the report, or is not private.
        """


def crash_of(group: BucketGroup, report: Report, versions: Mapping[str, str]) -> SecurityCrash:
    """Return the crash to file for a group with a bucket of class `security-crash`.

    Args:
        group: the group; if this run saw members, only these members count.
        report: the text of the group's issue.
        versions: the library's version, by target.
    """
    findings = [member.bucket.finding for member in group.seen_members or group.members]
    crashing = {versions.get(target, "") for finding in findings for target in finding.targets}
    return SecurityCrash(
        report=report,
        library=findings[0].library,
        apis=tuple(sorted({finding.api for finding in findings})),
        versions=tuple(sorted(filter(_VERSION.fullmatch, crashing))),
    )


def is_security_relevant(bucket: Bucket) -> bool:
    """Return whether the run saw signs that the bucket's crash corrupts memory."""
    return class_of(bucket.finding) is FindingClass.SECURITY


def write_upstream_reports(out: Path, crashes: Iterable[SecurityCrash]) -> list[Path]:
    """Write one text per crash, which a person can send to the library's maintainers.

    Args:
        out: the output folder of the run.
        crashes: the crashes that this run saw.

    Returns:
        The paths of the files, in the order of the crashes.

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
            msg = (
                f"{path}: cannot be written: {error.strerror or error}. Free disk space, then run "
                "again."
            )
            raise OutputError(msg) from error
        paths.append(path)
    return paths


def _upstream_text(crash: SecurityCrash) -> str:
    policy = crash.policy
    way = f"as described in <{policy}>" if policy else "as the library's `SECURITY.md` describes"
    body = crash.report.body.partition("\n")[2].strip("\n")  # without the marker
    return (
        f"<!-- Send this text in private, {way}. Do not open a public issue. "
        "Delete this line. -->\n\n"
        f"# {crash.report.title}\n\n{body}\n"
    )


def withheld_message(count: int) -> str:
    """Return the message about crashes that were not filed."""
    subject = "crash was" if count == 1 else "crashes were"
    return (
        f"{count} security-relevant {subject} not filed, because the issues are public. "
        f"Send the texts in {FOLDER}/ to the library's maintainers in private, or set "
        "`issues-security` (docs/severity.md)"
    )


def disclosed_message(names: Sequence[str]) -> str:
    """Return the message about crashes that were filed in private.

    Args:
        names: the names of the private reports.
    """
    listed = ", ".join(names[:_MAX_NAMED])
    more = f" and {len(names) - _MAX_NAMED} more" if len(names) > _MAX_NAMED else ""
    subject = "crash was" if len(names) == 1 else "crashes were"
    return f"{len(names)} security-relevant {subject} filed in private: {listed}{more}"
