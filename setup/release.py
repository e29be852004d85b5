"""Check a release, and write what is published with it.

    python setup/release.py check TAG < TAGS    TAGS are all tags, one per line
    python setup/release.py notes TAG
    python setup/release.py sbom OWNER/NAME@COMMIT

`check` prints outputs of a step of GitHub Actions. Exits with 2 and one line on standard error if
the tag cannot be released.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
_TAG = re.compile(r"v(\d+)\.(\d+)\.(\d+)", re.ASCII)
_VERSION = re.compile(r'^__version__ = "([^"]+)"$', re.MULTILINE)
_HEADING = re.compile(r"^## (?P<version>\S+) \((?P<date>[^)]+)\)$", re.MULTILINE)
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)
_PIN = re.compile(r"([A-Za-z0-9._-]+)==([^\s;]+)", re.ASCII)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


class ReleaseError(Exception):
    """The tag cannot be released; the message says what to change."""


def main(command: str, argument: str) -> None:
    """Print what a command is asked for."""
    match command:
        case "check":
            notes(argument, changelog=_text("CHANGELOG.md"))
            check_version(argument, source=_text("ciguard/__init__.py"))
            sys.stdout.write(f"version={argument[1:]}\n")
            sys.stdout.write(f"moving-tag={moving_tag(argument, sys.stdin.read().split())}\n")
        case "notes":
            sys.stdout.write(notes(argument, changelog=_text("CHANGELOG.md")))
        case "sbom":
            version = version_of(_text("ciguard/__init__.py"))
            bom = sbom(argument, version=version, pins=_text("action/requirements.txt"))
            sys.stdout.write(json.dumps(bom, indent=2) + "\n")
        case _:
            msg = f"{command!r} is no command: write check, notes or sbom."
            raise ReleaseError(msg)


def version_of(source: str) -> str:
    """Return the version that `ciguard/__init__.py` states, the one place that does."""
    match = _VERSION.search(source)
    if match is None:
        msg = 'ciguard/__init__.py: no line of the form __version__ = "…".'
        raise ReleaseError(msg)
    return match[1]


def check_version(tag: str, *, source: str) -> None:
    """Raise unless the tag is that of the version in `ciguard/__init__.py`."""
    version = version_of(source)
    if not _TAG.fullmatch(tag):
        msg = f"tag {tag!r}: a release is tagged with three numbers, such as v0.1.0."
        raise ReleaseError(msg)
    if tag != f"v{version}":
        msg = f"tag {tag!r}: ciguard/__init__.py has version {version}. Change one of them."
        raise ReleaseError(msg)


def notes(tag: str, *, changelog: str) -> str:
    """Return the section of the changelog, without its heading; links lead to the tag's files."""
    version = tag.removeprefix("v")
    headings = list(_HEADING.finditer(changelog))
    here = next((each for each in headings if each["version"] == version), None)
    if here is None:
        msg = f"CHANGELOG.md: no section '## {version} (YYYY-MM-DD)'. Add it."
        raise ReleaseError(msg)
    if not _DATE.fullmatch(here["date"]):
        msg = f"CHANGELOG.md: '{here[0]}': write the day of the release, as YYYY-MM-DD."
        raise ReleaseError(msg)
    ends = (each.start() for each in headings if each.start() > here.start())
    section = changelog[here.end() : next(ends, None)].strip()
    if not section:
        msg = f"CHANGELOG.md: '{here[0]}' is empty. Write what changed, one sentence each."
        raise ReleaseError(msg)
    return f"{section}\n"


def moving_tag(tag: str, tags: list[str]) -> str:
    """Return the tag that moves to this release, such as `v0`; empty if a newer release has it."""
    numbers = _numbers(tag)
    same_major = [_numbers(other) for other in tags if _TAG.fullmatch(other)]
    newest = max((other for other in same_major if other[0] == numbers[0]), default=numbers)
    return f"v{numbers[0]}" if numbers >= newest else ""


def _numbers(tag: str) -> tuple[int, ...]:
    match = _TAG.fullmatch(tag)
    if match is None:
        msg = f"tag {tag!r}: a release is tagged with three numbers, such as v0.1.0."
        raise ReleaseError(msg)
    return tuple(map(int, match.groups()))


def sbom(project: str, *, version: str, pins: str) -> dict[str, Any]:
    """Return a CycloneDX 1.6 bill of what the action installs, the same for the same commit.

    Args:
        project: `owner/name@commit`.
        version: of ciguard.
        pins: requirements with hashes, as `make action-lock` writes them.
    """
    ciguard = _component("ciguard", version) | {"type": "application"}
    ciguard["licenses"] = [{"license": {"id": "Apache-2.0"}}]
    repository, _, commit = project.partition("@")
    source = f"https://github.com/{repository}"
    ciguard["externalReferences"] = [{"type": "vcs", "url": f"{source}/tree/{commit}"}]
    components = [_pinned(line) for line in pins.replace("\\\n", " ").splitlines() if "==" in line]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, f'{source}@{commit}')}",
        "version": 1,
        "metadata": {"component": ciguard},
        "components": components,
        "dependencies": [
            {"ref": ciguard["bom-ref"], "dependsOn": [each["bom-ref"] for each in components]}
        ],
    }


def _pinned(line: str) -> dict[str, Any]:
    match = _PIN.match(line)
    if match is None:
        msg = f"action/requirements.txt: {line[:80]!r} pins no version."
        raise ReleaseError(msg)
    name, version = match.groups()
    hashes = [{"alg": "SHA-256", "content": digest} for digest in _HASH.findall(line)]
    page = f"https://pypi.org/project/{name}/{version}/"
    reference = {"type": "distribution", "url": page, "hashes": hashes}
    return _component(name, version) | {"externalReferences": [reference]}


def _component(name: str, version: str) -> dict[str, Any]:
    purl = f"pkg:pypi/{name.lower().replace('_', '-')}@{version}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def _text(path: str) -> str:
    return (ROOT / path).read_text("utf-8")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:3])
    except ReleaseError as error:
        sys.stderr.write(f"release: {error}\n")
        sys.exit(2)
