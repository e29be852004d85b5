"""Shards of one campaign on a Dask cluster: launch, restart after failures, and collection.

Each shard is a separate process of `ciguard run --shard` (`shard_process`). Dask chooses its node,
and starts it again on another one if its worker is lost. If the nodes share the output folder, the
shard resumes from its journal; otherwise it starts again. The result is the same.
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
    RESULT_FILES,
    TOKEN,
    ShardJob,
    ShardResult,
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
from ciguard.scratch import scratch_prefix
from ciguard.targets import run_child

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.config import EffectiveSettings

SHARDS = "shards"
"""Subfolder of the output folder that contains the shards' folders."""
_MAX_RETRIES = 3
"""Maximum number of restarts of one shard."""
_CONNECT_S = 30
_SUMMARY_S = 60.0
"""Seconds that interrupted shards have to write their summaries."""
_COMMAND_SETTINGS = frozenset({"out", "shard", "part", "resume", "tracker", "dry-run"})
"""Settings of the command that do not apply to its shards."""


def folder_of(out: Path, shard: Shard) -> Path:
    """Return the folder in which a shard's results are collected."""
    return out / SHARDS / f"{shard.index}-of-{shard.of}"


def is_done(out: Path, shard: Shard) -> bool:
    """Return whether a shard has a complete result."""
    folder = read_folder(folder_of(out, shard))
    return not folder.broken and all(part.is_whole for part in folder.parts)


def jobs_of(settings: EffectiveSettings, shards: int) -> list[ShardJob]:
    """Return the jobs of all shards; with `resume`, only those of incomplete shards.

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
    chosen = [Shard(index, shards) for index in range(1, shards + 1)]
    if config.resume:
        chosen = [shard for shard in chosen if not is_done(config.out, shard)]
    else:
        for shard in chosen:
            _remove_results(folder_of(config.out, shard))
    variables, toml = _settings(settings)
    return [
        ShardJob(
            shard=shard,
            out=str(folder_of(config.out.absolute(), shard)),
            token=token,
            variables=variables,
            toml=toml,
        )
        for shard in chosen
    ]


def _remove_results(folder: Path) -> None:
    """Remove the results of an earlier campaign, whose journal would be resumed."""
    for path in (*folder.glob("*journal.jsonl"), folder / PARTS_FILE):
        path.unlink(missing_ok=True)


def _settings(settings: EffectiveSettings) -> tuple[dict[str, str], str]:
    """Return the campaign's settings as environment variables, and as TOML where needed."""
    variables: dict[str, str] = {}
    toml = ""
    for key, setting in SETTINGS.items():
        if key in _COMMAND_SETTINGS or key.startswith("issue"):
            continue
        value = settings.config[setting]
        if isinstance(value, Path) or (value and setting.kind.metavar == "FILE"):
            value = Path(value).absolute()  # shards run in other folders
        items = value if setting.kind.is_list else [setting.kind.show(value)]
        variables[setting.variable] = "\n".join(map(str, items))
        if setting.kind.is_list and not value and setting.default:
            toml += f"{key} = []\n"
    return variables, toml


def launch(
    jobs: list[ShardJob], *, address: str = "", workers: int = 0
) -> Iterator[ShardResult | str]:
    """Run shards on a cluster; yield each result, and messages for the user.

    An interruption stops the running shards, waits for their summaries, and collects them.

    Args:
        jobs: jobs of the shards.
        address: address of a Dask scheduler, e.g. `tcp://host:8786`; empty for a local cluster.
        workers: number of workers of a local cluster; 0 for one per processor.

    Raises:
        ClusterError: if Dask is not installed or the cluster cannot be used.
    """
    if not jobs:
        return
    with ExitStack() as stack:
        client = _client(stack, address, workers or os.cpu_count() or 1)
        yield f"{_checked_workers(client)} workers"
        futures = [
            client.submit(run_shard, job, key=f"{job.token}-{job.shard}", retries=_MAX_RETRIES)
            for job in jobs
        ]
        try:
            yield from _collected(futures, jobs)
        except KeyboardInterrupt:
            client.run(stop_shards, jobs[0].token, on_error="ignore")
            waiting = [future for future in futures if future.status == "pending"]
            yield from _collected(waiting, jobs, timeout_s=_SUMMARY_S)
            client.cancel(futures)
            raise


def _checked_workers(client: Any) -> int:
    """Return the number of workers, all of which have this version of ciguard."""
    try:
        versions: dict[str, str] = client.run(worker_version)
    except ImportError as error:
        msg = f"A worker of the cluster cannot import ciguard ({error}). Install it on every node."
        raise ClusterError(msg) from error
    other_versions = sorted(set(versions.values()) - {__version__})
    if other_versions:
        msg = (
            f"The cluster's workers have ciguard {', '.join(other_versions)}, but this is "
            f"{__version__}. Install the same version on every node."
        )
        raise ClusterError(msg)
    return len(versions)


def _client(stack: ExitStack, address: str, workers: int) -> Any:
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
            file = stack.enter_context(_local_cluster(workers))
            client = distributed.Client(scheduler_file=str(file), timeout=_CONNECT_S)
        stack.callback(client.close)
        client.wait_for_workers(1 if address else workers, timeout=_CONNECT_S)
    except (OSError, ValueError) as error:
        where = address or "this machine"
        msg = (
            f"{where}: no Dask cluster with workers answers ({error}). Start it, or correct "
            "--address."
        )
        raise ClusterError(msg) from error
    return client


@contextmanager
def _local_cluster(workers: int) -> Iterator[Path]:
    """Start a scheduler and workers; yield the path of the scheduler file.

    Dask's own local cluster is not used, as Ctrl-C would end its workers before their shards.
    """
    with (
        tempfile.TemporaryDirectory(prefix=scratch_prefix("cluster")) as name,
        ExitStack() as stack,
    ):
        file = Path(name) / "scheduler.json"
        shared = ["--scheduler-file", str(file), "--no-dashboard"]
        scheduler = ["dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
        worker = ["dask_worker", "--no-nanny", "--nthreads", "1"]
        for program, *words in (scheduler, *[worker] * workers):
            argv = [sys.executable, "-m", f"distributed.cli.{program}", *words, *shared]
            stack.enter_context(_running(argv, Path(name)))
        yield file


@contextmanager
def _running(argv: list[str], folder: Path) -> Iterator[None]:
    with run_child(
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
    futures: list[Any], jobs: list[ShardJob], *, timeout_s: float | None = None
) -> Iterator[ShardResult | str]:
    distributed: Any = import_module("distributed")  # an extra, without types
    by_key = {f"{job.token}-{job.shard}": job for job in jobs}
    try:
        for future in distributed.as_completed(futures, timeout=timeout_s):
            job = by_key[future.key]
            if future.status != "finished":
                yield f"shard {job.shard} is lost: {visible(repr(future.exception()))}"
                continue
            result: ShardResult = future.result()
            _write_files(result, Path(job.out))
            yield result
    except TimeoutError:
        yield "some shards did not write their summaries in time"


def _write_files(result: ShardResult, folder: Path) -> None:
    if result.files:
        folder.mkdir(parents=True, exist_ok=True)
    for name in RESULT_FILES:
        if name in result.files:
            (folder / name).write_bytes(result.files[name])
