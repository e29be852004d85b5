"""Which environment variables a target may set for its workers, and why others are refused."""

from __future__ import annotations

import re

_SECRET = re.compile(
    r"(^|_)(TOKENS?|SECRETS?|PASS(WORD|WD|PHRASE)?|CREDENTIALS?|API_?KEYS?|KEY|AUTH|PAT|COOKIE)(_|$)"
)
_JOB = re.compile(r"(GH|GITHUB|ACTIONS|RUNNER)_.*")
_REFUSED = (
    (
        re.compile(r"(LD|DYLD)_.*|GCONV_PATH|GLIBC_TUNABLES"),
        "it decides what code is loaded into the worker, outside its confinement",
    ),
    (
        re.compile(r"PATH|PYTHON.*|VIRTUAL_ENV|BASH_ENV|ENV|IFS|SHELL|HOME|TMPDIR|TMP|TEMP"),
        "ciguard sets it, so that every worker of a target finds the same code and its own folder",
    ),
    (
        re.compile(r"(AWS|AZURE|GCP|GH|GITHUB|ACTIONS|RUNNER|CI|SSH|GPG|GOOGLE|DOCKER)_.*"),
        "it can carry credentials or reach the job that runs ciguard",
    ),
    (re.compile(r"(UV|PIP)_.*"), "it belongs to the installation: set it in ciguard's environment"),
    (re.compile(r"CIGUARD_.*"), "it is ciguard's own: set it in ciguard's environment"),
    (
        re.compile(r"(CUDA|NVIDIA)_VISIBLE_DEVICES|CUDA_DEVICE_ORDER"),
        "the target's device decides it: write @cpu, @cuda or @cuda:1",
    ),
    (re.compile(r"JITTOR_HOME"), "ciguard keeps the compiled kernels of each target apart"),
)


def refusal(name: str) -> str:
    """Return why a target may not set this variable; empty when it may."""
    upper = name.upper()
    for pattern, reason in _REFUSED:
        if pattern.fullmatch(upper):
            return reason
    if is_secret(name):
        return "its name looks like a secret's, and fuzzed code must never see one"
    return ""


def is_secret(name: str) -> bool:
    """Return whether a variable of this name is likely to hold a credential."""
    return bool(_SECRET.search(name.upper()) or _JOB.fullmatch(name.upper()))
