"""Arguments that are guessed from the names of parameters, and their construction."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.exploration.guessed_values import (
    location_value,
    placeholder_value,
    setting_value,
    text_form,
)
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
def test_setting_value_is_guessed_from_the_name_of_a_parameter(
    name: str, annotation: str, value: object
) -> None:
    assert setting_value(name, annotation, max_score=100.0, is_speech=False) == value


def test_language_setting_of_speech_includes_a_country() -> None:
    assert setting_value("language", "", max_score=1.0, is_speech=True) == "en-US"


@pytest.mark.parametrize(
    ("name", "form"),
    [
        ("apiKey", {"made_up": placeholder_value("key")}),
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
def test_text_form_is_recognised_by_the_name_of_a_parameter(name: str, form: object) -> None:
    assert text_form(name, "aws") == form


@pytest.mark.parametrize("name", ["s3Bucket", "s3ObjectKey", "bucket_name", "region"])
def test_location_value_returns_buckets_keys_and_regions(name: str) -> None:
    assert location_value(name)


@pytest.mark.parametrize("name", ["keywords", "keyword", "monkey", "text", "regional"])
def test_location_value_of_any_other_field_is_empty(name: str) -> None:
    assert not location_value(name)


def test_text_form_of_a_provider_without_storage_has_no_address() -> None:
    assert text_form("job_uri", "azure") is None


@given(st.binary(max_size=200_000))
def test_upload_supports_all_ways_to_read_it(content: bytes) -> None:
    sent = Upload(content, "a.png")

    assert (sent.read(), sent.size, sent.content_type) == (content, len(content), "image/png")
    sent.seek(0)
    assert b"".join(sent.chunks()) == content
    sent.stream.seek(0)
    assert sent.file.read() == content


def test_upload_can_be_saved(tmp_path: Path) -> None:
    Upload(b"abc", "a.png").save(tmp_path / "a")
    with (tmp_path / "b").open("wb") as file:
        Upload(b"abc", "a.wav").save(file)

    assert [(tmp_path / name).read_bytes() for name in "ab"] == [b"abc", b"abc"]


def test_awaited_upload_is_read_again_after_a_seek() -> None:
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
def test_upload_has_the_content_type_of_its_name(name: str, kind: str) -> None:
    assert Upload(b"", name).content_type == kind


def test_forms_in_yields_nested_forms() -> None:
    given = {"several": [{"fields": {"Bytes": {"base64": "YQ=="}, "Key": {"made_up": "k"}}}]}

    assert list(forms_in(given)) == ["several", "fields", "base64", "made_up"]
    assert argument(given) == [{"Bytes": b"a", "Key": "k"}]
