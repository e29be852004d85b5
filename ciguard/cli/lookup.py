"""Search for a bucket by the beginning of its fingerprint, or for a group by its name."""

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

    Each bucket has its cause and the number of APIs that the defect reaches.

    Raises:
        CiguardError: if the results or the baseline cannot be read.
    """
    from ciguard.baseline import (
        Exercised,
        compare,
        open_store,
    )
    from ciguard.reports import read_buckets
    from ciguard.triage import apply_reachability, with_causes

    last_run = read_buckets(config.out)
    names = {name for bucket in last_run for name in (bucket.fingerprint, *bucket.aliases)}
    # A comparison with an empty run makes a bucket of every record of the baseline.
    recorded = compare([], open_store(config.baseline).load(), Exercised())
    other = [bucket for bucket in recorded if bucket.fingerprint not in names]
    return apply_reachability(with_causes([*last_run, *other]))


def record_of(config: Config, bucket: Bucket) -> BaselineRecord | None:
    """Return the baseline's record of a bucket; None if there is none.

    Raises:
        BaselineError: if the baseline cannot be read.
    """
    from ciguard.baseline import find_record, open_store

    records = open_store(config.baseline).load()
    return find_record(records, bucket.fingerprint, *bucket.aliases)


def matching_buckets(config: Config, name: str) -> list[Bucket]:
    """Return all buckets of a group, or a single bucket.

    Args:
        config: the settings, which name the last run and the baseline.
        name: beginning of a group's name such as `g1:2c`, or of a bucket's fingerprint.

    Raises:
        ConfigurationError: if there is no match, or more than one.
    """
    prefix = name.strip().lower()
    if not _CAUSE.match(prefix):
        return [matching_bucket(config, name)]
    buckets = all_buckets(config)
    names = sorted({cause for cause in map(cause_name, buckets) if cause.startswith(prefix)})
    if len(names) == 1:
        return [bucket for bucket in buckets if cause_name(bucket) == names[0]]
    if not names:
        msg = (
            f"group {visible(name)!r}: none of the {len(buckets)} buckets in {config.out} "
            f"and {config.baseline} belongs to this group. `ciguard show BUCKET` prints "
            "the group of a bucket."
        )
        raise ConfigurationError(msg)
    listed = ", ".join(names[:10])
    msg = f"group {visible(name)!r}: {len(names)} groups match: {listed}. Write more of the name."
    raise ConfigurationError(msg)


def matching_bucket(config: Config, name: str) -> Bucket:
    """Return the bucket whose fingerprint or alias starts with `name`, with or without `v1:`.

    Raises:
        ConfigurationError: if there is no match, or more than one.
    """
    prefix = name.strip().lower()
    buckets = all_buckets(config)
    matches = [
        bucket
        for bucket in buckets
        if prefix
        and any(
            fingerprint.startswith(prefix) or fingerprint.rpartition(":")[2].startswith(prefix)
            for fingerprint in (bucket.fingerprint, *bucket.aliases)
        )
    ]
    if len(matches) == 1:
        return matches[0]
    places = f"{config.out} and {config.baseline}"
    if not matches:
        msg = (
            f"bucket {visible(name)!r}: none of the {len(buckets)} buckets in {places} "
            "matches. `ciguard show` lists the buckets; to search the results of another "
            "run, name their folder with --out."
        )
        raise ConfigurationError(msg)
    names = ", ".join(bucket.fingerprint for bucket in matches[:10])
    msg = (
        f"bucket {visible(name)!r}: {len(matches)} buckets match: {names}. Write more digits "
        "of the fingerprint."
    )
    raise ConfigurationError(msg)
