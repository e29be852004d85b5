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
    known_of,
    read_constraints,
    read_provenance,
    understand,
)
from ciguard.knowledge.references import digest_of, with_digest, without_prose
from ciguard.values import Int

ORIGIN = Provenance(
    library="torch", version="2.13.0", requirement="torch==2.13.0", device="cpu", adapter="a1"
)
LOST = (Skipped(name="torch.z", reason="ImportError: \ud800 is no text"),)


def known() -> KnownApis:
    return known_of(ALL, LOST, ORIGIN)


def in_order() -> list[ApiRecord]:
    return [*known().records.values()]


def as_facts(record: ApiRecord) -> Api:
    api = understand(record)
    return replace(
        api,
        record=without_prose(record),
        parameters=tuple(
            replace(p, evidence=tuple(map(with_digest, p.evidence))) for p in api.parameters
        ),
    )


def lines(*, records_only: bool = False) -> list[str]:
    return list(constraint_lines(known(), records_only=records_only))


def test_what_is_known_comes_back_from_the_file() -> None:
    back = read_constraints(lines(), name="file")

    assert back.provenance == ORIGIN
    assert back.records == {record.api: without_prose(record) for record in in_order()}
    assert back.skipped == LOST
    assert [back.api(name) for name in back.records] == list(map(as_facts, in_order()))


def test_the_same_knowledge_is_the_same_text() -> None:
    again = list(constraint_lines(read_constraints(lines(), name="file")))

    assert again == lines()


def test_a_file_is_in_the_order_of_names_and_plain_ascii() -> None:
    written = lines()

    names = [json.loads(line).get("api") for line in written[1:-1]]
    assert names == sorted(names)
    assert "".join(written).isascii()
    assert all(line.endswith("\n") and line.count("\n") == 1 for line in written)


def test_a_line_says_who_said_what_of_a_parameter() -> None:
    line = next(line for line in map(json.loads, lines()[1:]) if line["api"] == SUM.api)

    assert line["parameters"][2]["constraint"] == {"bool": {}}
    assert ["schema", "structures", "bool"] in line["parameters"][2]["evidence"]


def test_a_file_refers_to_the_sentences_of_documentation_and_quotes_none() -> None:
    written = "".join(lines())
    sentences = [p.doc for record in ALL for p in (*record.parameters, *record.inputs) if p.doc]

    assert sentences
    assert not any(sentence in written for sentence in sentences)
    assert not any(f'"{key}":' in written for key in ("doc", "doc_type", "unread"))
    # Whoever has the library finds what is with_digest to by its digest.
    words = [e for r in ALL for p in understand(r).parameters for e in p.evidence if e.text]
    found = [e for r in ALL for p in as_facts(r).parameters for e in p.evidence if e.digest]
    assert found
    assert {item.digest for item in found} <= {digest_of(item.text) for item in words}


def test_a_file_says_what_held_when_it_was_written() -> None:
    written = [line.replace('{"bool":{}}', '{"int":{"min":0,"max":1}}') for line in lines()]
    older = [written[0].replace(knowledge_version(), "0" * 12), *written[1:]]

    for said in (written, older):
        parameter = read_constraints(said, name="file").api(SUM.api).parameters[2]
        assert parameter.constraint == Int(min=0, max=1)


def test_a_file_of_records_only_leaves_the_constraints_to_its_reader() -> None:
    written = lines(records_only=True)

    back = read_constraints(written, name="file")

    assert "constraint" not in "".join(written)
    assert back.provenance.knowledge == ""
    assert back.records == known().records
    assert back.api(CONV1D_LAYER.api) == understand(CONV1D_LAYER)


def test_the_first_line_alone_tells_the_provenance() -> None:
    assert read_provenance(lines()[0], name="file") == ORIGIN


def changed(number: int, **changes: object) -> list[str]:
    written = lines()
    said = json.loads(written[number]) | changes
    written[number] = json.dumps({key: value for key, value in said.items() if value is not None})
    return written


@pytest.mark.parametrize(
    ("written", "complaint"),
    [
        ([], "f.jsonl:1: not JSON"),
        (["\n"], "f.jsonl:1: not JSON"),
        (["[]\n"], "f.jsonl:1: not a JSON object"),
        (["[" * 100_000 + "\n"], "f.jsonl:1: not JSON"),
        (['{"a": 1}\n'], "f.jsonl:1: the key 'schema' is missing"),
        (changed(0, schema=CONSTRAINTS_SCHEMA + 1), f"schema = {CONSTRAINTS_SCHEMA + 1}: this"),
        (changed(0, schema=1), "schema = 1: this version of ciguard reads 2"),
        (changed(0, library=3), "f.jsonl:1: the key 'library' is missing or not a string"),
        (changed(0, apis="many"), "f.jsonl:1: the key 'apis' is missing or not an integer"),
        (lines()[:-2], "f.jsonl:1: apis = 6, but the file has 5"),
        ([*lines()[:2], *lines()[1:]], "f.jsonl:3: 'tensorflow.io.gfile.rmtree' appears twice"),
        (changed(2, kind="wizard"), "f.jsonl:3: not an API record"),
        (changed(2, parameters=None), "f.jsonl:3: not an API record"),
        (changed(2, parameters=[5]), "f.jsonl:3: not an API record"),
        ([*lines()[:1], '{"api": "\x1b[31m\n'], "f.jsonl:2: not JSON"),
    ],
)  # fmt: skip
def test_a_damaged_file_is_refused_with_file_line_and_remedy(
    written: list[str], complaint: str
) -> None:
    with pytest.raises(ConstraintsFileError) as refused:
        read_constraints(written, name="f.jsonl")

    assert complaint in str(refused.value)
    assert "ciguard api extract" in str(refused.value)
    assert str(refused.value).isprintable()


def test_a_damaged_constraint_is_refused_when_it_is_asked_for() -> None:
    written = [line.replace('{"bool":{}}', '{"bool":{"size":3}}') for line in lines()]
    number = next(n for n, line in enumerate(written, start=1) if SUM.api in line)

    back = read_constraints(written, name="f.jsonl")

    with pytest.raises(ConstraintsFileError, match=rf"f.jsonl:{number}: torch.sum: bool: unknown"):
        back.api(SUM.api)


@pytest.mark.lengthy
def test_what_is_known_of_thousands_of_apis_comes_back_whole() -> None:
    many = [replace(SUM, api=f"torch.sum{number}") for number in range(4000)]
    written = list(constraint_lines(known_of(many, (), ORIGIN)))

    back = read_constraints(written, name="file")

    assert [back.api(record.api).record for record in many] == [*map(without_prose, many)]
