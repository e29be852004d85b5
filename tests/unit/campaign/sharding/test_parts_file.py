from __future__ import annotations

import json
import tracemalloc
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from campaign_examples import ONE, TWO
from hypothesis import given, settings
from hypothesis import strategies as st
from part_examples import CAMPAIGN, CRASH, DANGLING, part, parts, target, written

from ciguard.campaign.sharding.merged_run import merge_parts
from ciguard.campaign.sharding.parts_file import Folder, read_folder
from ciguard.domain.parts import PARTS_FILE, Part, gap_to_json, line_from_json, part_to_json

if TYPE_CHECKING:
    from pathlib import Path

WHOLE = part(buckets=(CRASH,), documentation=(DANGLING,))


@given(parts())
def test_a_part_round_trips_through_its_file(one: Part) -> None:
    assert line_from_json(json.loads(json.dumps(part_to_json(one)))) == one


def test_a_part_names_the_functions_that_were_not_tested() -> None:
    one = replace(WHOLE, functions={"m.py:f": "x > 3 does not hold", "m.py:g": ""})

    assert line_from_json(json.loads(json.dumps(part_to_json(one)))) == one
    assert "functions" not in part_to_json(WHOLE)


def test_written_parts_are_read_from_the_folder(tmp_path: Path) -> None:
    other = part(shard=None, targets=(ONE,))

    read = read_folder(written(tmp_path / "out", WHOLE, other))

    assert (read.parts, read.broken) == ((WHOLE, other), ())


