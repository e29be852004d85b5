"""Classifies messages of CUDA and of libraries that use CUDA.

The next call reports the error of a kernel. Most errors are sticky: every later call in the same
context fails, so the process must be replaced.

Source: CUDA Driver API, section `CUresult`, which states for each error whether the process must
end.
"""

from __future__ import annotations

import re

from ciguard.libraries.in_target.contract import ERRORED, EXHAUSTED, LOST, REJECTED

_STICKY_ERRORS = (
    (r"device-side assert triggered|CUDA_ERROR_ASSERT\b|cudaErrorAssert", "device-side assertion"),
    (
        r"illegal memory access|CUDA_ERROR_ILLEGAL_ADDRESS|cudaErrorIllegalAddress",
        "illegal memory access",
    ),
    (
        r"misaligned address|CUDA_ERROR_MISALIGNED_ADDRESS|cudaErrorMisalignedAddress",
        "misaligned address",
    ),
    (
        r"operation not supported on global/shared address space|CUDA_ERROR_INVALID_ADDRESS_SPACE",
        "invalid address space",
    ),
    (r"invalid program counter|CUDA_ERROR_INVALID_PC", "invalid program counter"),
    (r"an illegal instruction|CUDA_ERROR_ILLEGAL_INSTRUCTION", "illegal instruction"),
    (r"hardware stack error|CUDA_ERROR_HARDWARE_STACK_ERROR", "stack error"),
    (r"launch timed out|CUDA_ERROR_LAUNCH_TIMEOUT|cudaErrorLaunchTimeout", "launch timeout"),
    (
        r"unspecified launch failure|CUDA_ERROR_LAUNCH_FAILED|cudaErrorLaunchFailure",
        "launch failure",
    ),
    (r"uncorrectable ECC error|CUDA_ERROR_ECC_UNCORRECTABLE", "ECC error"),
)
_STICKY_PATTERNS = {name: re.compile(pattern) for pattern, name in _STICKY_ERRORS}

_EXHAUSTED = re.compile(
    r"(?:CUDA(?: (?:driver )?error:)?|Triton Error \[CUDA\]:) out of memory"
    r"|CUDA_ERROR_OUT_OF_MEMORY|cudaErrorMemoryAllocation"
    r"|Dst tensor is not initialized"  # TensorFlow, if a copy to the device finds no memory
    r"|(?:CUBLAS_STATUS|CUDNN_STATUS|CUSOLVER_STATUS|CUSPARSE_STATUS|CUFFT|CURAND_STATUS)"
    r"_(?:INTERNAL_ERROR_DEVICE_|INTERNAL_ERROR_HOST_)?ALLOC(?:ATION)?_FAILED"
)
_INTERNAL = re.compile(
    r"(?:CUBLAS_STATUS|CUDNN_STATUS|CUSOLVER_STATUS|CUSPARSE_STATUS|CURAND_STATUS)"
    r"_(?:EXECUTION_FAILED|INTERNAL_ERROR|LAUNCH_FAILURE|MAPPING_ERROR)"
    r"|CUFFT_(?:INTERNAL_ERROR|EXEC_FAILED)"
    r"|(?:CUDA (?:driver )?error|Triton Error \[CUDA\]): (?:invalid configuration argument"
    r"|invalid argument|invalid resource handle|invalid device function"
    r"|too many resources requested for launch|device kernel image is invalid)"
    r"|CUDA_ERROR_INVALID_(?:VALUE|HANDLE|IMAGE)|CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
)
_HINTS = ("CU", "cuda", "illegal memory", "device-side", "Dst tensor")
"""Substrings: every message that is classified contains one, and few others do."""
_MARKS = (
    "CUDA error", "CUDA_ERROR_", "cudaError", "CUDA out of memory", "_STATUS_", "CUFFT_",
    "CUDA driver error", "Triton Error [CUDA]", "Dst tensor is not",
    "device-side assert triggered", "illegal memory access", "misaligned address",
    "operation not supported on global/shared address space", "invalid program counter",
    "an illegal instruction", "hardware stack error", "launch timed out",
    "unspecified launch failure", "uncorrectable ECC error",
)  # fmt: skip
"""Substrings: every message that a pattern matches contains one.

Libraries name CUDA in many rejections. A search for the patterns takes longer than most calls."""


def kind_of_device_error(message: str) -> str:
    """Return LOST, EXHAUSTED or ERRORED; REJECTED for messages that no pattern matches."""
    if not _contains_any(message, _HINTS) or not _contains_any(message, _MARKS):
        return REJECTED
    if _EXHAUSTED.search(message):
        return EXHAUSTED
    if cause_of_loss(message):
        return LOST
    return ERRORED if _INTERNAL.search(message) else REJECTED


def _contains_any(message: str, substrings: tuple[str, ...]) -> bool:
    for substring in substrings:  # noqa: SIM110 - a generator takes twice as long
        if substring in message:
            return True
    return False


def cause_of_loss(message: str) -> str:
    """Return the name of the sticky error in a message; empty if there is none."""
    return next((name for name, pattern in _STICKY_PATTERNS.items() if pattern.search(message)), "")
