"""Objects in emulated S3, and transcription jobs about them."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from io import BytesIO
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.levels.app.in_target import stored
from ciguard.levels.app.in_target.asking import UnknownOperationError
from ciguard.levels.app.in_target.served import DocumentServer
from ciguard.levels.app.providers.aws.in_target.jobs import Jobs
from ciguard.levels.app.providers.aws.in_target.storage import Storage

if TYPE_CHECKING:
    from collections.abc import Callable

    Json = Any

HERE = {"Bucket": "sounds", "Key": "a/b c.wav"}
BEGUN = {
    "TranscriptionJobName": "job",
    "LanguageCode": "en-US",
    "Media": {"MediaFileUri": "s3://sounds/a/b c.wav"},
}


def started(
    answer: Json, requests: list[tuple[str, bytes]], **more: str
) -> Callable[[], tuple[int, Json]]:
    """Return a function that requests the status of a job about a sound of three bytes."""
    storage = Storage()
    storage.reply("PutObject", {**HERE, "Body": b"abc"})
    jobs = Jobs(storage)

    def get_answer(operation: str, content: bytes) -> Json:
        requests.append((operation, content))
        return answer

    status, begun = jobs.reply("StartTranscriptionJob", {**BEGUN, **more}, get_answer)
    assert (status, requests) == (200, [])
    assert begun["TranscriptionJob"]["TranscriptionJobStatus"] == "IN_PROGRESS"
    asked = {"TranscriptionJobName": "job"}
    return lambda: jobs.reply("GetTranscriptionJob", asked, get_answer)


def test_first_status_request_returns_in_progress() -> None:
    ask = started({"answer": {}, "under_way": True}, [])

    statuses = [ask()[1]["TranscriptionJob"]["TranscriptionJobStatus"] for _ in range(3)]

    assert statuses == ["IN_PROGRESS", "COMPLETED", "COMPLETED"]


def fetched(address: str) -> Json:
    with urllib.request.urlopen(address, timeout=10) as response:  # noqa: S310 - the loopback
        return json.load(response)


@given(
    bucket=st.from_regex(r"[a-z0-9-]{3,20}", fullmatch=True),
    key=st.text(min_size=1).filter(lambda key: "\n" not in key),
    content=st.binary(),
)
def test_stored_object_is_found_by_each_form_of_its_address(
    bucket: str, key: str, content: bytes
) -> None:
    storage = Storage()
    asked = {"Bucket": bucket, "Key": key}

    storage.reply("PutObject", {**asked, "Body": BytesIO(content)})

    assert storage.reply("GetObject", asked)[::2] == (200, content)
    assert storage.content_at(f"s3://{bucket}/{key}") == content
    assert storage.content_at(f"https://{bucket}.s3.eu-west-1.amazonaws.com/{key}") == content
    assert storage.content_at(storage.put(bucket, key, content)) == content
    storage.reply("DeleteObject", asked)
    assert storage.content_at(f"s3://{bucket}/{key}") is None


def test_missing_object_has_the_error_of_s3() -> None:
    storage = Storage()

    status, _, content = storage.reply("GetObject", HERE)

    assert status == 404
    assert b"<Code>NoSuchKey</Code>" in content
    assert storage.reply("HeadObject", HERE) == (404, {}, b"")
    assert storage.content_at("https://example.com/sounds/a") is None
    with pytest.raises(UnknownOperationError, match="s3 ListBuckets"):
        storage.reply("ListBuckets", {})


def test_transcript_is_at_the_address_of_the_job() -> None:
    requests: list[tuple[str, bytes]] = []
    answer = {"results": {"transcripts": [{"transcript": "stop"}], "items": []}}

    status, done = started({"answer": answer}, requests)()

    job = done["TranscriptionJob"]
    assert (status, job["TranscriptionJobStatus"]) == (200, "COMPLETED")
    assert requests == [("get_transcription_job", b"abc")]
    transcript = fetched(job["Transcript"]["TranscriptFileUri"])
    assert transcript["results"] == answer["results"]
    assert (transcript["jobName"], transcript["status"]) == ("job", "COMPLETED")


def test_transcript_of_silence_in_a_bucket_is_empty() -> None:
    storage = Storage()
    jobs = Jobs(storage)
    asked = {**BEGUN, "OutputBucketName": "texts"}
    jobs.reply("StartTranscriptionJob", asked, lambda *_: {})

    _, done = jobs.reply("GetTranscriptionJob", asked, lambda *_: {"answer": {}})

    address = done["TranscriptionJob"]["Transcript"]["TranscriptFileUri"]
    assert address == "https://s3.us-east-1.amazonaws.com/texts/job.json"
    transcript = json.loads(storage.content_at(address) or b"")
    assert transcript["results"]["transcripts"] == [{"transcript": ""}]


def test_invalid_sound_fails_the_job_and_other_errors_the_request() -> None:
    unfit = {"error": {"code": "INVALID_ARGUMENT", "message": "no sound"}}
    limit = {"error": {"code": "LimitExceededException", "message": "too many"}}

    status, failed = started(unfit, [])()

    assert (status, failed["TranscriptionJob"]["TranscriptionJobStatus"]) == (200, "FAILED")
    assert failed["TranscriptionJob"]["FailureReason"] == "no sound"
    assert "Transcript" not in failed["TranscriptionJob"]
    expected = {"__type": "LimitExceededException", "message": "too many"}
    assert started(limit, [])() == (400, expected)


def test_content_of_a_job_without_stored_sound_is_its_address() -> None:
    requests = []

    def get_answer(operation: str, content: bytes) -> Json:
        requests.append((operation, content))
        return {"answer": {}}

    Jobs(Storage()).reply("GetTranscriptionJob", BEGUN, get_answer)

    assert requests == [("get_transcription_job", b"s3://sounds/a/b c.wav")]


def test_oldest_documents_are_removed() -> None:
    documents = DocumentServer()
    addresses = [documents.put("file.json", b"%d" % at) for at in range(201)]

    assert fetched(addresses[-1]) == 200
    assert fetched(addresses[1]) == 1
    with pytest.raises(urllib.error.HTTPError, match="404"):
        fetched(addresses[0])


def test_input_of_a_call_is_found_in_every_bucket() -> None:
    stored.remove_all()
    storage = Storage()
    place = {"Bucket": "any", "Key": "a <&> b.png"}
    assert storage.reply("GetObject", place)[0] == 404

    assert stored.stored(place["Key"], b"abc") == place["Key"]
    assert storage.reply("GetObject", place)[2] == b"abc"
    assert storage.content_at("s3://other/a <&> b.png") == b"abc"
    storage.reply("PutObject", {**place, "Body": b"own"})
    assert storage.content_at("s3://any/a <&> b.png") == b"own"
    _, _, listed = storage.reply("ListObjectsV2", {"Bucket": "any", "Prefix": "a "})
    assert b"<Key>a &lt;&amp;&gt; b.png</Key>" in listed
    assert b"<Size>3</Size>" in listed
    copied = {"Bucket": "b", "Key": "c", "CopySource": "/other/a%20%3C%26%3E%20b.png"}
    assert storage.reply("CopyObject", copied)[0] == 200
    assert storage.content_at("s3://b/c") == b"abc"
    versioned = {**copied, "CopySource": "/any/a%20%3C%26%3E%20b.png?versionId=1"}
    assert storage.reply("CopyObject", versioned)[0] == 200
    assert storage.content_at("s3://b/c") == b"own"
    assert storage.reply("CopyObject", {**copied, "CopySource": "x/y"})[0] == 404
    stored.remove_all()
    assert storage.content_at("s3://other/a <&> b.png") is None
