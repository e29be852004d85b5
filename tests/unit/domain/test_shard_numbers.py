from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.shards import MAX_SHARDS, Shard, parse_shard

NAMES = st.lists(st.text(max_size=8), unique=True, max_size=40)


@given(st.integers(1, MAX_SHARDS), st.data())
def test_shard_round_trips_through_text(of: int, data: st.DataObject) -> None:
    shard = Shard(data.draw(st.integers(1, of)), of)

    assert parse_shard(f" {shard} ") == shard


@pytest.mark.parametrize(
    "text",
    [
        "",
        "1",
        "0/1",
        "2/1",
        "1/0",
        "-1/2",
        "1/2/3",
        "1 / 2",
        "a/b",
        "1/1025",
        "\u0661/\u0662",
        "1/2\n3",
    ],
)
def test_parse_shard_with_malformed_text_raises(text: str) -> None:
    with pytest.raises(ValueError, match=r"shard"):
        parse_shard(text)


@given(NAMES, st.integers(1, 9))
def test_shards_partition_names_evenly(names: list[str], of: int) -> None:
    shards = [Shard(index, of) for index in range(1, of + 1)]

    parts = [shard.select(names) for shard in shards]

    assert sorted(chain(*parts)) == sorted(names)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert parts == [shard.select(reversed(names)) for shard in shards]
    assert all(sum(shard.has(name) for shard in shards) == 1 for name in names)


def test_has_assigns_names_to_fixed_shards() -> None:
    names = [f"v1:{number:016x}" for number in range(8)]

    assert [next(i for i in (1, 2, 3) if Shard(i, 3).has(name)) for name in names] == [
        3, 2, 3, 2, 1, 3, 2, 2,
    ]  # fmt: skip
