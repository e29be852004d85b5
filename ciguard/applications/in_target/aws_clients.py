"""Clients of boto3 ask ciguard: what they would send is not sent, and its answer is made here.

They check what they are given, write the request, read the response and raise their exceptions as
always; credentials and a region are not needed.
"""

from __future__ import annotations

import inspect
import json
import os
from typing import Any, Dict, List, Optional  # noqa: UP035 - Python 3.9 in the target

from ciguard.applications.in_target.asking import (
    Answering,
    Hearing,
    Json,
    UnknownOperationError,
    refuse_addresses,
)

_SERVICES = (".amazonaws.com", ".amazonaws.com.cn", ".api.aws")
_REGION = "us-east-1"
_OF_IMAGES = {
    "DetectLabels", "DetectFaces", "DetectText", "DetectCustomLabels", "DetectModerationLabels",
    "RecognizeCelebrities",
}  # fmt: skip
_OF_TEXTS = {
    "DetectSentiment": 5_000, "DetectEntities": 100_000, "DetectKeyPhrases": 100_000,
    "DetectDominantLanguage": 100_000, "DetectPiiEntities": 100_000, "ClassifyDocument": 100_000,
    "BatchDetectSentiment": 5_000,
}  # fmt: skip
"""Bytes that a text may have."""
_MOST_IN_BATCH = 25
_LEAST_SCORES = {
    "DetectLabels": ("Labels", "MinConfidence", 55.0),
    "DetectModerationLabels": ("ModerationLabels", "MinConfidence", 50.0),
}
"""What is left out of an answer, and below which confidence where the request does not say."""
_ATTRIBUTES = {
    "AgeRange": "AGE_RANGE", "Beard": "BEARD", "Emotions": "EMOTIONS",
    "EyeDirection": "EYE_DIRECTION", "Eyeglasses": "EYEGLASSES", "EyesOpen": "EYES_OPEN",
    "FaceOccluded": "FACE_OCCLUDED", "Gender": "GENDER", "MouthOpen": "MOUTH_OPEN",
    "Mustache": "MUSTACHE", "Smile": "SMILE", "Sunglasses": "SUNGLASSES",
}  # fmt: skip
"""Of a face, those that are told only if they are asked for."""
_CODES = {
    "RESOURCE_EXHAUSTED": "ThrottlingException",
    "INTERNAL": "InternalServerError",
    "DEADLINE_EXCEEDED": "InternalServerError",
    "UNIMPLEMENTED": "AccessDeniedException",
    "FAILED_PRECONDITION": "AccessDeniedException",
}
"""Codes of gRPC; others are AWS's own."""
_REFUSES = "INVALID_ARGUMENT"


def intercept(answering: Answering) -> None:
    """Have every client ask `answering`, whenever it was made."""
    from botocore import session  # noqa: PLC0415 - the application's
    from botocore.credentials import Credentials  # noqa: PLC0415
    from botocore.endpoint import Endpoint  # noqa: PLC0415

    def make_request(endpoint: Any, operation: Any, request: Json) -> Any:
        if inspect.iscoroutinefunction(endpoint._send_request):  # noqa: SLF001 - it is not said elsewhere
            msg = "an asynchronous client"
            raise UnknownOperationError(msg)
        return _answered(operation, request, answering)

    Endpoint.make_request = make_request
    session.Session.get_credentials = lambda *_, **__: Credentials("ciguard", "ciguard")
    os.environ.setdefault("AWS_DEFAULT_REGION", _REGION)
    refuse_addresses(_SERVICES, "something of AWS, without boto3")


def observe(hearing: Hearing) -> None:
    """Have every client ask its service, and `hearing` told the answers.

    Asynchronous clients ask theirs too; nothing is told of those.
    """
    from botocore.endpoint import Endpoint  # noqa: PLC0415 - the application's

    send = Endpoint.make_request

    def make_request(endpoint: Any, operation: Any, request: Json) -> Any:
        sent = send(endpoint, operation, request)
        if _known(operation) and not inspect.isawaitable(sent):
            _hear(operation.name, _request(operation, request), sent[1], hearing)
        return sent

    Endpoint.make_request = make_request


def _known(operation: Any) -> bool:
    return operation.name in _OF_IMAGES or operation.name in _OF_TEXTS


# --- what is asked -------------------------------------------------------------------------------


def _request(operation: Any, sent: Json) -> Json:
    """Return what a request says, by reading it as the service would."""
    model = operation.service_model
    protocol = getattr(model, "resolved_protocol", None) or model.metadata["protocol"]
    return _read(sent["body"], 200, protocol, operation.input_shape)


def _about(asked: Json) -> bytes:
    """Return what a service is asked about: what it holds, or else where it lies."""
    if "Text" in asked:
        return str(asked["Text"]).encode()
    image = asked.get("Image", {})
    if "Bytes" in image:
        return bytes(image["Bytes"])
    place = image.get("S3Object", {})
    return f"s3://{place.get('Bucket', '')}/{place.get('Name', '')}".encode() if place else b""


def _snake(name: str) -> str:
    """Return an operation as its method is called."""
    from botocore import xform_name  # noqa: PLC0415 - the application's

    return str(xform_name(name))


# --- what is answered ----------------------------------------------------------------------------


