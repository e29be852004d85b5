"""Environment variables that a target must not set for its workers, or that contain secrets."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"(^|_)(TOKENS?|SECRETS?|PASS(WORD|WD|PHRASE)?|CREDENTIALS?|API_?KEYS?|KEY|AUTH|PAT|COOKIE)(_|$)"
)
_JOB_VARIABLE = re.compile(r"(GH|GITHUB|ACTIONS|RUNNER)_.*")
_REFUSED = (
    (
        re.compile(r"(LD|DYLD)_.*|GCONV_PATH|GLIBC_TUNABLES"),
        ("the variable changes which code the worker loads, outside of the worker's confinement"),
    ),
    (
        re.compile(r"PATH|PYTHON.*|VIRTUAL_ENV|BASH_ENV|ENV|IFS|SHELL|HOME|TMPDIR|TMP|TEMP"),
        (
            "ciguard sets the variable, so that all workers of a target use the same code "
            "and their own folder"
        ),
    ),
    (
        re.compile(r"(AWS|AZURE|GCP|GH|GITHUB|ACTIONS|RUNNER|CI|SSH|GPG|GOOGLE|DOCKER)_.*"),
        "the variable can contain credentials or reach the job that runs ciguard",
    ),
    (
        re.compile(r"(UV|PIP)_.*"),
        "the variable is for the installation: set it in ciguard's own environment",
    ),
    (
        re.compile(r"CIGUARD_.*"),
        "the variable configures ciguard: set it in ciguard's own environment",
    ),
    (
        re.compile(r"(CUDA|NVIDIA)_VISIBLE_DEVICES|CUDA_DEVICE_ORDER"),
        ("ciguard derives the variable from the target's device: write @cpu, @cuda or @cuda:1"),
    ),
    (
        re.compile(r"NVIDIA_TF32_OVERRIDE"),
        "ciguard derives the variable from the target's mode: write tf32, or no mode",
    ),
    (
        re.compile(r"JITTOR_HOME"),
        "ciguard sets the variable, to separate the compiled kernels of targets",
    ),
)


def refusal(name: str) -> str:
    """Return the reason why a target must not set a variable; empty if the target may set it."""
    upper = name.upper()
    for pattern, reason in _REFUSED:
        if pattern.fullmatch(upper):
            return reason
    if is_secret(name):
        return "the variable's name suggests a secret, which fuzzed code must not see"
    return ""


def is_secret(name: str) -> bool:
    """Return whether a variable of this name probably contains a credential."""
    return bool(_SECRET.search(name.upper()) or _JOB_VARIABLE.fullmatch(name.upper()))
