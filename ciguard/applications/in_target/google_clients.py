"""Google's clients, new and old, ask ciguard: their channel is replaced, they themselves are not.

Messages are made by the client's own classes, so that an application gets what it would get from
the service: repeated fields, enumerations, absent parts.
"""

from __future__ import annotations

import base64
import contextlib
import socket
from typing import Any, Callable, Dict, List  # noqa: UP035 - Python 3.9 in the target

Json = Any
Answering = Callable[[str, bytes], Json]
"""Takes an operation and what it is asked about; returns `{"answer": …}`, or `{"error": …}` with
the `code` of gRPC and the `message` with which the service refuses."""
_FEATURES = {
    "LABEL_DETECTION": "label_detection", "OBJECT_LOCALIZATION": "object_localization",
    "FACE_DETECTION": "face_detection", "TEXT_DETECTION": "text_detection",
    "DOCUMENT_TEXT_DETECTION": "document_text_detection",
}  # fmt: skip
_SERVICES = (".googleapis.com", ".google.com")
_OF_ONE_IMAGE = "INVALID_ARGUMENT"
"""Told with the answer for the image, and not as the failure of the whole request."""
_METHODS = {
    "AnalyzeSentiment": "analyze_sentiment", "AnalyzeEntities": "analyze_entities",
    "AnalyzeEntitySentiment": "analyze_entity_sentiment", "ClassifyText": "classify_text",
    "Recognize": "recognize",
}  # fmt: skip


Hearing = Callable[[str, bytes, Json], None]
"""Takes an operation, what it was asked about, and `{"answer": …}` or `{"error": …}`."""


class UnknownOperationError(Exception):
    """The application asks something that no answer is made for."""


def intercept(answering: Answering) -> None:
    """Have every client that is made from now on ask `answering`."""
    import google.auth  # noqa: PLC0415 - the application's
    import grpc  # noqa: PLC0415
    from google.api_core import grpc_helpers  # noqa: PLC0415
    from google.auth.credentials import AnonymousCredentials  # noqa: PLC0415
    from google.oauth2 import service_account  # noqa: PLC0415

    anonymous = AnonymousCredentials()  # type: ignore[no-untyped-call,unused-ignore]
    google.auth.default = lambda *_, **__: (anonymous, "ciguard")
    for place, name in (
        (grpc_helpers, "create_channel"),
        (grpc, "secure_channel"),  # of applications that make their own
        (grpc, "insecure_channel"),
    ):
        setattr(place, name, lambda *_, **__: _channel(answering))
    for name in ("from_service_account_file", "from_service_account_info"):
        setattr(service_account.Credentials, name, lambda *_, **__: anonymous)
    _refuse_other_ways()


def observe(hearing: Hearing) -> None:
    """Have every client that is made from now on ask its service, and `hearing` told the answers.

    Asynchronous clients and those that speak REST ask theirs too; nothing is told of those.
    """
    import grpc  # noqa: PLC0415 - the application's
    from google.api_core import grpc_helpers  # noqa: PLC0415 - likewise

    class Observer(grpc.UnaryUnaryClientInterceptor):  # type: ignore[misc,name-defined,unused-ignore]
        """Sees each call, and leaves it as it is."""

        def intercept_unary_unary(self, continuation: Any, details: Any, request: Any) -> Any:
            call = continuation(details, request)
            _hear(details.method, request, call, hearing)
            return call

    connect = grpc_helpers.create_channel
    grpc_helpers.create_channel = lambda *positional, **named: grpc.intercept_channel(
        connect(*positional, **named), Observer()
    )


def _hear(method: str, request: Any, call: Any, hearing: Hearing) -> None:
    asked, name = _content(request), method.rpartition("/")[2]
    error = call.exception()
    told = None
    if error is not None:
        told = {"error": {"code": error.code().name, "message": str(error.details())}}
    if name in _METHODS:
        hearing(_METHODS[name], _about(asked), told or {"answer": _content(call.result())})
    elif name == "BatchAnnotateImages":
        several = [] if told else _content(call.result()).get("responses", [])
        for at, one in enumerate(asked.get("requests", [])):
            said = told or _of_response(several[at] if at < len(several) else {})
            for kind in _kinds(one):
                if kind in _FEATURES:
                    hearing(_FEATURES[kind], _about(one), said)


def _of_response(response: Json) -> Json:
    if "error" in response:
        return {"error": {"code": _OF_ONE_IMAGE, "message": response["error"].get("message", "")}}
    return {"answer": response}


def _content(message: Any) -> Json:
    from google.protobuf import json_format  # noqa: PLC0415 - the application's

    return json_format.MessageToDict(_plain(message), preserving_proto_field_name=True)


def _kinds(request: Json) -> List[str]:  # noqa: UP006
    return [one.get("type") or one.get("type_", "") for one in request.get("features", [])]


def _refuse_other_ways() -> None:
    """Have clients that do without this channel, by REST or asynchronously, ask nobody."""
    import grpc  # noqa: PLC0415 - the application's
    from google.api_core import grpc_helpers_async  # noqa: PLC0415

    grpc_helpers_async.create_channel = _refusing("an asynchronous client")
    asynchronous = getattr(grpc, "aio", None)
    for name in ("secure_channel", "insecure_channel"):
        if asynchronous is not None:
            setattr(asynchronous, name, _refusing("an asynchronous client"))
    _refuse_addresses()
    with contextlib.suppress(ImportError):
        from google.auth.transport import requests  # noqa: PLC0415 - likewise

        requests.AuthorizedSession.request = _refusing(  # type: ignore[method-assign,unused-ignore]
            "a client that speaks REST"
        )


