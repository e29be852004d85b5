"""A gRPC server that forwards requests by HTTP, as JSON, and returns the answers.

`emulation/` starts it through the worker's bootstrap, in an interpreter with the client libraries,
which define the messages. Apart from them, it uses the standard library only, Python 3.9 and later.
"""

from __future__ import annotations

import functools
import http.client
import importlib
import json
import re
import socket
from concurrent import futures
from typing import Any, Dict, List

from ciguard.levels.app.providers.google.in_target.messages import RefusedError

Json = Any
_METHOD = re.compile(r"/google\.cloud\.(\w+)\.(\w+)\.\w+/(\w+)", re.ASCII)
_PLAIN_PATH = re.compile(r"/[\w./-]{1,200}", re.ASCII)
_LONG_RUNNING = "LongRunningRecognize"
"""Method that returns an operation instead of its answer."""
_THREADS = 16
_MAX_LENGTH = 1000
"""Maximum length of an error message, which is sent in a header."""
_GRACE_S = 1.0


def run(settings: Json, descriptor: int) -> None:
    """Serve until the process that started the server closes the socket.

    Args:
        settings: `host` and `port` to listen on; `rest`, the host and port to forward requests to;
            `versions`, the versions by service; `max_bytes`, the maximum size of a request.
        descriptor: file descriptor of the socket; for each line, the server's state is sent back.
    """
    with socket.socket(fileno=descriptor) as channel:
        incoming = channel.makefile("r", encoding="utf-8")
        outgoing = channel.makefile("w", encoding="utf-8")
        outgoing.write(json.dumps({"ready": ""}) + "\n")
        outgoing.flush()
        service = _Service(settings)
        state = service.start()
        for _ in incoming:
            outgoing.write(json.dumps(state) + "\n")
            outgoing.flush()
        service.stop()


class _Service:
    def __init__(self, settings: Json) -> None:
        self._settings = settings
        self._server: Any = None

    def start(self) -> Json:
        """Start serving, and return the `port` and the served `versions`.

        After a failure, return `missing`, an import error, or `problem`, an error of the address.
        """
        try:
            grpc = importlib.import_module("grpc")
            importlib.import_module("google.protobuf.json_format")
        except ImportError as error:
            return {"missing": str(error)}
        versions = self._versions()
        if not versions:
            names = ", ".join("google-cloud-" + name for name in self._settings["versions"])
            return {"missing": f"none of {names} can be imported"}
        self._server = self._new_server(grpc)
        host, port = self._settings["host"], self._settings["port"]
        try:
            address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            port = self._server.add_insecure_port(address)
        except RuntimeError:
            port = 0
        if not port:
            return {"problem": "the address is in use, or is not an address of this machine"}
        self._server.start()
        return {"port": port, "versions": versions}

    def stop(self) -> None:
        """Stop the server, with a grace period for pending requests."""
        if self._server is not None:
            self._server.stop(_GRACE_S).wait()

    def _new_server(self, grpc: Any) -> Any:
        class Methods(grpc.GenericRpcHandler):  # type: ignore[misc,name-defined,unused-ignore]
            """Accepts every method; the HTTP services refuse those that are not supported."""

            def __init__(self, answer: Any) -> None:
                self._answer = answer

            def service(self, details: Any) -> Any:
                answer = functools.partial(self._answer, details.method)
                return grpc.unary_unary_rpc_method_handler(answer)

        options = [
            ("grpc.max_receive_message_length", self._settings["max_bytes"]),
            ("grpc.so_reuseport", 0),  # a port that is in use is an error
        ]
        server = grpc.server(futures.ThreadPoolExecutor(_THREADS), options=options)
        server.add_generic_rpc_handlers((Methods(self._answer),))
        return server

    def _versions(self) -> Dict[str, List[str]]:
        """Return the versions of each service whose messages are installed."""
        installed = {
            service: [version for version in versions if _types(service, version) is not None]
            for service, versions in self._settings["versions"].items()
        }
        return {service: versions for service, versions in installed.items() if versions}

    def _answer(self, method: str, request: bytes, context: Any) -> bytes:
        """Return the encoded answer to an encoded request, or end the call with an error."""
        import grpc

        try:
            return self._answer_in_bytes(method, request)
        except RefusedError as error:
            context.abort(grpc.StatusCode[error.code], error.message[:_MAX_LENGTH])
            raise  # unreachable, as `abort` raises an exception

    def _answer_in_bytes(self, method: str, request: bytes) -> bytes:
        """Return the encoded answer to an encoded request.

        Raises:
            RefusedError: if the request is refused, or the method's messages are not installed.
        """
        from google.protobuf import json_format, message

        classes = _messages(method)
        if classes is None:
            if _PLAIN_PATH.fullmatch(method):
                self._forward(method, b"")  # so that the HTTP side logs it
            raise _refusal(code="UNIMPLEMENTED", message=f"ciguard does not support {method}.")
        request_class, answer_class = classes
        try:
            request_json = json_format.MessageToJson(request_class.FromString(request)).encode()
        except message.DecodeError:
            request_json = b""  # the HTTP side refuses and logs it
        response = self._forward(method, request_json)
        if "error" in response:
            error = response["error"]
            raise _refusal(code=error["status"], message=error["message"])
        try:
            answer = json_format.ParseDict(response, answer_class(), ignore_unknown_fields=True)
        except json_format.ParseError as error:  # for example after a recording was edited
            raise _refusal(
                code="INTERNAL",
                message=f"{method}: the recorded answer is not a valid message: {error}",
            ) from error
        return bytes(answer.SerializeToString())

    def _forward(self, method: str, body: bytes) -> Json:
        """Return the JSON answer of the HTTP server to a request."""
        connection = http.client.HTTPConnection(*self._settings["rest"])
        try:
            connection.request("POST", method, body)
            return json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException) as error:
            raise _refusal(code="UNAVAILABLE", message=type(error).__name__) from error
        finally:
            connection.close()


def _refusal(*, code: str, message: str) -> RefusedError:
    return RefusedError({"code": code, "message": message})


def _types(service: str, version: str) -> Any:
    """Return the module with the messages of a service's version; None if it is not installed."""
    try:
        return importlib.import_module(f"google.cloud.{service}_{version}.types")
    except ImportError:
        return None


def _messages(method: str) -> Any:
    """Return the message classes of a method's request and answer; None if not installed."""
    from google.longrunning import operations_pb2

    match = _METHOD.fullmatch(method)
    types = None if match is None else _types(match.group(1), match.group(2))
    if match is None or types is None:
        return None
    name = match.group(3)
    request_class, answer_class = (
        getattr(types, name + kind, None) for kind in ("Request", "Response")
    )
    if request_class is None or answer_class is None:
        return None
    returned_class = operations_pb2.Operation if name == _LONG_RUNNING else answer_class
    return _as_protobuf_class(request_class), _as_protobuf_class(returned_class)


def _as_protobuf_class(message: Any) -> Any:
    """Return the protobuf class that a class of proto-plus wraps; others are unchanged."""
    protobuf_class = getattr(message, "pb", None)
    return message if protobuf_class is None else protobuf_class()
