"""Hooks of the build: a release knows where it comes from, and so does its page on PyPI.

The release workflow sets two variables: `CIGUARD_PROJECT`, as `owner/name@commit`, and
`CIGUARD_RELEASE_TAG`. Without the tag nothing is added: a checkout asks git instead.
"""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

if TYPE_CHECKING:
    from collections.abc import Mapping

PROJECT, TAG = "CIGUARD_PROJECT", "CIGUARD_RELEASE_TAG"
INSIDE = "ciguard/release.json"
"""Read by `ciguard/project.py`."""
_PROJECT = re.compile(
    r"(?P<repository>[\w.-]{1,100}/[\w.-]{1,100})@(?P<commit>[0-9a-f]{40})", re.ASCII
)
_RELATIVE_IMAGE = re.compile(r"(!\[[^\]]*)\]\((?!https?://)([^)\s]+)\)")
_RELATIVE_LINK = re.compile(r"\]\((?!https?://|#)([^)\s]+)\)")
_PLACEHOLDER = re.compile(r"OWNER/ciguard((?:/[\w./-]+)?)@COMMIT")


def release_of(variables: Mapping[str, str], *, version: str) -> dict[str, str] | None:
    """Return repository, commit and tag of the release that is built, or None if none is.

    Raises:
        ValueError: if the variables contradict each other or the version.
    """
    tag = variables.get(TAG, "")
    if not tag:
        return None
    if tag != f"v{version}":
        msg = f"{TAG}={tag!r}: the version is {version}, so its tag is 'v{version}'."
        raise ValueError(msg)
    project = _PROJECT.fullmatch(variables.get(PROJECT, ""))
    if project is None:
        msg = f"{PROJECT}={variables.get(PROJECT, '')!r}: a release needs OWNER/NAME@COMMIT there."
        raise ValueError(msg)
    return project.groupdict() | {"tag": tag}


def urls_of(release: Mapping[str, str]) -> dict[str, str]:
    """Return the links of a release beside its description on PyPI."""
    home = f"https://github.com/{release['repository']}"
    return {
        "Homepage": home,
        "Documentation": f"{home}/blob/{release['tag']}/docs/index.md",
        "Changelog": f"{home}/blob/{release['tag']}/CHANGELOG.md",
        "Issues": f"{home}/issues",
        "Source": f"{home}/tree/{release['commit']}",
    }


def described(readme: str, release: Mapping[str, str] | None) -> str:
    """Return the README with links that lead somewhere, and lines of workflows to be copied."""
    if release is None:
        return readme
    home, commit = f"https://github.com/{release['repository']}", release["commit"]
    # What `blob` names is a page about the file, no image.
    shown = _RELATIVE_IMAGE.sub(rf"\1]({home}/raw/{release['tag']}/\2)", readme)
    linked = _RELATIVE_LINK.sub(rf"]({home}/blob/{release['tag']}/\1)", shown)
    called = rf"{release['repository']}\1@{commit} # {release['tag']}"
    return _PLACEHOLDER.sub(called, linked).replace("<this repository>", f"{home}.git")


class Links(MetadataHookInterface):
    """Fills in `urls` and `readme` of [project]."""

    def update(self, metadata: dict[str, Any]) -> None:
        """See `MetadataHookInterface`."""
        release = release_of(os.environ, version=metadata["version"])
        text = Path(self.root, "README.md").read_text("utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": described(text, release)}
        metadata["urls"] = urls_of(release) if release else {}


class ReleaseFile(BuildHookInterface[Any]):
    """Puts `release.json` into wheels and source distributions of releases."""

    _folder: tempfile.TemporaryDirectory[str] | None = None

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """See `BuildHookInterface`. A source distribution of a release has the file already."""
        release = release_of(os.environ, version=self.metadata.version)
        if release is None or version == "editable" or Path(self.root, INSIDE).exists():
            return
        self._folder = tempfile.TemporaryDirectory()
        path = Path(self._folder.name, "release.json")
        path.write_text(json.dumps(release, indent=2) + "\n", "utf-8")
        build_data["force_include"][str(path)] = INSIDE

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002 - the interface's
        """See `BuildHookInterface`."""
        if self._folder is not None:
            self._folder.cleanup()
