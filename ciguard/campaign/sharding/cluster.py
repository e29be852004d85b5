"""The shards of one campaign on a Dask cluster: launched, moved where a node dies, collected.

Each shard is a `ciguard run --shard` in a process of its own (`shard_process`); Dask decides where,
and starts it again elsewhere when its worker is gone. Where the nodes share the output folder the
shard goes on from its journal, otherwise it begins anew: it is the same shard either way.
"""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ciguard import __version__
from ciguard.campaign.sharding.parts_file import read_folder
from ciguard.campaign.sharding.shard_process import (
    BROUGHT_BACK,
    TOKEN,
    Done,
    ShardJob,
    run_shard,
    stop_shards,
    worker_version,
)
from ciguard.config import SETTINGS
from ciguard.domain.parts import PARTS_FILE
from ciguard.domain.shards import Shard
from ciguard.domain.text import visible
from ciguard.errors import ClusterError, OutputError
from ciguard.files import replace_file
from ciguard.targets import child

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.config import Effective

SHARDS = "shards"
"""Folder of the shards' folders in the folder of the whole."""
_MAX_DEATHS = 3
"""Of one shard's process, on whatever node."""
_CONNECT_S = 30
_FAREWELL_S = 60.0
"""Until interrupted shards have summed up."""
_OWN = frozenset({"out", "shard", "part", "resume", "tracker", "dry-run"})
"""Settings of the command, not of its shards."""


def folder_of(out: Path, shard: Shard) -> Path:
    """Return where a shard's results are collected."""
    return out / SHARDS / f"{shard.index}-of-{shard.of}"


def is_done(out: Path, shard: Shard) -> bool:
    """Return whether a shard has left its whole result."""
    found = read_folder(folder_of(out, shard))
    return not found.broken and all(part.is_whole for part in found.parts)


def jobs_of(settings: Effective, shards: int) -> list[ShardJob]:
    """Return the shards that are to be run; with `resume`, those that are not done.

    Raises:
        OutputError: if the output folder cannot be written.
    """
    config = settings.config
    token = secrets.token_hex(16)
    folder = config.out.absolute() / SHARDS
    try:
        folder.mkdir(parents=True, exist_ok=True)
        replace_file(folder / TOKEN, token)
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
        ShardJob(
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


def launch(jobs: list[ShardJob], *, address: str = "", workers: int = 0) -> Iterator[Done | str]:
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
    futures: list[Any], jobs: list[ShardJob], *, patience_s: float | None = None
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
    for name in BROUGHT_BACK:
        if name in done.files:
            (folder / name).write_bytes(done.files[name])
