from __future__ import annotations

import json
from dataclasses import replace

import pytest
from record_examples import ALL, CONV1D_LAYER, SUM

from ciguard.domain.records import ApiRecord, Skipped
from ciguard.errors import ConstraintsFileError
from ciguard.knowledge import (
    CONSTRAINTS_SCHEMA,
    Api,
    KnownApis,
    Provenance,
    constraint_lines,
    knowledge_version,
    known_apis,
    read_constraints,
    read_provenance,
    understand,
)
from ciguard.knowledge.references import digest_of, with_digest, without_prose
from ciguard.values import Int

ORIGIN = Provenance(
    library="torch", version="2.13.0", requirement="torch==2.13.0", device="cpu", adapter="a1"
)
SKIPPED = (Skipped(name="torch.z", reason="ImportError: \ud800 is no text"),)


def example_apis() -> KnownApis:
    return known_apis(ALL, SKIPPED, ORIGIN)


def sorted_records() -> list[ApiRecord]:
    return [*example_apis().records.values()]


def without_quotes(record: ApiRecord) -> Api:
    api = understand(record)
    return replace(
        api,
        record=without_prose(record),
        parameters=tuple(
            replace(p, evidence=tuple(map(with_digest, p.evidence))) for p in api.parameters
        ),
    )


def lines(*, records_only: bool = False) -> list[str]:
    return list(constraint_lines(example_apis(), records_only=records_only))


def test_known_apis_survive_a_round_trip() -> None:
    read_apis = read_constraints(lines(), name="file")

    assert read_apis.provenance == ORIGIN
    assert read_apis.records == {record.api: without_prose(record) for record in sorted_records()}
    assert read_apis.skipped == SKIPPED
    assert [read_apis.api(name) for name in read_apis.records] == list(
        map(without_quotes, sorted_records())
    )


def test_writing_is_reproducible_after_reading() -> None:
    again = list(constraint_lines(read_constraints(lines(), name="file")))

    assert again == lines()


def test_a_file_is_sorted_by_name_and_plain_ascii() -> None:
    written_lines = lines()

    names = [json.loads(line).get("api") for line in written_lines[1:-1]]
    assert names == sorted(names)
    assert "".join(written_lines).isascii()
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in written_lines)


def test_a_line_has_constraints_and_their_evidence() -> None:
    line = next(line for line in map(json.loads, lines()[1:]) if line["api"] == SUM.api)

    assert line["parameters"][2]["constraint"] == {"bool": {}}
    assert ["schema", "structures", "bool"] in line["parameters"][2]["evidence"]


def test_a_file_has_digests_in_place_of_documentation() -> None:
    file_text = "".join(lines())
    sentences = [p.doc for record in ALL for p in (*record.parameters, *record.inputs) if p.doc]

    assert sentences
    assert not any(sentence in file_text for sentence in sentences)
    assert not any(f'"{key}":' in file_text for key in ("doc", "doc_type", "unread"))
    # With the library installed, the text can be found again by its digest.
    quoted = [e for r in ALL for p in understand(r).parameters for e in p.evidence if e.text]
    digests = [e for r in ALL for p in without_quotes(r).parameters for e in p.evidence if e.digest]
    assert digests
    assert {item.digest for item in digests} <= {digest_of(item.text) for item in quoted}


def test_stored_constraints_are_used_whatever_the_version_of_the_knowledge() -> None:
    written_lines = [line.replace('{"bool":{}}', '{"int":{"min":0,"max":1}}') for line in lines()]
    older = [written_lines[0].replace(knowledge_version(), "0" * 12), *written_lines[1:]]

    for file_lines in (written_lines, older):
        parameter = read_constraints(file_lines, name="file").api(SUM.api).parameters[2]
        assert parameter.constraint == Int(min=0, max=1)


def test_constraints_are_made_on_reading_a_file_of_records_only() -> None:
    written_lines = lines(records_only=True)

    read_apis = read_constraints(written_lines, name="file")

    assert "constraint" not in "".join(written_lines)
    assert read_apis.provenance.knowledge == ""
    assert read_apis.records == example_apis().records
    assert read_apis.api(CONV1D_LAYER.api) == understand(CONV1D_LAYER)


def test_the_provenance_is_read_from_the_first_line_alone() -> None:
    assert read_provenance(lines()[0], name="file") == ORIGIN


def lines_with(number: int, **changes: object) -> list[str]:
    written_lines = lines()
    entry = json.loads(written_lines[number]) | changes
    written_lines[number] = json.dumps(
        {key: value for key, value in entry.items() if value is not None}
    )
    return written_lines


@pytest.mark.parametrize(
    ("written_lines", "message"),
    [
        ([], "f.jsonl:1: the line is not JSON"),
        (["\n"], "f.jsonl:1: the line is not JSON"),
        (["[]\n"], "f.jsonl:1: the line is not a JSON object"),
        (["[" * 100_000 + "\n"], "f.jsonl:1: the line is not JSON"),
        (['{"a": 1}\n'], "f.jsonl:1: the key 'schema' is missing"),
        (lines_with(0, schema=CONSTRAINTS_SCHEMA + 1), f"schema = {CONSTRAINTS_SCHEMA + 1}: this"),
        (lines_with(0, schema=1), "schema = 1: this version of ciguard reads 2"),
        (lines_with(0, library=3), "f.jsonl:1: the key 'library' is missing or not a string"),
        (lines_with(0, apis="many"), "f.jsonl:1: the key 'apis' is missing or not an integer"),
        (lines()[:-2], "f.jsonl:1: apis = 6, but the file has 5"),
        ([*lines()[:2], *lines()[1:]], "f.jsonl:3: 'tensorflow.io.gfile.rmtree' appears twice"),
        (lines_with(2, kind="wizard"), "f.jsonl:3: malformed API record"),
        (lines_with(2, parameters=None), "f.jsonl:3: malformed API record"),
        (lines_with(2, parameters=[5]), "f.jsonl:3: malformed API record"),
        ([*lines()[:1], '{"api": "\x1b[31m\n'], "f.jsonl:2: the line is not JSON"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_rejected_with_file_line_and_remedy(
    written_lines: list[str], message: str
) -> None:
    with pytest.raises(ConstraintsFileError) as error:
        read_constraints(written_lines, name="f.jsonl")

    assert message in str(error.value)
    assert "ciguard api extract" in str(error.value)
    assert str(error.value).isprintable()


def test_a_damaged_constraint_is_rejected_on_first_use() -> None:
    written_lines = [line.replace('{"bool":{}}', '{"bool":{"size":3}}') for line in lines()]
    number = next(n for n, line in enumerate(written_lines, start=1) if SUM.api in line)

    read_apis = read_constraints(written_lines, name="f.jsonl")

    with pytest.raises(ConstraintsFileError, match=rf"f.jsonl:{number}: torch.sum: bool: unknown"):
        read_apis.api(SUM.api)


@pytest.mark.lengthy
def test_thousands_of_known_apis_survive_a_round_trip() -> None:
    many = [replace(SUM, api=f"torch.sum{number}") for number in range(4000)]
    written_lines = list(constraint_lines(known_apis(many, (), ORIGIN)))

    read_apis = read_constraints(written_lines, name="file")

    assert [read_apis.api(record.api).record for record in many] == [*map(without_prose, many)]