def test_a_folder_that_is_missing_empty_or_cut_off_is_broken(tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    cut = written(tmp_path / "cut", WHOLE, WHOLE)
    text = (cut / PARTS_FILE).read_text("utf-8")
    (cut / PARTS_FILE).write_text(text[:-200], "utf-8")
    nothing = written(tmp_path / "nothing")

    assert read_folder(tmp_path / "missing").broken == ("there is no such folder",)
    assert "No such file" in read_folder(empty).broken[0]
    assert read_folder(cut).parts == (WHOLE,)
    assert read_folder(cut).broken == (f"{PARTS_FILE} is cut off",)
    assert read_folder(nothing).broken == (f"{PARTS_FILE} holds 0 parts",)


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    secret = written(tmp_path / "elsewhere", WHOLE)
    folder = tmp_path / "out"
    folder.mkdir()
    (folder / PARTS_FILE).symlink_to(secret / PARTS_FILE)

    read = read_folder(folder)

    assert not read.parts
    assert "cannot be read" in read.broken[0]


@pytest.mark.parametrize("name", ["Net.run", "make.<locals>.inner", "nets.deep:build"])
def test_parts_with_functions_of_programs_are_read(name: str) -> None:
    read = line_from_json(function_with(function=name))

    assert isinstance(read, Part)
    assert read.buckets[0].finding.api == f"src/model.py:{name}"


def test_parts_with_imported_programs_are_read() -> None:
    file = "src/my model.py"

    read = line_from_json(bucket_with(api=file, case=[file, "annotated", {"file": file}]))

    assert isinstance(read, Part)


def bucket_with(**changes: Any) -> dict[str, Any]:
    encoded: dict[str, Any] = part_to_json(WHOLE)
    encoded["buckets"][0] |= changes
    return encoded


CASE = part_to_json(WHOLE)["buckets"][0]["case"]
CALL = {"arguments": [["x", 3]], "constructor": [], "outer": None}


def function_with(function: str = "Net.run") -> dict[str, Any]:
    """Return an encoded part whose bucket is of level `function`."""
    rest = {"file": "src/model.py", "call": {**CALL, "function": function}}
    api = f"src/model.py:{function}"
    return bucket_with(api=api, case=[api, "annotated", rest])


def campaign_with(**others: Any) -> dict[str, Any]:
    return {**part_to_json(WHOLE), "campaign": {**CAMPAIGN, **others}}


OTHER_PROGRAM = {**function_with()["buckets"][0], "api": "src/other.py"}
HOSTILE = {
    "no object": [1, 2],
    "planted defects without kinds": {**part_to_json(WHOLE), "detection": {"noticed": ["a"]}},
    "drawn values of no table": {
        **part_to_json(WHOLE),
        "values": {"calls": 1, "cells": [["int", "<img>", 1, 1, 0]]},
    },
    "another schema": {**part_to_json(WHOLE), "schema": 3},
    "a shard of none": {**part_to_json(WHOLE), "shard": "3/2"},
    "an unknown verdict": {**part_to_json(WHOLE), "verdict": "ALL GREEN"},
    "a budget that is no number": {**part_to_json(WHOLE), "budget_s": float("nan")},
    "negative seconds": {**part_to_json(WHOLE), "stages": {"explore": -1}},
    "a stage that is markdown": {**part_to_json(WHOLE), "stages": {"<img onerror=x>": 1}},
    "a boolean for a number": {**part_to_json(WHOLE), "jobs": True},
    "a campaign without a seed": {**part_to_json(WHOLE), "campaign": {}},
    "a level's setting of another type": campaign_with(mutations="many"),
    "a setting that is an object": campaign_with(steps_largest={}),
    "a setting that is a long text": campaign_with(steps_largest="x" * 3000),
    "targets that are no texts": {**part_to_json(WHOLE), "targets": [1]},
    "a long target": {**part_to_json(WHOLE), "targets": ["x" * 3000]},
    "a stream that is a path": {**part_to_json(WHOLE), "explored": {"../x": [1, ""]}},
    "a digest that is a path": {**part_to_json(WHOLE), "explored": {"ab": [1, "../x"]}},
    "batches that are no pair": {**part_to_json(WHOLE), "explored": {"ab": [1]}},
    "a fingerprint that is a path": bucket_with(fingerprint="../../etc/passwd"),
    "a kind that is markdown": bucket_with(kind="](javascript:alert(1))"),
    "an oracle of two lines": bucket_with(oracle="crash\n::set-output name=x::y"),
    "a library that is a path": bucket_with(library="../torch"),
    "an API that is a statement": bucket_with(api="os.system('id')#"),
    "a case of another API": bucket_with(api="planted.double"),
    "a case that is a statement": bucket_with(
        api="planted.x;import os", case=["planted.x;import os", *CASE[1:]]
    ),
    "a function that is a statement": function_with(function="f;import os"),
    "a function that is markdown": function_with(function="](javascript:alert(1))"),
    "a program that is not the case's": {**function_with(), "buckets": [OTHER_PROGRAM]},
    "arguments of odd types": bucket_with(case=[*CASE[:2], [["t", {}, [[]], 7]], *CASE[3:]]),
    "no targets": bucket_with(targets=[]),
    "a target without an outcome": bucket_with(targets=["another"]),
    "outcomes that are a list": bucket_with(outcomes=[]),
    "an outcome of an unknown kind": bucket_with(outcomes={ONE: {"status": "fine"}}),
    "no findings": bucket_with(count=0),
    "a huge count": bucket_with(count=10**30),
    "shown more often than tried": bucket_with(shown=3, tried=1),
    "an alias that is none": bucket_with(aliases=["@everyone"]),
}


@pytest.mark.parametrize("encoded", HOSTILE.values(), ids=HOSTILE)
def test_malformed_parts_are_refused(encoded: Any, tmp_path: Path) -> None:
    (tmp_path / PARTS_FILE).write_text(json.dumps(encoded) + "\n", "utf-8")

    read = read_folder(tmp_path)

    assert read.parts == ()
    assert read.broken[0].startswith(f"{PARTS_FILE}, line 1: ")
    assert read.broken[0].isprintable()


@pytest.mark.parametrize("value", [100, 0.5, True, "tf-idf", ["a", "b"]])
def test_a_setting_of_a_level_that_is_not_installed_here_is_kept(
    value: Any, tmp_path: Path
) -> None:
    line = json.dumps(campaign_with(steps_largest=value))
    (tmp_path / PARTS_FILE).write_text(f"{line}\n", "utf-8")

    (part,) = read_folder(tmp_path).parts

    assert part.campaign["steps_largest"] == value


def test_nesting_too_deep_for_the_parser_is_refused(tmp_path: Path) -> None:
    (tmp_path / PARTS_FILE).write_text("[" * 200_000 + "\n", "utf-8")

    assert read_folder(tmp_path).broken


def test_a_line_that_would_fill_the_memory_is_refused(tmp_path: Path) -> None:
    (tmp_path / PARTS_FILE).write_text("[" + "[]," * 10_000_000 + "[]]\n", "utf-8")

    tracemalloc.start()
    broken = read_folder(tmp_path).broken
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert "more than 4000000 elements" in broken[0]
    assert peak < 200_000_000, "the text itself is 30 MB; parsed it would be 900"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=9),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)


@settings(max_examples=400)
@given(st.data(), JSON)
@pytest.mark.lengthy
def test_any_replaced_value_is_refused_or_read(data: st.DataObject, odd: Any) -> None:
    encoded: Any = json.loads(json.dumps(part_to_json(WHOLE)))
    place = encoded
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        key = data.draw(st.sampled_from(keys))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = odd
        break

    try:
        read = line_from_json(encoded)
    except ValueError:
        return
    assert isinstance(read, Part)
    assert line_from_json(json.loads(json.dumps(part_to_json(read)))) == read


def test_the_reason_of_a_missing_shard_survives_a_second_merge() -> None:
    long = part(ran=tuple(target(name, not_run="x" * 1_900) for name in (ONE, TWO)))

    gap = merge_parts([Folder("a", (long,))]).missing[0]

    assert line_from_json(gap_to_json(gap)) == gap
