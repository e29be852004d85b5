"""Transcriptions of Amazon Transcribe: they are done when somebody asks, or the time after that.

Requests and answers are as boto3 has them. Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Dict, Tuple

from ciguard.levels.app.in_target.asking import Answering, Json, UnknownOperationError
from ciguard.levels.app.in_target.served import DocumentServer
from ciguard.levels.app.in_target.under_way import UnderWay
from ciguard.levels.app.providers.aws.in_target.messages import refused

if TYPE_CHECKING:
    from ciguard.levels.app.providers.aws.in_target.storage import Storage

ASKS = "get_transcription_job"
_NAME = "TranscriptionJobName"
_SAID = ("LanguageCode", "MediaFormat", "Media", "MediaSampleRateHertz", "Settings")
"""What a job tells again of the request that has begun it."""
_WHEN = 1_704_067_200
"""Seconds since 1970, of all times that are told."""
_SPEAKER = "spk_0"
_REFUSES = "INVALID_ARGUMENT"
_FILE = "asrOutput.json"

Reply = Tuple[int, Json]
"""Status and content of a response."""


class Jobs:
    """Jobs by their names. One may be begun again: an application is called more than once."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._documents = DocumentServer()
        self._begun: Dict[str, Json] = {}
        self._under_way = UnderWay()

    def answered(self, name: str, asked: Json, answering: Answering) -> Reply:
        """Return the response to a request.

        Args:
            name: of the operation, `StartTranscriptionJob`.
            asked: the request.
            answering: is asked what is said in the sound of a job.

        Raises:
            UnknownOperationError: if it is one that is not answered.
        """
        if name == "StartTranscriptionJob":
            self._begun[asked[_NAME]] = asked
            self._under_way.begin(asked[_NAME])
            return 200, {"TranscriptionJob": _job(asked, "IN_PROGRESS")}
        if name == "GetTranscriptionJob":
            return self._done(self._begun.get(asked[_NAME], asked), answering)
        if name == "DeleteTranscriptionJob":
            self._begun.pop(asked[_NAME], None)
            return 200, {}
        msg = f"transcribe {name}"
        raise UnknownOperationError(msg)

    def _done(self, begun: Json, answering: Answering) -> Reply:
        place = begun.get("Media", {}).get("MediaFileUri", "")
        sound = self._storage.at(place)
        said = answering(ASKS, place.encode() if sound is None else sound)
        if said.get("under_way") and self._under_way.is_met(begun[_NAME]):
            return 200, {"TranscriptionJob": _job(begun, "IN_PROGRESS")}
        error = said.get("error")
        if error and error["code"] == _REFUSES:  # it is the job that fails
            job = _job(begun, "FAILED")
            return 200, {"TranscriptionJob": {**job, "FailureReason": error["message"]}}
        if error:
            return refused("GetTranscriptionJob", error)
        job = _job(begun, "COMPLETED")
        address = self._written(begun, said["answer"])
        job["Transcript"] = {"TranscriptFileUri": address}
        return 200, {"TranscriptionJob": {**job, "CompletionTime": _WHEN}}

    def _written(self, begun: Json, answer: Json) -> str:
        """Return where the transcript of a job lies."""
        nothing = {"transcripts": [{"transcript": ""}], "items": []}
        told = {"jobName": begun[_NAME], "accountId": "", "status": "COMPLETED"}
        results = _labelled(answer.get("results", nothing), begun.get("Settings") or {})
        content = json.dumps({**answer, **told, "results": results}).encode()
        bucket = begun.get("OutputBucketName")
        if bucket:
            key = begun.get("OutputKey") or f"{begun[_NAME]}.json"
            return self._storage.put(bucket, key, content)
        return self._documents.put(_FILE, content)


def _labelled(results: Json, settings: Json) -> Json:
    """Return results with what is asked for beside: who speaks, which is one person."""
    if not settings.get("ShowSpeakerLabels"):
        return results
    words = [one for one in results.get("items", []) if "start_time" in one]
    times = [{name: one[name] for name in ("start_time", "end_time")} for one in words]
    spoken = [{**one, "speaker_label": _SPEAKER} for one in times]
    segments = []
    if spoken:
        whole = {"start_time": times[0]["start_time"], "end_time": times[-1]["end_time"]}
        segments = [{**whole, "speaker_label": _SPEAKER, "items": spoken}]
    labels = {"channel_label": "ch_0", "speakers": 1, "segments": segments}
    items = [{**one, "speaker_label": _SPEAKER} for one in results.get("items", [])]
    return {**results, "items": items, "speaker_labels": labels}


def _job(begun: Json, status: str) -> Json:
    said = {name: begun[name] for name in _SAID if name in begun}
    times = {"StartTime": _WHEN, "CreationTime": _WHEN}
    return {_NAME: begun[_NAME], "TranscriptionJobStatus": status, **said, **times}
