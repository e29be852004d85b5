"""A service of gRPC, which hands requests on by HTTP, as JSON, and brings the answers back.

Started by `emulation/` through the worker's bootstrap, beside the client libraries that have the
messages. Runs in the application's interpreter: standard library only, Python 3.9 and later.
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
_PLAIN = re.compile(r"/[\w./-]{1,200}", re.ASCII)
_OPERATION = "LongRunningRecognize"
_THREADS = 16
_MAX_LENGTH = 1000
"""Of a message, which travels in a header."""
_GRACE_S = 1.0


def run(settings: Json, descriptor: int) -> None:
    """Serve until the other side closes its end.

    Args:
        settings: `host` and `port` to listen on; `rest`, host and port that requests are handed on
            to; `versions` of each service; `most_bytes` of a request.
        descriptor: of a socket, on which each line asks how it is.
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
        """Return the `port`, and the `versions` of each service; or what stands against it.

        That is what is `missing`, or the `problem` with the address.
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
        self._server = self._made(grpc)
        host, port = self._settings["host"], self._settings["port"]
        try:
            address = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
            port = self._server.add_insecure_port(address)
        except RuntimeError:
            port = 0
        if not port:
            return {"problem": "the address is taken, or not of this machine"}
        self._server.start()
        return {"port": port, "versions": versions}

    def stop(self) -> None:
        """End it, and give requests that are under way a moment."""
        if self._server is not None:
            self._server.stop(_GRACE_S).wait()

    def _made(self, grpc: Any) -> Any:
        class Methods(grpc.GenericRpcHandler):  # type: ignore[misc,name-defined,unused-ignore]
            """Has every method that may be asked; which are answered, the other side knows."""

            def __init__(self, answer: Any) -> None:
                self._answer = answer

            def service(self, details: Any) -> Any:
                answer = functools.partial(self._answer, details.method)
                return grpc.unary_unary_rpc_method_handler(answer)

        options = [
            ("grpc.max_receive_message_length", self._settings["most_bytes"]),
            ("grpc.so_reuseport", 0),  # a port that is taken is an error
        ]
        server = grpc.server(futures.ThreadPoolExecutor(_THREADS), options=options)
        server.add_generic_rpc_handlers((Methods(self._answer),))
        return server

    def _versions(self) -> Dict[str, List[str]]:
        """Return the versions of each service that there are messages of."""
        found = {
            service: [one for one in versions if _types(service, one) is not None]
            for service, versions in self._settings["versions"].items()
        }
        return {service: versions for service, versions in found.items() if versions}

    def _answer(self, method: str, request: bytes, context: Any) -> bytes:
        import grpc

        try:
            return self._answered(method, request)
        except RefusedError as error:
            context.abort(grpc.StatusCode[error.code], error.message[:_MAX_LENGTH])
            raise  # never: it has raised

    def _answered(self, method: str, request: bytes) -> bytes:
        """Return the answer to a request, both as messages of the method.

        Raises:
            RefusedError: if it is refused, or no messages of the method are here.
        """
        from google.protobuf import json_format, message

        classes = _messages(method)
        if classes is None:
            if _PLAIN.fullmatch(method):
                self._handed_on(method, b"")  # so that it is told there
            raise _refused(code="UNIMPLEMENTED", message=f"{method}: not answered here.")
        asking, answering = classes
        try:
            asked = json_format.MessageToJson(asking.FromString(request)).encode()
        except message.DecodeError:
            asked = b""  # refused there as well, and told
        said = self._handed_on(method, asked)
        if "error" in said:
            error = said["error"]
            raise _refused(code=error["status"], message=error["message"])
        try:
            answer = json_format.ParseDict(said, answering(), ignore_unknown_fields=True)
        except json_format.ParseError as error:  # of a recording that somebody has changed
            raise _refused(code="INTERNAL", message=f"the answer is no message: {error}") from error
        return bytes(answer.SerializeToString())

    def _handed_on(self, method: str, asked: bytes) -> Json:
        connection = http.client.HTTPConnection(*self._settings["rest"])
        try:
            connection.request("POST", method, asked)
            return json.loads(connection.getresponse().read())
        except (OSError, http.client.HTTPException) as error:
            raise _refused(code="UNAVAILABLE", message=type(error).__name__) from error
        finally:
            connection.close()


def _refused(*, code: str, message: str) -> RefusedError:
    return RefusedError({"code": code, "message": message})


def _types(service: str, version: str) -> Any:
    """Return the module with the messages of a service; None if there is none here."""
    try:
        return importlib.import_module(f"google.cloud.{service}_{version}.types")
    except ImportError:
        return None


def _messages(method: str) -> Any:
    """Return the classes of a method's request and answer; None if they are not here."""
    from google.longrunning import operations_pb2

    found = _METHOD.fullmatch(method)
    types = None if found is None else _types(found.group(1), found.group(2))
    if found is None or types is None:
        return None
    name = found.group(3)
    asking, answering = (getattr(types, name + kind, None) for kind in ("Request", "Response"))
    if asking is None or answering is None:
        return None
    later = operations_pb2.Operation if name == _OPERATION else answering
    return _protobuf(asking), _protobuf(later)


def _protobuf(message: Any) -> Any:
    """Return the class behind one of proto-plus, or itself."""
    behind = getattr(message, "pb", None)
    return message if behind is None else behind()
