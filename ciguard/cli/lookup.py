"""Find a bucket by the beginning of its fingerprint, or a group by its name."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ciguard.domain.findings import cause_name
from ciguard.domain.text import visible
from ciguard.errors import ConfigurationError

if TYPE_CHECKING:
    from ciguard.baseline import BaselineRecord
    from ciguard.config import Config
    from ciguard.domain.findings import Bucket

_CAUSE = re.compile(r"g[0-9]+:")
"""Start of the name of a cause."""


def all_buckets(config: Config) -> list[Bucket]:
    """Return the buckets of the last run, then the other buckets of the baseline.

    Each has its cause.

    Raises:
        CiguardError: if the results or the baseline cannot be read.
    """
    from ciguard.baseline import (
        Exercised,
        compare,
        open_store,
    )
    from ciguard.reports import read_buckets
    from ciguard.triage import with_causes, with_reach

    met = read_buckets(config.out)
    names = {name for bucket in met for name in (bucket.fingerprint, *bucket.aliases)}
    # Compared with an empty run, every record of the baseline becomes a bucket.
    recorded = compare([], open_store(config.baseline).load(), Exercised())
    unmet = [bucket for bucket in recorded if bucket.fingerprint not in names]
    return with_reach(with_causes([*met, *unmet]))


def record_of(config: Config, bucket: Bucket) -> BaselineRecord | None:
    """Return the baseline's record of a bucket; None if there is none.

    Raises:
        BaselineError: if the baseline cannot be read.
    """
    from ciguard.baseline import find_record, open_store

    records = open_store(config.baseline).load()
    return find_record(records, bucket.fingerprint, *bucket.aliases)


def group_of(config: Config, written: str) -> list[Bucket]:
    """Return all buckets of the cause whose name starts with `written`, else the matching bucket.

    Raises:
        ConfigurationError: if there is no match, or more than one.
    """
    wanted = written.strip().lower()
    if not _CAUSE.match(wanted):
        return [bucket_of(config, written)]
    buckets = all_buckets(config)
    names = sorted({name for name in map(cause_name, buckets) if name.startswith(wanted)})
    if len(names) == 1:
        return [bucket for bucket in buckets if cause_name(bucket) == names[0]]
    if not names:
        msg = (
            f"group {visible(written)!r}: none of the {len(buckets)} buckets in {config.out} and "
            f"{config.baseline} has a cause of this name. `ciguard show BUCKET` prints the cause."
        )
        raise ConfigurationError(msg)
    listed = ", ".join(names[:10])
    msg = f"group {visible(written)!r}: {len(names)} matches: {listed}. Write more of the name."
    raise ConfigurationError(msg)


def bucket_of(config: Config, written: str) -> Bucket:
    """Return the bucket whose fingerprint or alias starts with `written`, with or without `v1:`.

    Raises:
        ConfigurationError: if there is no match, or more than one.
    """
    wanted = written.strip().lower()
    buckets = all_buckets(config)
    matches = [
        bucket
        for bucket in buckets
        if wanted
        and any(
            name.startswith(wanted) or name.rpartition(":")[2].startswith(wanted)
            for name in (bucket.fingerprint, *bucket.aliases)
        )
    ]
    if len(matches) == 1:
        return matches[0]
    places = f"{config.out} and {config.baseline}"
    if not matches:
        msg = (
            f"bucket {visible(written)!r}: no match among {len(buckets)} in {places}. "
            "`ciguard show` lists them; --out names another run."
        )
        raise ConfigurationError(msg)
    names = ", ".join(bucket.fingerprint for bucket in matches[:10])
    msg = f"bucket {visible(written)!r}: {len(matches)} matches: {names}. Write more digits."
    raise ConfigurationError(msg)