def _answered(operation: Any, sent: Json, answering: Answering) -> Any:
    """Return the response to a request, and what the client reads in it."""
    name = operation.name
    if not _known(operation):
        msg = f"{operation.service_model.service_name} {_snake(name)}"
        raise UnknownOperationError(msg)
    asked = _request(operation, sent)
    said = _batch(name, asked, answering) if "TextList" in asked else _one(name, asked, answering)
    if "error" in said:
        return _response(operation, 400, _error(operation, said["error"]))
    answer = _asked_for(name, asked, said["answer"])
    return _response(operation, 200, {**_empty(operation), **answer})


def _one(name: str, asked: Json, answering: Answering) -> Json:
    about = _about(asked)
    if len(about) > _OF_TEXTS.get(name, len(about)):
        message = (
            "Input text size exceeds limit. Max length of request text allowed is "
            f"{_OF_TEXTS[name]} bytes while in this request the text size is {len(about)} bytes"
        )
        return {"error": {"code": "TextSizeLimitExceededException", "message": message}}
    return answering(_snake(name), about)


def _batch(name: str, asked: Json, answering: Answering) -> Json:
    texts = asked["TextList"]
    if len(texts) > _MOST_IN_BATCH:
        message = f"Input list size exceeds limit. Max length allowed is {_MOST_IN_BATCH}"
        return {"error": {"code": "BatchSizeLimitExceededException", "message": message}}
    found: Dict[str, List[Json]] = {"ResultList": [], "ErrorList": []}  # noqa: UP006
    for at, text in enumerate(texts):
        said = _one(name, {"Text": text}, answering)
        if "answer" in said:
            found["ResultList"].append({"Index": at, **said["answer"]})
            continue
        error = said["error"]
        if error["code"] == "ThrottlingException":
            return said
        told = {"ErrorCode": error["code"], "ErrorMessage": error["message"]}
        found["ErrorList"].append({"Index": at, **told})
    return {"answer": found}


def _asked_for(name: str, asked: Json, answer: Json) -> Json:
    """Leave out of an answer what a request does not ask for."""
    if name in _LEAST_SCORES:
        records, least, usual = _LEAST_SCORES[name]
        bound = asked.get(least, usual)
        kept = [one for one in answer.get(records, []) if one.get("Confidence", 100) >= bound]
        return {**answer, records: kept[: asked.get("MaxLabels", len(kept))]}
    if name == "DetectFaces":
        wanted = {"DEFAULT", *(asked.get("Attributes") or ())}
        faces = [_told(face, wanted) for face in answer.get("FaceDetails", [])]
        return {**answer, "FaceDetails": faces}
    return answer


def _told(face: Json, wanted: Any) -> Json:
    return {
        field: value
        for field, value in face.items()
        if field not in _ATTRIBUTES or _ATTRIBUTES[field] in wanted or "ALL" in wanted
    }


def _empty(operation: Any) -> Json:
    """Return the lists of an answer, which the service tells though they are empty."""
    members = operation.output_shape.members
    return {name: [] for name, shape in members.items() if shape.type_name == "list"}


def _error(operation: Any, error: Json) -> Json:
    code = error["code"]
    if code == _REFUSES:
        of_image = operation.name in _OF_IMAGES
        code = "InvalidImageFormatException" if of_image else "InvalidRequestException"
    return {"__type": _CODES.get(code, code), "message": error["message"]}


def _response(operation: Any, status: int, content: Json) -> Any:
    """Return a response as HTTP has it, and what the client reads in it: JSON, as it may be."""
    from botocore.awsrequest import AWSResponse  # noqa: PLC0415 - the application's

    body = json.dumps(content).encode()
    return AWSResponse("", status, {}, None), _read(body, status, "json", operation.output_shape)


def _read(body: bytes, status: int, protocol: str, shape: Any) -> Json:
    from botocore.parsers import create_parser  # noqa: PLC0415 - the application's

    headers = {"x-amzn-requestid": "ciguard"}
    return create_parser(protocol).parse(
        {"headers": headers, "body": body, "status_code": status}, shape
    )


# --- what is heard -------------------------------------------------------------------------------


def _hear(name: str, asked: Json, parsed: Json, hearing: Hearing) -> None:
    error = parsed.get("Error")
    answer = {key: value for key, value in parsed.items() if key != "ResponseMetadata"}
    if error:
        told: Json = {"error": {"code": error.get("Code", ""), "message": error.get("Message", "")}}
    else:
        told = {"answer": answer}
    if "TextList" not in asked:
        hearing(_snake(name), _about(asked), told)
        return
    for at, text in enumerate(asked["TextList"]):
        one = told if error else _of_batch(answer, at)
        if one is not None:
            hearing(_snake(name), str(text).encode(), one)


def _of_batch(answer: Json, at: int) -> Optional[Json]:  # noqa: UP045
    """Return what a batch says of one of its texts."""
    for one in answer.get("ResultList", []):
        if one.get("Index") == at:
            return {"answer": {key: value for key, value in one.items() if key != "Index"}}
    for one in answer.get("ErrorList", []):
        if one.get("Index") == at:
            return {"error": {"code": one.get("ErrorCode", ""), "message": one["ErrorMessage"]}}
    return None
