"""The shards of one campaign on a Dask cluster: launched, moved where a node dies, collected.

Each shard is a `ciguard run --shard` in a process of its own; Dask decides where, and starts it
again elsewhere when its worker is gone. Where the nodes share the output folder the shard goes on
from its journal, otherwise it begins anew: it is the same shard either way.

Only `launch` runs on the machine of the command; `run_shard` and `stop_shards` run on workers.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard import __version__
from ciguard.campaign.journal import read_journal
from ciguard.campaign.parts_file import read_folder
from ciguard.config import PREFIX, SETTINGS
from ciguard.domain import PARTS_FILE, Shard, visible
from ciguard.errors import ClusterError, ExitCode, OutputError
from ciguard.files import read_text, replace_file
from ciguard.targets import child

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.config import Effective

SHARDS = "shards"
"""Folder of the shards' folders in the folder of the whole."""
_TOKEN = ".token"  # noqa: S105 - tells a shared folder from another of that name
_LOG = "run.log"
_BROUGHT_BACK = (PARTS_FILE, "run.json", "summary.md", _LOG)
_MAX_BYTES = 1 << 28
_MAX_DEATHS = 3
"""Of one shard's process, on whatever node."""
_CONNECT_S = 30
_FAREWELL_S = 60.0
"""Until interrupted shards have summed up."""
_OWN = frozenset({"out", "shard", "part", "resume", "tracker", "dry-run"})
"""Settings of the command, not of its shards."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
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


# --- on a worker ----------------------------------------------------------------------------------

_running: dict[str, set[int]] = {}
"""Processes of this worker, by the token of their campaign."""
_stopped: set[str] = set()
"""Tokens of campaigns of which no shard is started any more."""


def run_shard(job: Job) -> Done:
    """Run one shard to its end.

    Raises:
        ClusterError: if its process was killed, so that it is to be tried again.
    """
    node = os.uname().nodename
    if job.token in _stopped:
        return Done(shard=job.shard, exit_code=ExitCode.INTERRUPTED, node=node, resumed=False)
    shared = Path(job.out)
    is_shared = _says(shared.parent / _TOKEN) == job.token
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


def _run(job: Job, folder: Path, *, resumes: bool) -> int:
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
        for name in _BROUGHT_BACK
        if (folder / name).exists() and (folder / name).stat().st_size < _MAX_BYTES
    }


# --- on the machine of the command ----------------------------------------------------------------


def folder_of(out: Path, shard: Shard) -> Path:
    """Return where a shard's results are collected."""
    return out / SHARDS / f"{shard.index}-of-{shard.of}"


def is_done(out: Path, shard: Shard) -> bool:
    """Return whether a shard has left its whole result."""
    found = read_folder(folder_of(out, shard))
    return not found.broken and all(part.is_whole for part in found.parts)


def jobs_of(settings: Effective, shards: int) -> list[Job]:
    """Return the shards that are to be run; with `resume`, those that are not done.

    Raises:
        OutputError: if the output folder cannot be written.
    """
    config = settings.config
    token = secrets.token_hex(16)
    folder = config.out.absolute() / SHARDS
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / _TOKEN, token)
    except OSError as error:
        msg = f"{folder}: cannot be written: {error.strerror}. Choose another folder with --out."
        raise OutputError(msg) from error
    every = [Shard(index, shards) for index in range(1, shards + 1)]
    if config.resume:
        every = [shard for shard in every if not is_done(config.out, shard)]
    else:
        for shard in every:
            _forget(folder_of(config.out, shard))
    variables, toml = _settings(settings)
    return [
        Job(
            shard=shard,
            out=str(folder_of(config.out.absolute(), shard)),
            token=token,
            variables=variables,
            toml=toml,
        )
        for shard in every
    ]


def _forget(folder: Path) -> None:
    """Remove what an earlier campaign left there: its journal would be resumed."""
    for path in (*folder.glob("*journal.jsonl"), folder / PARTS_FILE):
        path.unlink(missing_ok=True)


def _settings(settings: Effective) -> tuple[dict[str, str], str]:
    """Return the campaign's settings as variables, and as a file those that none can express."""
    variables: dict[str, str] = {}
    toml = ""
    for key, setting in SETTINGS.items():
        if key in _OWN or key.startswith("issue"):
            continue
        value = settings.config[setting]
        if isinstance(value, Path) or (value and setting.kind.metavar == "FILE"):
            value = Path(value).absolute()  # each shard has a folder of its own
        items = value if setting.kind.is_list else [setting.kind.show(value)]
        variables[setting.variable] = "\n".join(map(str, items))
        if setting.kind.is_list and not value and setting.default:
            toml += f"{key} = []\n"
    return variables, toml


