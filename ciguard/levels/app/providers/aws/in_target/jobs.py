"""Transcription jobs of Amazon Transcribe: finished at the first or second status request.

Requests and answers are in the format of boto3. Standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Dict, Tuple

from ciguard.levels.app.in_target.asking import AnswerFunction, Json, UnknownOperationError
from ciguard.levels.app.in_target.running_jobs import RunningJobs
from ciguard.levels.app.in_target.served import DocumentServer
from ciguard.levels.app.providers.aws.in_target.messages import refusal_reply

if TYPE_CHECKING:
    from ciguard.levels.app.providers.aws.in_target.storage import Storage

RESULT_OPERATION = "get_transcription_job"
"""Operation whose stub response is the transcript of a job."""
_NAME = "TranscriptionJobName"
_REPEATED_FIELDS = ("LanguageCode", "MediaFormat", "Media", "MediaSampleRateHertz", "Settings")
"""Fields of the request that the description of a job repeats."""
_TIMESTAMP = 1_704_067_200
"""Start and end of every job, in seconds since 1970."""
_SPEAKER = "spk_0"
_INVALID_CODE = "INVALID_ARGUMENT"
_FILE = "asrOutput.json"

Reply = Tuple[int, Json]
"""Status and content of a response."""


class Jobs:
    """Jobs by name. A new job replaces one of the same name, as ciguard repeats calls."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._documents = DocumentServer()
        self._started: Dict[str, Json] = {}
        self._running_jobs = RunningJobs()

    def reply(self, name: str, parameters: Json, get_answer: AnswerFunction) -> Reply:
        """Return the response to a request.

        Args:
            name: name of the operation, such as `StartTranscriptionJob`.
            parameters: parameters of the request.
            get_answer: function that returns the transcript of a sound.

        Raises:
            UnknownOperationError: if the operation is not supported.
        """
        if name == "StartTranscriptionJob":
            self._started[parameters[_NAME]] = parameters
            self._running_jobs.start(parameters[_NAME])
            return 200, {"TranscriptionJob": _job(parameters, "IN_PROGRESS")}
        if name == "GetTranscriptionJob":
            return self._status_reply(self._started.get(parameters[_NAME], parameters), get_answer)
        if name == "DeleteTranscriptionJob":
            self._started.pop(parameters[_NAME], None)
            return 200, {}
        msg = f"transcribe {name}"
        raise UnknownOperationError(msg)

    def _status_reply(self, started: Json, get_answer: AnswerFunction) -> Reply:
        """Return the response to a status request: the job is running, failed or completed."""
        source = started.get("Media", {}).get("MediaFileUri", "")
        sound = self._storage.content_at(source)
        outcome = get_answer(RESULT_OPERATION, source.encode() if sound is None else sound)
        if outcome.get("under_way") and self._running_jobs.is_running(started[_NAME]):
            return 200, {"TranscriptionJob": _job(started, "IN_PROGRESS")}
        error = outcome.get("error")
        if error and error["code"] == _INVALID_CODE:  # the job fails, not the request
            job = _job(started, "FAILED")
            return 200, {"TranscriptionJob": {**job, "FailureReason": error["message"]}}
        if error:
            return refusal_reply("GetTranscriptionJob", error)
        job = _job(started, "COMPLETED")
        address = self._store_transcript(started, outcome["answer"])
        job["Transcript"] = {"TranscriptFileUri": address}
        return 200, {"TranscriptionJob": {**job, "CompletionTime": _TIMESTAMP}}

    def _store_transcript(self, started: Json, answer: Json) -> str:
        """Store the transcript of a job in its bucket or on a local server; return its address."""
        empty = {"transcripts": [{"transcript": ""}], "items": []}
        job_fields = {"jobName": started[_NAME], "accountId": "", "status": "COMPLETED"}
        results = _with_speakers(answer.get("results", empty), started.get("Settings") or {})
        content = json.dumps({**answer, **job_fields, "results": results}).encode()
        bucket = started.get("OutputBucketName")
        if bucket:
            key = started.get("OutputKey") or f"{started[_NAME]}.json"
            return self._storage.put(bucket, key, content)
        return self._documents.put(_FILE, content)


def _with_speakers(results: Json, settings: Json) -> Json:
    """Return results with speaker labels if requested: all words are by one speaker."""
    if not settings.get("ShowSpeakerLabels"):
        return results
    words = [item for item in results.get("items", []) if "start_time" in item]
    times = [{name: item[name] for name in ("start_time", "end_time")} for item in words]
    speaker_items = [{**item, "speaker_label": _SPEAKER} for item in times]
    segments = []
    if speaker_items:
        span = {"start_time": times[0]["start_time"], "end_time": times[-1]["end_time"]}
        segments = [{**span, "speaker_label": _SPEAKER, "items": speaker_items}]
    labels = {"channel_label": "ch_0", "speakers": 1, "segments": segments}
    items = [{**item, "speaker_label": _SPEAKER} for item in results.get("items", [])]
    return {**results, "items": items, "speaker_labels": labels}


def _job(started: Json, status: str) -> Json:
    """Return the description of a job in the service's format."""
    repeated = {name: started[name] for name in _REPEATED_FIELDS if name in started}
    times = {"StartTime": _TIMESTAMP, "CreationTime": _TIMESTAMP}
    return {_NAME: started[_NAME], "TranscriptionJobStatus": status, **repeated, **times}
