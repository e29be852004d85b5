"""Google's clients, new and old, ask ciguard: their channel is replaced, they themselves are not.

Messages are made by the client's own classes, so that an application gets what it would get from
the service: repeated fields, enumerations, absent parts.
"""

from __future__ import annotations

import contextlib
import importlib
import re
import time
from typing import Any, List

from ciguard.levels.app.in_target.asking import (
    Answering,
    Hearing,
    Json,
    refuse_addresses,
    refusing,
)
from ciguard.levels.app.in_target.hooks import Hook
from ciguard.levels.app.providers.google.in_target.messages import RefusedError, answered, heard

_SERVICES = (".googleapis.com", ".google.com")
MADE = {
    "vision": [("google.cloud.vision", "ImageAnnotatorClient")],
    "language": [("google.cloud.language", "LanguageServiceClient")],
    "speech": [("google.cloud.speech", "SpeechClient")],
}
"""Modules and classes of clients, by their names among the descriptions."""
_OF_OLD_CLIENTS = re.compile(
    r"cannot import name '(?:types|enums)' from 'google\.cloud\.(?P<imported>[a-z]+)"
    r"|No module named 'google\.cloud\.(?P<sought>[a-z]+)\w*\.(?:types|enums)'"
    r"|module 'google\.cloud\.(?P<read>[a-z]+)\w*' has no attribute '(?:types|enums)'"
)


class GoogleHook(Hook):
    """Stands between an application and Google's clients."""

    def intercept(self, answering: Answering) -> None:
        """Have every client that is made from now on ask `answering`."""
        import google.auth
        import grpc
        from google.api_core import grpc_helpers
        from google.auth.credentials import AnonymousCredentials
        from google.oauth2 import service_account

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

    def observe(self, hearing: Hearing) -> None:
        """Have every client that is made from now on ask its service, and `hearing` told of it.

        Asynchronous clients and those that speak REST ask theirs too; nothing is told of those.
        """
        import grpc
        from google.api_core import grpc_helpers

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

    def client(self, name: str) -> Any:
        """Return a new client, of whichever version is here, by its name among the descriptions."""
        ((module, kind),) = MADE[name]
        return getattr(importlib.import_module(module), kind)()

    def advice(self, message: str) -> str:
        """Return which clients what an exception misses is of; see `Hook`."""
        old = _OF_OLD_CLIENTS.search(message)
        if old is None:
            return ""
        package = next(filter(None, old.groups()))
        return f"It is written for clients of before 2020, such as google-cloud-{package}<2"


HOOK = GoogleHook()


def _hear(method: str, request: Any, call: Any, hearing: Hearing) -> None:
    error = call.exception()
    if error is not None:
        said = {"error": {"code": error.code().name, "message": str(error.details())}}
    else:
        said = {"answer": content(call.result())}
    heard(method, content(request), said, hearing)


def content(message: Any) -> Json:
    """Return a message as JSON, keys as the message writes them."""
    from google.protobuf import json_format

    return json_format.MessageToDict(plain(message), preserving_proto_field_name=True)


def _refuse_other_ways() -> None:
    """Have clients that do without this channel, by REST or asynchronously, ask nobody."""
    import grpc
    from google.api_core import grpc_helpers_async

    grpc_helpers_async.create_channel = refusing("an asynchronous client")
    asynchronous = getattr(grpc, "aio", None)
    for name in ("secure_channel", "insecure_channel"):
        if asynchronous is not None:
            setattr(asynchronous, name, refusing("an asynchronous client"))
    refuse_addresses(_SERVICES, "a client that speaks REST")
    with contextlib.suppress(ImportError):
        from google.auth.transport import requests

        requests.AuthorizedSession.request = refusing(  # type: ignore[method-assign,unused-ignore]
            "a client that speaks REST"
        )


def _channel(answering: Answering) -> Any:
    import grpc

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
            return refusing(method)

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


class _Call:
    """What an interceptor of the client is given: an answer that is there already."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def result(self, timeout: Any = None) -> Any:
        del timeout
        return self._answer

    def exception(self, timeout: Any = None) -> None:
        del timeout

    def trailing_metadata(self) -> List[Any]:
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

    def __call__(self, request: Any, timeout: Any = None, *_: Any, **__: Any) -> Any:
        from google.protobuf import json_format

        empty = plain(self._deserializer(b""))
        try:
            said = self._said(content(request), timeout)
        except RefusedError as error:
            raise _failure(error) from None
        json_format.ParseDict(said, empty, ignore_unknown_fields=True)
        return self._deserializer(empty.SerializeToString())

    def _said(self, asked: Json, limit_s: Any) -> Json:
        """Return an answer, when it is time; raise as a channel does where that is too late."""
        late_s: List[float] = []

        def answering(operation: str, about: bytes) -> Json:
            said = self._answering(operation, about)
            late_s.append(said.get("late_s", 0.0))
            return said

        try:
            return answered(self._method, asked, answering)
        finally:
            if limit_s is not None and sum(late_s) > limit_s:
                time.sleep(limit_s)
                error = {"code": "DEADLINE_EXCEEDED", "message": "Deadline Exceeded"}
                raise RefusedError(error)
            time.sleep(sum(late_s))

    def with_call(self, request: Any, timeout: Any = None, *_: Any, **__: Any) -> Any:
        answer = self(request, timeout)
        return answer, _Call(answer)

    def future(self, request: Any, timeout: Any = None, *_: Any, **__: Any) -> _Call:
        return _Call(self(request, timeout))


def plain(message: Any) -> Any:
    """Return the protobuf message behind one of proto-plus, or itself."""
    plain = getattr(type(message), "pb", None)
    return message if plain is None else plain(message)


def _failure(error: RefusedError) -> Exception:
    """Return what a channel raises when the service answers with an error."""
    import grpc

    class Refused(grpc.RpcError):  # type: ignore[misc,name-defined,unused-ignore]
        """As grpc's own: the failure and the call that failed in one."""

        def code(self) -> Any:
            return grpc.StatusCode[error.code]

        def details(self) -> str:
            return error.message

        def trailing_metadata(self) -> List[Any]:
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

    return Refused(error.message)
