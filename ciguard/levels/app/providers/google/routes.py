"""The paths of Google's services in REST and in gRPC."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ciguard.levels.app.providers.codes import Code, ServiceError

VERSIONS = {
    "vision": ("v1", "v1p1beta1", "v1p2beta1", "v1p3beta1", "v1p4beta1"),
    "language": ("v1", "v1beta2"),
    "speech": ("v1", "v1p1beta1"),
}
"""Supported versions of each service; their requests and answers are the same."""
_REST = re.compile(
    r"/(?P<version>v\w+)/(?:projects/[^/:]+/(?:locations/[^/:]+/)?)?(?P<verb>\w+:\w+)"
)


@dataclass(frozen=True, slots=True)
class GoogleRoute:
    """One method of a service, with its paths in REST and in gRPC."""

    service: str
    """Name of the service in gRPC packages, such as `vision`."""
    interface: str
    """Name of the gRPC interface, such as `ImageAnnotator`."""
    name: str
    verb: str
    """Resource and verb in REST, such as `images:annotate`."""

    def method(self, version: str) -> str:
        """Return the path of the method in gRPC, for a version of the service."""
        return f"/google.cloud.{self.service}.{version}.{self.interface}/{self.name}"


ROUTES = (
    GoogleRoute("vision", "ImageAnnotator", "BatchAnnotateImages", "images:annotate"),
    GoogleRoute("language", "LanguageService", "AnalyzeSentiment", "documents:analyzeSentiment"),
    GoogleRoute("language", "LanguageService", "AnalyzeEntities", "documents:analyzeEntities"),
    GoogleRoute(
        "language", "LanguageService", "AnalyzeEntitySentiment", "documents:analyzeEntitySentiment"
    ),
    GoogleRoute("language", "LanguageService", "ClassifyText", "documents:classifyText"),
    GoogleRoute("speech", "Speech", "Recognize", "speech:recognize"),
    GoogleRoute("speech", "Speech", "LongRunningRecognize", "speech:longrunningrecognize"),
)
_BY_VERB = {route.verb: route for route in ROUTES}
_METHODS = {route.method(version): route for route in ROUTES for version in VERSIONS[route.service]}


def find_route(path: str) -> tuple[GoogleRoute, str]:
    """Return the route of a path, and the path in gRPC.

    Args:
        path: path in REST, such as `/v1/images:annotate`, or in gRPC; a query is ignored.

    Raises:
        ServiceError: if the path is not supported.
    """
    path = path.partition("?")[0]
    match = _REST.fullmatch(path)
    if match is not None and match["verb"] in _BY_VERB:
        route = _BY_VERB[match["verb"]]
        path = route.method(match["version"])
        if path not in _METHODS:
            known = ", ".join(VERSIONS[route.service])
            msg = f"This version is not supported. Supported are {known}."
            raise ServiceError(Code.UNIMPLEMENTED, msg)
    if path not in _METHODS:
        known = f"{', '.join(_BY_VERB)}, also by gRPC, and requests in the JSON of AWS and Azure"
        msg = f"Not supported here. Supported are {known}."
        raise ServiceError(Code.UNIMPLEMENTED, msg)
    return _METHODS[path], path
