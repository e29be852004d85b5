"""The cache of environments: where they are, which are complete, how they are listed and pruned.

    <cache>/environments/<key>/environment.json   the record; written last, so: complete
                              /<build>/venv       what uv installed
                              /<build>/cache      what the library compiled for itself
    <cache>/locks/<key>.lock

Every attempt builds in a folder of its own and none is renamed: virtual environments and compiled
kernels hold absolute paths. A folder that the record does not name is the leftover of an
interrupted attempt, even if that attempt's uv still writes into it.
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
import secrets
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import platformdirs
from filelock import FileLock, Timeout

from ciguard.errors import ProvisioningError

if TYPE_CHECKING:
    from collections.abc import Collection

log = logging.getLogger(__name__)

CACHE_VARIABLE = "CIGUARD_CACHE"
RECORD_SCHEMA = 1
_RECORD = "environment.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEnvironment:
    """One environment in the cache, as `ciguard targets list` shows it."""

    key: str
    target: str
    """The target it was first built for; empty for an interrupted sync."""
    root: Path
    size_bytes: int
    last_used_s: float
    """Seconds since the epoch."""
    is_complete: bool
    """False for what an interrupted sync left behind."""
    is_in_use: bool
    """Whether a running process was started from it."""


def cache_folder() -> Path:
    """Return ciguard's cache folder: `$CIGUARD_CACHE`, else the user's cache folder."""
    override = os.environ.get(CACHE_VARIABLE)
    return Path(override).resolve() if override else platformdirs.user_cache_path("ciguard")


class EnvironmentSlot:
    """The place of one environment in the cache."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.folder = cache_folder() / "environments" / key

    def record(self) -> dict[str, Any] | None:
        """Return the record of a complete environment; None when it must be built."""
        try:
            record = json.loads((self.folder / _RECORD).read_text(encoding="utf-8"))
            usable = record["schema"] == RECORD_SCHEMA and Path(record["python"]).exists()
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            log.warning("environment %s has no readable record (%s): built anew", self.key, error)
            return None
        if not usable:
            log.warning("environment %s lost its interpreter or is of another schema", self.key)
        return record if usable else None

    def touch(self) -> None:
        """Note that the environment is used now."""
        try:
            os.utime(self.folder / _RECORD)
        except OSError as error:  # a cache that is mounted read-only serves as well
            log.debug("last use of %s is not noted: %s", self.key, error)

    def lock(self) -> FileLock:
        """Return the lock that whoever builds or removes the environment holds.

        Raises:
            ProvisioningError: if the cache cannot be written.
        """
        folder = cache_folder() / "locks"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_writable(error) from error
        return FileLock(folder / f"{self.key}.lock")

    def new_build(self) -> Path:
        """Remove leftovers and make an empty folder to build in. Only under the lock.

        Raises:
            ProvisioningError: if the cache cannot be written.
        """
        try:
            if self.folder.exists():
                self.sweep()
            build = self.folder / f"build-{secrets.token_hex(4)}"
            build.mkdir(parents=True)
        except OSError as error:
            raise _not_writable(error) from error
        return build

    def publish(self, record: dict[str, Any]) -> None:
        """Write the record, which makes the environment complete. Only under the lock."""
        text = json.dumps({"schema": RECORD_SCHEMA, **record}, indent=2, sort_keys=True)
        draft = self.folder / f"{_RECORD}.draft"
        with draft.open("w", encoding="utf-8") as stream:
            stream.write(text + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(self.folder / _RECORD)
        self.sweep()

    def sweep(self) -> None:
        """Remove what no complete environment needs. Only under the lock.

        Files that a dying uv still adds are left for the next time: no record names them.
        """
        record = self.record()
        kept = {_RECORD, Path(record["build"]).name} if record else set()
        for entry in self.folder.iterdir():
            if entry.name in kept:
                continue
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
        if not kept:
            with contextlib.suppress(OSError):  # a dying uv may have added to it again
                self.folder.rmdir()

    def clear(self) -> None:
        """Remove the environment, its record first. Only under the lock."""
        (self.folder / _RECORD).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def _not_writable(error: OSError) -> ProvisioningError:
    return ProvisioningError(
        f"the cache {cache_folder()} cannot be written: {error}. "
        f"Make room, or set {CACHE_VARIABLE} to another folder."
    )


def list_environments() -> list[StoredEnvironment]:
    """Return every environment in the cache, the most recently used first."""
    root = cache_folder() / "environments"
    folders = [folder for folder in root.iterdir() if folder.is_dir()] if root.is_dir() else []
    commands = _running_commands()
    found = [_stored(folder, commands) for folder in folders]
    return sorted(found, key=lambda stored: stored.last_used_s, reverse=True)


def prune_environments(
    *, keep: int = 0, keys: Collection[str] | None = None
) -> list[StoredEnvironment]:
    """Remove environments and return those removed; what is used or being built now stays.

    Args:
        keep: how many of the most recently used complete ones stay.
        keys: remove only among these; None means all.
    """
    removed = []
    for stored in list_environments():
        if keys is not None and stored.key not in keys:
            continue
        if stored.is_complete and keep > 0:
            keep -= 1
            continue
        if not stored.is_in_use and _remove(stored.key):
            removed.append(stored)
    return removed


def _remove(key: str) -> bool:
    slot = EnvironmentSlot(key)
    try:
        with slot.lock().acquire(timeout=0):
            slot.clear()
    except Timeout:
        log.info("environment %s is being built: not removed", key)
        return False
    return True


def _stored(folder: Path, commands: Collection[str]) -> StoredEnvironment:
    record = EnvironmentSlot(folder.name).record()
    stamp = folder / _RECORD if record else folder
    return StoredEnvironment(
        key=folder.name,
        target=record["target"] if record else "",
        root=folder,
        size_bytes=_size_bytes(folder),
        last_used_s=stamp.stat().st_mtime if stamp.exists() else time.time(),
        is_complete=record is not None,
        is_in_use=any(command.startswith(f"{folder}{os.sep}") for command in commands),
    )


def _size_bytes(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).lstat().st_size
            except FileNotFoundError:  # removed while we look
                continue
    return total


def _running_commands() -> set[str]:
    """Return the programs of running processes, as started; empty where there is no `/proc`."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.add(os.fsdecode(path.read_bytes().split(b"\0", 1)[0]))
        except OSError:  # ended meanwhile, or not ours to read
            continue
    return found