def _refuse_addresses() -> None:
    """Have no other library find Google's services either."""
    find = socket.getaddrinfo

    def found(host: Any, *positional: Any, **named: Any) -> Any:
        name = host.decode("ascii", "replace") if isinstance(host, bytes) else str(host or "")
        if name.rstrip(".").lower().endswith(_SERVICES):
            msg = "a client that speaks REST"
            raise UnknownOperationError(msg)
        return find(host, *positional, **named)

    socket.getaddrinfo = found


def _channel(answering: Answering) -> Any:
    import grpc  # noqa: PLC0415 - the application's

    class Channel(grpc.Channel):  # type: ignore[misc,name-defined,unused-ignore]
        """Answers without a network."""

        def unary_unary(
            self,
            method: str,
            request_serializer: Any = None,
            response_deserializer: Any = None,
            *_: Any,
            **__: Any,
        ) -> Any:
            return _Method(method, request_serializer, response_deserializer, answering)

        def unary_stream(self, method: str, *_: Any, **__: Any) -> Any:
            return _refusing(method)

        stream_unary = stream_stream = unary_stream

        def subscribe(self, callback: Any, *_: Any, **__: Any) -> None:
            del callback

        def unsubscribe(self, callback: Any) -> None:
            del callback

        def close(self) -> None:
            """Nothing is open."""

        def __enter__(self) -> Any:
            return self

        def __exit__(self, *_: object) -> None:
            self.close()

    return Channel()


def _refusing(method: str) -> Callable[..., Any]:
    def refuse(*_: Any, **__: Any) -> Any:
        raise UnknownOperationError(method)

    return refuse


class _Call:
    """What an interceptor of the client is given: an answer that is there already."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def result(self, timeout: Any = None) -> Any:
        del timeout
        return self._answer

    def exception(self, timeout: Any = None) -> None:
        del timeout

    def trailing_metadata(self) -> List[Any]:  # noqa: UP006
        return []

    def add_done_callback(self, callback: Any) -> None:
        callback(self)

    def done(self) -> bool:
        return True


class _Method:
    """One method of a service."""

    def __init__(
        self, method: str, serializer: Any, deserializer: Any, answering: Answering
    ) -> None:
        self._method = method
        self._serializer = serializer
        self._deserializer = deserializer
        self._answering = answering

    def __call__(self, request: Any, *_: Any, **__: Any) -> Any:
        from google.protobuf import json_format  # noqa: PLC0415 - the application's

        asked = _content(request)
        empty = _plain(self._deserializer(b""))
        said = _said(self._method, asked, self._answering)
        json_format.ParseDict(said, empty, ignore_unknown_fields=True)
        return self._deserializer(empty.SerializeToString())

    def with_call(self, request: Any, *_: Any, **__: Any) -> Any:
        answer = self(request)
        return answer, _Call(answer)

    def future(self, request: Any, *_: Any, **__: Any) -> _Call:
        return _Call(self(request))


def _plain(message: Any) -> Any:
    """Return the protobuf message behind one of proto-plus, or itself."""
    plain = getattr(type(message), "pb", None)
    return message if plain is None else plain(message)


def _said(method: str, asked: Json, answering: Answering) -> Json:
    name = method.rpartition("/")[2]
    if name == "BatchAnnotateImages":
        return {"responses": [_of_image(one, answering) for one in asked.get("requests", [])]}
    if name not in _METHODS:
        raise UnknownOperationError(name)
    said = answering(_METHODS[name], _about(asked))
    if "error" in said:
        raise _refused(said["error"])
    return said["answer"]


def _about(asked: Json) -> bytes:
    """Return what a service is asked about: what it holds, or else where it lies."""
    if "document" in asked:
        document = asked["document"]
        text = document.get("content") or document.get("gcs_content_uri", "")
        return str(text).encode()
    held = asked.get("image") or asked.get("audio") or {}
    if "content" in held:
        return base64.b64decode(held["content"])
    source = held.get("source", held)
    places = (source.get(name, "") for name in ("image_uri", "gcs_image_uri", "uri"))
    return next(filter(None, places), "").encode()


def _of_image(request: Json, answering: Answering) -> Json:
    found: Dict[str, Any] = {}  # noqa: UP006
    for kind in _kinds(request):
        if kind not in _FEATURES:
            raise UnknownOperationError(kind)
        said = answering(_FEATURES[kind], _about(request))
        if "error" not in said:
            found.update(said["answer"])
        elif said["error"]["code"] == _OF_ONE_IMAGE:
            found["error"] = {"code": 3, "message": said["error"]["message"]}
        else:
            raise _refused(said["error"])
    return found


def _refused(error: Json) -> Exception:
    """Return what a channel raises when the service answers with an error."""
    import grpc  # noqa: PLC0415 - the application's

    class Refused(grpc.RpcError):  # type: ignore[misc,name-defined,unused-ignore]
        """As grpc's own: the failure and the call that failed in one."""

        def code(self) -> Any:
            return grpc.StatusCode[error["code"]]

        def details(self) -> str:
            return str(error["message"])

        def trailing_metadata(self) -> List[Any]:  # noqa: UP006
            return []

        initial_metadata = trailing_metadata

        def result(self, timeout: Any = None) -> Any:
            del timeout
            raise self

        def exception(self, timeout: Any = None) -> Any:
            del timeout
            return self

        def done(self) -> bool:
            return True

    return Refused(error["message"])
