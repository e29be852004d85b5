"""The cache of environments: their location, their records, listing and pruning.

    <cache>/environments/<key>/environment.json   the record; written last, when all is complete
                              /<build>/venv       packages that uv installed
                              /<build>/cache      code that the library compiled
    <cache>/locks/<key>.lock

Every attempt builds in a new folder, which is never renamed: virtual environments and compiled
kernels contain absolute paths. A folder that the record does not name is left over from an
interrupted attempt, whose uv may still be writing.
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
"""Environment variable that sets the cache folder."""
RECORD_SCHEMA = 1
"""Version of the format of records."""
_RECORD = "environment.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredEnvironment:
    """An environment in the cache, as `ciguard targets list` shows it."""

    key: str
    """Key of the environment's recipe."""
    target: str
    """Name of the target for which it was built; empty if the build was interrupted."""
    root: Path
    """Folder of the environment."""
    size_bytes: int
    """Total size of its files, in bytes."""
    last_used_s: float
    """Time of the last use, in seconds since the epoch."""
    is_complete: bool
    """False if its build was interrupted."""
    is_in_use: bool
    """True if a running process was started from it."""


def cache_folder() -> Path:
    """Return ciguard's cache folder: `$CIGUARD_CACHE`, else the user's cache folder."""
    override = os.environ.get(CACHE_VARIABLE)
    return Path(override).resolve() if override else platformdirs.user_cache_path("ciguard")


class EnvironmentSlot:
    """Folder of one environment in the cache, with its record and lock."""

    def __init__(self, key: str) -> None:
        self.key = key
        self.folder = cache_folder() / "environments" / key
        self._is_reported = False
        """True if the log says why the environment must be built again."""

    def record(self) -> dict[str, Any] | None:
        """Return the record of a complete environment; None if it must be built."""
        try:
            record = json.loads((self.folder / _RECORD).read_text(encoding="utf-8"))
            is_usable = record["schema"] == RECORD_SCHEMA and Path(record["python"]).exists()
        except FileNotFoundError:
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            self._report(f"cannot read its record ({error})")
            return None
        if not is_usable:
            self._report("interpreter missing, or record of another schema")
        return record if is_usable else None

    def _report(self, reason: str) -> None:
        if not self._is_reported:
            log.warning("environment %s: %s; rebuilding", self.key, reason)
        self._is_reported = True

    def touch(self) -> None:
        """Set the time of the last use to now."""
        try:
            os.utime(self.folder / _RECORD)
        except OSError as error:  # a read-only cache can be used too
            log.debug("environment %s: cannot set the time of its last use: %s", self.key, error)

    def lock(self) -> FileLock:
        """Return the lock to hold while building or removing the environment.

        Raises:
            ProvisioningError: if the cache cannot be written.
        """
        folder = cache_folder() / "locks"
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise _not_writable_error(error) from error
        return FileLock(folder / f"{self.key}.lock")

    def new_build(self) -> Path:
        """Remove files of interrupted builds, and create and return an empty build folder.

        The caller must hold the lock.

        Raises:
            ProvisioningError: if the cache cannot be written.
        """
        try:
            if self.folder.exists():
                self.sweep()
            build = self.folder / f"build-{secrets.token_hex(4)}"
            build.mkdir(parents=True)
        except OSError as error:
            raise _not_writable_error(error) from error
        return build

    def publish(self, record: dict[str, Any]) -> None:
        """Write the record, which marks the environment as complete.

        The caller must hold the lock.
        """
        text = json.dumps({"schema": RECORD_SCHEMA, **record}, indent=2, sort_keys=True)
        draft = self.folder / f"{_RECORD}.draft"
        with draft.open("w", encoding="utf-8") as stream:
            stream.write(text + "\n")
            stream.flush()
            os.fsync(stream.fileno())
        draft.replace(self.folder / _RECORD)
        self.sweep()

    def sweep(self) -> None:
        """Remove everything except for a complete environment. The caller must hold the lock.

        Files that a killed uv adds later are removed the next time, since no record names them.
        """
        record = self.record()
        kept_names = {_RECORD, Path(record["build"]).name} if record else set()
        for entry in self.folder.iterdir():
            if entry.name in kept_names:
                continue
            if entry.is_dir():
                shutil.rmtree(entry, ignore_errors=True)
            else:
                entry.unlink(missing_ok=True)
        if not kept_names:
            with contextlib.suppress(OSError):  # a killed uv may have added files again
                self.folder.rmdir()

    def clear(self) -> None:
        """Remove the environment, its record first. The caller must hold the lock."""
        (self.folder / _RECORD).unlink(missing_ok=True)
        shutil.rmtree(self.folder, ignore_errors=True)


def _not_writable_error(error: OSError) -> ProvisioningError:
    return ProvisioningError(
        f"cannot write to the cache {cache_folder()}: {error}. "
        f"Free disk space, or set {CACHE_VARIABLE} to another folder."
    )


def list_environments() -> list[StoredEnvironment]:
    """Return every environment in the cache, the most recently used first."""
    root = cache_folder() / "environments"
    folders = [folder for folder in root.iterdir() if folder.is_dir()] if root.is_dir() else []
    programs = _running_programs()
    environments = [_stored(folder, programs) for folder in folders]
    return sorted(environments, key=lambda stored: stored.last_used_s, reverse=True)


def prune_environments(
    *, keep: int = 0, keys: Collection[str] | None = None
) -> list[StoredEnvironment]:
    """Remove environments that are neither in use nor being built, and return the removed ones.

    Args:
        keep: the number of most recently used complete environments to keep.
        keys: the keys of the environments that may be removed; by default all.
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
    """Remove an environment and return True; return False if it is being built."""
    slot = EnvironmentSlot(key)
    try:
        with slot.lock().acquire(timeout=0):
            slot.clear()
    except Timeout:
        log.info("environment %s: not removed, since it is being built", key)
        return False
    return True


def _stored(folder: Path, programs: Collection[str]) -> StoredEnvironment:
    """Return the stored environment in a folder, given the programs of all running processes."""
    record = EnvironmentSlot(folder.name).record()
    touched_path = folder / _RECORD if record else folder
    return StoredEnvironment(
        key=folder.name,
        target=record["target"] if record else "",
        root=folder,
        size_bytes=_size_bytes(folder),
        last_used_s=touched_path.stat().st_mtime if touched_path.exists() else time.time(),
        is_complete=record is not None,
        is_in_use=any(program.startswith(f"{folder}{os.sep}") for program in programs),
    )


def _size_bytes(folder: Path) -> int:
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).lstat().st_size
            except FileNotFoundError:  # removed meanwhile
                continue
    return total


def _running_programs() -> set[str]:
    """Return the first word of the command line of each process; empty without `/proc`."""
    programs = set()
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            programs.add(os.fsdecode(path.read_bytes().split(b"\0", 1)[0]))
        except OSError:  # ended meanwhile, or not readable
            continue
    return programs
