"""One shard on a node of a cluster, run as a separate process of `ciguard run --shard`.

This module runs on workers of the cluster, which import it by name.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager, ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from ciguard import __version__
from ciguard.campaign.journal import read_journal
from ciguard.config import PREFIX
from ciguard.domain.parts import PARTS_FILE
from ciguard.errors import ClusterError, ExitCode, OutputError
from ciguard.files import read_text
from ciguard.scratch import scratch_prefix
from ciguard.targets import run_child

if TYPE_CHECKING:
    from ciguard.domain.shards import Shard

TOKEN = ".token"  # noqa: S105 - identifies a shared folder
_LOG = "run.log"
RESULT_FILES = (PARTS_FILE, "run.json", "summary.md", _LOG)
"""Files of a shard's folder that are copied to the machine of the command."""
_MAX_BYTES = 1 << 28


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardJob:
    """Job of one shard, which is sent to a worker."""

    shard: Shard
    """Number of the shard."""
    out: str
    """Output folder of the shard on the machine of the command."""
    token: str
    """Content of the token file next to this folder, which shows that a folder is shared."""
    variables: dict[str, str]
    """Settings of the campaign, as environment variables."""
    toml: str = ""
    """Settings that environment variables cannot express."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardResult:
    """Result of a shard's process."""

    shard: Shard
    """Number of the shard."""
    exit_code: int
    """Exit code of the process."""
    node: str
    """Host name of the node."""
    resumed: bool
    """True if the shard was resumed from its journal."""
    files: dict[str, bytes] = field(default_factory=dict)
    """Content of its result files by name, if its folder is not shared."""
    log_tail: str = ""
    """End of its log, if it wrote no result."""


_running: dict[str, set[int]] = {}
"""Process ids of this worker's shards, by the token of their campaign."""
_stopped: set[str] = set()
"""Tokens of stopped campaigns, whose shards are not started any more."""


def run_shard(job: ShardJob) -> ShardResult:
    """Run one shard.

    Raises:
        ClusterError: if its process was killed, so that Dask starts it again.
    """
    node = os.uname().nodename
    if job.token in _stopped:
        return ShardResult(
            shard=job.shard, exit_code=ExitCode.INTERRUPTED, node=node, resumed=False
        )
    out = Path(job.out)
    is_shared = _text(out.parent / TOKEN) == job.token
    with ExitStack() as stack:
        folder = out if is_shared else Path(stack.enter_context(_own_folder()))
        resumes = _can_resume(folder)
        code = _run(job, folder, resumes=resumes)
        if code < 0:
            msg = f"shard {job.shard} was killed by signal {-code} on {node}"
            raise ClusterError(msg)
        has_result = (folder / PARTS_FILE).exists()
        return ShardResult(
            shard=job.shard,
            exit_code=code,
            node=node,
            resumed=resumes,
            files={} if is_shared else _files(folder),
            log_tail="" if has_result else _text(folder / _LOG)[-2_000:],
        )


def _own_folder() -> AbstractContextManager[str]:
    return tempfile.TemporaryDirectory(prefix=scratch_prefix("shard"))


def _can_resume(folder: Path) -> bool:
    try:
        read_journal(folder)
    except OutputError:
        return False
    return True


def _run(job: ShardJob, folder: Path, *, resumes: bool) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ciguard.toml").write_text(job.toml, "utf-8")
    inherited = {name: text for name, text in os.environ.items() if not name.startswith(PREFIX)}
    cache = {name: text for name, text in os.environ.items() if name == "CIGUARD_CACHE"}
    argv = [sys.executable, "-m", "ciguard", "run", "--shard", str(job.shard), "--out", str(folder)]
    with (
        (folder / _LOG).open("ab") as log,
        run_child(
            [*argv, *(["--resume"] if resumes else [])],
            folder=folder,
            environment={**inherited, **cache, **job.variables},
            stdout=log,
            stderr=subprocess.STDOUT,
        ) as process,
    ):
        pids = _running.setdefault(job.token, set())
        pids.add(process.pid)
        try:
            return process.wait()
        finally:
            pids.discard(process.pid)


def stop_shards(token: str) -> int:
    """Interrupt the shards of a campaign on this worker, and return their number."""
    _stopped.add(token)
    pids = _running.get(token, set())
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    return len(pids)


def worker_version() -> str:
    """Return the version of ciguard on this worker."""
    return __version__


def _text(path: Path) -> str:
    try:
        return read_text(path, most=_MAX_BYTES)
    except (OSError, ValueError):
        return ""


def _files(folder: Path) -> dict[str, bytes]:
    return {
        name: (folder / name).read_bytes()
        for name in RESULT_FILES
        if (folder / name).exists() and (folder / name).stat().st_size < _MAX_BYTES
    }