def launch(jobs: list[Job], *, address: str = "", workers: int = 0) -> Iterator[Done | str]:
    """Run shards on a cluster; yield each as it ends, and what else a person should know.

    An interruption stops the shards that run, waits until they have summed up, and collects them.

    Args:
        jobs: the shards.
        address: of a Dask scheduler, e.g. `tcp://host:8786`; empty for a cluster on this machine.
        workers: of the cluster on this machine; 0 for one per processor.

    Raises:
        ClusterError: if Dask is not installed or the cluster cannot be used.
    """
    if not jobs:
        return
    with ExitStack() as held:
        client = _client(held, address, workers or os.cpu_count() or 1)
        yield f"{_checked_workers(client)} workers"
        futures = [
            client.submit(run_shard, job, key=f"{job.token}-{job.shard}", retries=_MAX_DEATHS)
            for job in jobs
        ]
        try:
            yield from _collected(futures, jobs)
        except KeyboardInterrupt:
            client.run(stop_shards, jobs[0].token, on_error="ignore")
            waiting = [one for one in futures if one.status == "pending"]
            yield from _collected(waiting, jobs, patience_s=_FAREWELL_S)
            client.cancel(futures)
            raise


def _checked_workers(client: Any) -> int:
    """Return how many workers there are, all of which have this ciguard."""
    try:
        versions: dict[str, str] = client.run(worker_version)
    except ImportError as error:
        msg = f"A worker of the cluster cannot import ciguard ({error}). Install it on every node."
        raise ClusterError(msg) from error
    others = sorted(set(versions.values()) - {__version__})
    if others:
        msg = f"The cluster's workers have ciguard {', '.join(others)}, this is {__version__}."
        raise ClusterError(msg)
    return len(versions)


def _client(held: ExitStack, address: str, workers: int) -> Any:
    """Return a client of a cluster that has workers."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError as error:
        msg = "Dask is not installed. In ciguard's checkout: pip install '.[cluster]'."
        raise ClusterError(msg) from error
    try:
        if address:
            client = distributed.Client(address, timeout=_CONNECT_S)
        else:
            file = held.enter_context(_local_cluster(workers))
            client = distributed.Client(scheduler_file=str(file), timeout=_CONNECT_S)
        held.callback(client.close)
        client.wait_for_workers(1 if address else workers, timeout=_CONNECT_S)
    except (OSError, ValueError) as error:
        where = address or "this machine"
        msg = f"{where}: no Dask cluster with workers answers there ({error}). Start or correct it."
        raise ClusterError(msg) from error
    return client


@contextmanager
def _local_cluster(workers: int) -> Iterator[Path]:
    """Start a scheduler and workers; yield the file that says where they are.

    Not by Dask's own means: Ctrl-C on a terminal would end those workers before their shards.
    """
    with tempfile.TemporaryDirectory(prefix="ciguard-cluster-") as name, ExitStack() as held:
        file = Path(name) / "scheduler.json"
        shared = ["--scheduler-file", str(file), "--no-dashboard"]
        scheduler = ["dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
        worker = ["dask_worker", "--no-nanny", "--nthreads", "1"]
        for program, *words in (scheduler, *[worker] * workers):
            argv = [sys.executable, "-m", f"distributed.cli.{program}", *words, *shared]
            held.enter_context(_kept_running(argv, Path(name)))
        yield file


@contextmanager
def _kept_running(argv: list[str], folder: Path) -> Iterator[None]:
    with child(
        argv,
        folder=folder,
        environment=os.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        try:
            yield
        finally:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def _collected(
    futures: list[Any], jobs: list[Job], *, patience_s: float | None = None
) -> Iterator[Done | str]:
    distributed: Any = import_module("distributed")  # an extra, without types
    by_key = {f"{job.token}-{job.shard}": job for job in jobs}
    try:
        for future in distributed.as_completed(futures, timeout=patience_s):
            job = by_key[future.key]
            if future.status != "finished":
                yield f"shard {job.shard} is lost: {visible(repr(future.exception()))}"
                continue
            done: Done = future.result()
            _keep(done, Path(job.out))
            yield done
    except TimeoutError:
        yield "some shards did not sum up in time"


def _keep(done: Done, folder: Path) -> None:
    if done.files:
        folder.mkdir(parents=True, exist_ok=True)
    for name in _BROUGHT_BACK:
        if name in done.files:
            (folder / name).write_bytes(done.files[name])
