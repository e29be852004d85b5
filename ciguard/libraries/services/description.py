"""Descriptions of clients of cognitive services. Applications that use them are tested."""

from __future__ import annotations

from pathlib import Path

from ciguard.libraries.library import Companion, ForkPolicy, Library

_MODULES = (
    ("google-cloud-vision", "google.cloud.vision"),
    ("google-cloud-language", "google.cloud.language"),
    ("google-cloud-speech", "google.cloud.speech"),
    ("boto3", "boto3"),
    ("azure-ai-textanalytics", "azure.ai.textanalytics"),
    ("azure-ai-vision-imageanalysis", "azure.ai.vision.imageanalysis"),
    (
        "azure-cognitiveservices-vision-computervision",
        "azure.cognitiveservices.vision.computervision",
    ),
)
"""Distributions, each with its import name."""

CLIENTS = tuple(
    Library(
        name=name,
        distributions=(name,),
        module=module,
        adapter=Path(__file__).parent / "in_target" / "adapter.py",
        has_api=False,
        companions=(Companion(requirement="numpy"),),
        forks=ForkPolicy.NEVER,
    )
    for name, module in _MODULES
)
"""Descriptions of all supported clients."""
