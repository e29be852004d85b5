"""Find a bucket by what a person typed of its fingerprint, or a group by its name."""

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
"""What the name of a cause begins with that several buckets may share."""


def all_buckets(config: Config) -> list[Bucket]:
    """Return the buckets of the last run, then those of the baseline that it did not meet.

    Each has its cause.

    Raises:
        CiguardError: if either is unreadable.
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
    # Seen against a run that did nothing, every record of the baseline becomes a bucket.
    recorded = compare([], open_store(config.baseline).load(), Exercised())
    unmet = [bucket for bucket in recorded if bucket.fingerprint not in names]
    return with_reach(with_causes([*met, *unmet]))


def record_of(config: Config, bucket: Bucket) -> BaselineRecord | None:
    """Return what the baseline knows of a bucket.

    Raises:
        BaselineError: if it is unreadable.
    """
    from ciguard.baseline import find_record, open_store

    records = open_store(config.baseline).load()
    return find_record(records, bucket.fingerprint, *bucket.aliases)


def group_of(config: Config, written: str) -> list[Bucket]:
    """Return all buckets with the cause whose name begins with `written`, or else the one bucket.

    Raises:
        ConfigurationError: if there is none, or more than one.
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
            f"group {visible(written)!r}: no cause of the {len(buckets)} buckets in {config.out} "
            f"and {config.baseline} begins like this. `ciguard show BUCKET` names a bucket's cause."
        )
        raise ConfigurationError(msg)
    listed = ", ".join(names[:10])
    msg = f"group {visible(written)!r}: {len(names)} begin like this: {listed}. Write more of it."
    raise ConfigurationError(msg)


def bucket_of(config: Config, written: str) -> Bucket:
    """Return the one bucket whose fingerprint or alias begins with `written`, `v1:` or not.

    Raises:
        ConfigurationError: if there is none, or more than one.
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
            f"bucket {visible(written)!r}: none of the {len(buckets)} in {places} begins like "
            "this. `ciguard show` lists them; --out names another run."
        )
        raise ConfigurationError(msg)
    names = ", ".join(bucket.fingerprint for bucket in matches[:10])
    msg = f"bucket {visible(written)!r}: {len(matches)} begin like this: {names}. Write more of it."
    raise ConfigurationError(msg)
