"""Announcements: whether a library's documentation says that its behaviour changes.

Compares what two versions document of an API: signature, defaults, requirements, deprecations and
sentences, and reads release notes. A difference that the documentation of the same API and argument
explains is an announced change, and every other one a regression. docs/announced.md describes the
rules. Nothing here runs a library.
"""

from ciguard.announcements.alone import Release, documentation_alone, removal, removed_apis
from ciguard.announcements.changes import (
    ApiDocumentation,
    ChangeKind,
    DocumentedChange,
    documented_changes,
)
from ciguard.announcements.deciding import OtherSources, announcement
from ciguard.announcements.release_notes import (
    ReleaseNote,
    read_release_notes,
    release_notes_in,
)

__all__ = [
    "ApiDocumentation",
    "ChangeKind",
    "DocumentedChange",
    "OtherSources",
    "Release",
    "ReleaseNote",
    "announcement",
    "documentation_alone",
    "documented_changes",
    "read_release_notes",
    "release_notes_in",
    "removal",
    "removed_apis",
]
