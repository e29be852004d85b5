"""What a parameter takes, by what it is called; and what is made of it where it is called."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.exploration.by_name import made_up, place, setting, text_form
from ciguard.levels.app.in_target.given import Awaited, Upload, argument, forms_in

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("name", "annotation", "value"),
    [
        ("min_confidence", "", 50.0),
        ("confThreshold", "float", 50.0),
        ("confThreshold", "str", None),
        ("maxResults", "", 10),
        ("max_labels", "int", 10),
        ("num", "", 10),
        ("numeral", "", None),
        ("thresholds", "", None),
        ("is_verbose", "bool", False),
        ("language_code", "str", "en"),
        ("langCode", "", "en"),
        ("slang", "", None),
    ],
)
def test_settings_are_told_by_their_names(name: str, annotation: str, value: object) -> None:
    assert setting(name, annotation, highest=100.0, is_heard=False) == value


def test_the_language_that_is_spoken_has_a_country() -> None:
    assert setting("language", "", highest=1.0, is_heard=True) == "en-US"


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("apiKey", {"made_up": made_up("key")}),
        ("endpoint", {"made_up": "https://example.cognitiveservices.azure.com/"}),
        ("jobName", {"guess": "name"}),
        ("job_uri", {"made_up": "s3://bucket/upload"}),
        ("on_key", None),
        ("keys", None),
        ("keywords", None),
        ("tokenizer", None),
        ("label", None),
        ("image_url", None),
        ("strategy", None),
    ],
)
def test_texts_are_told_by_their_names(name: str, form: object) -> None:
    assert text_form(name, "aws") == form


@pytest.mark.parametrize("name", ["s3Bucket", "s3ObjectKey", "bucket_name", "region"])
def test_fields_say_where_something_lies(name: str) -> None:
    assert place(name)


@pytest.mark.parametrize("name", ["keywords", "keyword", "monkey", "text", "regional"])
def test_fields_that_say_something_else_are_no_places(name: str) -> None:
    assert not place(name)


def test_nobody_knows_where_another_provider_stores() -> None:
    assert text_form("job_uri", "azure") is None


@given(st.binary(max_size=200_000))
def test_an_upload_is_read_in_every_way(content: bytes) -> None:
    sent = Upload(content, "a.png")

    assert (sent.read(), sent.size, sent.content_type) == (content, len(content), "image/png")
    sent.seek(0)
    assert b"".join(sent.chunks()) == content
    sent.stream.seek(0)
    assert sent.file.read() == content


def test_an_upload_is_saved(tmp_path: Path) -> None:
    Upload(b"abc", "a.png").save(tmp_path / "a")
    with (tmp_path / "b").open("wb") as file:
        Upload(b"abc", "a.wav").save(file)

    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"abc", b"abc"]


def test_one_that_is_awaited_is_read_again_after_a_seek() -> None:
    async def twice(sent: Awaited) -> list[bytes]:
        first = await sent.read()
        await sent.seek(1)
        second = await sent.read(1)
        await sent.close()
        return [first, second]

    sent = Awaited(b"abc", "a.wav")
    assert asyncio.run(twice(sent)) == [b"abc", b"b"]
    assert (sent.content_type.partition("/")[0], sent.size, sent.file.closed) == ("audio", 3, True)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.jpg", "image/jpeg"), ("a.txt", "text/plain"), ("a", "application/octet-stream")],
)
def test_an_upload_is_of_its_kind(name: str, kind: str) -> None:
    assert Upload(b"", name).content_type == kind


def test_forms_are_found_however_deep() -> None:
    given = {"several": [{"fields": {"Bytes": {"base64": "YQ=="}, "Key": {"made_up": "k"}}}]}

    assert list(forms_in(given)) == ["several", "fields", "base64", "made_up"]
    assert argument(given) == [{"Bytes": b"a", "Key": "k"}]
