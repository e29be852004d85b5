"""Google's Vision on the loopback interface, by the messages of its own client."""

from __future__ import annotations

from concurrent import futures
from contextlib import contextmanager
from textwrap import dedent
from typing import TYPE_CHECKING, Any

import grpc
from google.cloud import vision

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


@contextmanager
def vision_server(folder: Path, label: str) -> Iterator[list[int]]:
    """Recognise a label in every image, and yield a list of how large the images were.

    Args:
        folder: where a module is written that leads clients there, new and old ones, which know no
            better: it has to be on `PYTHONPATH`.
        label: the label.
    """
    sizes: list[int] = []

    def annotate(request: vision.BatchAnnotateImagesRequest, _: Any) -> Any:
        sizes.append(len(request.requests[0].image.content))
        found = vision.EntityAnnotation(description=label, score=0.9)
        answer = vision.AnnotateImageResponse(label_annotations=[found])
        return vision.BatchAnnotateImagesResponse(responses=[answer])

    handler = grpc.unary_unary_rpc_method_handler(
        annotate,
        request_deserializer=vision.BatchAnnotateImagesRequest.deserialize,
        response_serializer=vision.BatchAnnotateImagesResponse.serialize,
    )
    name = "google.cloud.vision.v1.ImageAnnotator"
    server = grpc.server(futures.ThreadPoolExecutor(max_workers=2))
    server.add_generic_rpc_handlers(
        (grpc.method_handlers_generic_handler(name, {"BatchAnnotateImages": handler}),)
    )
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(
        dedent(f"""
        import grpc
        import google.auth
        from google.api_core import grpc_helpers
        from google.auth.credentials import AnonymousCredentials

        google.auth.default = lambda *_, **__: (AnonymousCredentials(), "test")
        grpc_helpers.create_channel = lambda *_, **__: grpc.insecure_channel("127.0.0.1:{port}")
        """)
    )
    yield sizes
    server.stop(None)
