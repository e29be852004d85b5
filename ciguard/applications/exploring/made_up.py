"""Values for what says where a service is, and who asks it: no service is asked with these."""

from __future__ import annotations

import re

_BY_NAME = (
    (
        re.compile("ENDPOINT|URL|HOST", re.IGNORECASE),
        "https://example.cognitiveservices.azure.com/",
    ),
    (re.compile("REGION|LOCATION", re.IGNORECASE), "us-east-1"),
    (re.compile("BUCKET", re.IGNORECASE), "bucket"),
    (re.compile("KEY|SECRET|TOKEN|SUBSCRIPTION", re.IGNORECASE), "0123456789abcdef" * 2),
)


def made_up(name: str) -> str:
    """Return a value for a variable of the environment, or a parameter; empty for any other."""
    return next((value for pattern, value in _BY_NAME if pattern.search(name)), "")
