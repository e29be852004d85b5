"""One shard on a node of a cluster: a `ciguard run --shard` in a process of its own.

All of this runs on workers of the cluster, which import it by name.
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
from ciguard.targets import child

if TYPE_CHECKING:
    from ciguard.domain.shards import Shard

TOKEN = ".token"  # noqa: S105 - tells a shared folder from another of that name
_LOG = "run.log"
BROUGHT_BACK = (PARTS_FILE, "run.json", "summary.md", _LOG)
"""Files of a shard's folder that the machine of the command needs."""
_MAX_BYTES = 1 << 28


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardJob:
    """One shard, as it is sent to a worker."""

    shard: Shard
    out: str
    """Its folder on the machine of the command."""
    token: str
    """What the file beside that folder says, where it is the same folder."""
    variables: dict[str, str]
    """Settings of the campaign."""
    toml: str = ""
    """Settings that a variable cannot express."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """How the process of a shard ended."""

    shard: Shard
    exit_code: int
    node: str
    resumed: bool
    files: dict[str, bytes] = field(default_factory=dict)
    """What it left, where its folder is not that of the command."""
    says: str = ""
    """The end of its log, where it left no result."""


_running: dict[str, set[int]] = {}
"""Processes of this worker, by the token of their campaign."""
_stopped: set[str] = set()
"""Tokens of campaigns of which no shard is started any more."""


def run_shard(job: ShardJob) -> Done:
    """Run one shard to its end.

    Raises:
        ClusterError: if its process was killed, so that it is to be tried again.
    """
    node = os.uname().nodename
    if job.token in _stopped:
        return Done(shard=job.shard, exit_code=ExitCode.INTERRUPTED, node=node, resumed=False)
    shared = Path(job.out)
    is_shared = _says(shared.parent / TOKEN) == job.token
    with ExitStack() as held:
        folder = shared if is_shared else Path(held.enter_context(_own_folder()))
        resumes = _can_resume(folder)
        code = _run(job, folder, resumes=resumes)
        if code < 0:
            msg = f"shard {job.shard} was ended by signal {-code} on {node}"
            raise ClusterError(msg)
        left = (folder / PARTS_FILE).exists()
        return Done(
            shard=job.shard,
            exit_code=code,
            node=node,
            resumed=resumes,
            files={} if is_shared else _files(folder),
            says="" if left else _says(folder / _LOG)[-2_000:],
        )


def _own_folder() -> AbstractContextManager[str]:
    return tempfile.TemporaryDirectory(prefix="ciguard-shard-")


def _can_resume(folder: Path) -> bool:
    try:
        read_journal(folder)
    except OutputError:
        return False
    return True


def _run(job: ShardJob, folder: Path, *, resumes: bool) -> int:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "ciguard.toml").write_text(job.toml, "utf-8")
    kept = {name: text for name, text in os.environ.items() if not name.startswith(PREFIX)}
    cache = {name: text for name, text in os.environ.items() if name == "CIGUARD_CACHE"}
    argv = [sys.executable, "-m", "ciguard", "run", "--shard", str(job.shard), "--out", str(folder)]
    with (
        (folder / _LOG).open("ab") as log,
        child(
            [*argv, *(["--resume"] if resumes else [])],
            folder=folder,
            environment={**kept, **cache, **job.variables},
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
    """Interrupt the shards of a campaign that run on this worker; they sum up what they found."""
    _stopped.add(token)
    pids = _running.get(token, set())
    for pid in pids:
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
    return len(pids)


def worker_version() -> str:
    """Return the version of ciguard on this worker."""
    return __version__


def _says(path: Path) -> str:
    try:
        return read_text(path, most=_MAX_BYTES)
    except (OSError, ValueError):
        return ""


def _files(folder: Path) -> dict[str, bytes]:
    return {
        name: (folder / name).read_bytes()
        for name in BROUGHT_BACK
        if (folder / name).exists() and (folder / name).stat().st_size < _MAX_BYTES
    }
