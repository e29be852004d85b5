"""Classification of the errors that CUDA and its libraries raise."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.libraries.in_target.contract import ERRORED, EXHAUSTED, LOST, REJECTED
from ciguard.libraries.in_target.device_errors import (
    _EXHAUSTED,
    _INTERNAL,
    _STICKY_PATTERNS,
    cause_of_loss,
    kind_of_device_error,
)

TORCH = (
    "CUDA error: {}\nCUDA kernel errors might be asynchronously reported at some other API call."
)


@pytest.mark.parametrize(
    ("message", "cause"),
    [
        (TORCH.format("an illegal memory access was encountered"), "illegal memory access"),
        (TORCH.format("device-side assert triggered"), "device-side assertion"),
        (TORCH.format("misaligned address"), "misaligned address"),
        (TORCH.format("unspecified launch failure"), "launch failure"),
        (TORCH.format("the launch timed out and was terminated"), "launch timeout"),
        (TORCH.format("an illegal instruction was encountered"), "illegal instruction"),
        ("INTERNAL: CUDA error: CUDA_ERROR_ILLEGAL_ADDRESS: an illegal", "illegal memory access"),
        ("CUDA error at op.cc:1 code=710( cudaErrorAssert ) sync", "device-side assertion"),
        ("Triton Error [CUDA]: an illegal memory access was encountered", "illegal memory access"),
    ],
)
def test_a_sticky_error_is_classified_as_lost_with_its_cause(message: str, cause: str) -> None:
    assert kind_of_device_error(message) == LOST
    assert cause_of_loss(message) == cause


@pytest.mark.parametrize(
    "message",
    [
        TORCH.format("invalid configuration argument"),
        "CUDA error: CUBLAS_STATUS_EXECUTION_FAILED when calling `cublasSgemm`",
        "cuDNN error: CUDNN_STATUS_INTERNAL_ERROR",
        "cuFFT error: CUFFT_INTERNAL_ERROR",
        "CUDA driver error: invalid argument",
        "Triton Error [CUDA]: device kernel image is invalid",
    ],
)
def test_an_execution_error_is_classified_as_internal(message: str) -> None:
    assert kind_of_device_error(message) == ERRORED
    assert cause_of_loss(message) == ""


@pytest.mark.parametrize(
    "message",
    [
        "CUDA out of memory. Tried to allocate 3725.29 GiB. GPU 0 has a total capacity of 139 GiB",
        TORCH.format("out of memory"),
        "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
        "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
        "CUDA_ERROR_OUT_OF_MEMORY: out of memory",
        "CUDA driver error: out of memory",
        "Triton Error [CUDA]: out of memory",
        "Failed copying input tensor to GPU:0 to run AddV2: Dst tensor is not initialized.",
    ],
)
def test_an_allocation_error_is_classified_as_exhausted(message: str) -> None:
    assert kind_of_device_error(message) == EXHAUSTED


@pytest.mark.parametrize(
    "message",
    [
        "index out of range in self",
        "Torch not compiled with CUDA enabled",
        "Expected all tensors to be on the same device, but found at least two, cuda:0 and cpu",
        "\"addmm_cuda\" not implemented for 'Long'",
    ],
)
def test_a_message_not_about_the_device_is_classified_as_rejected(message: str) -> None:
    assert kind_of_device_error(message) == REJECTED


PATTERNS = [_EXHAUSTED, _INTERNAL, *_STICKY_PATTERNS.values()]


@given(st.one_of([st.from_regex(pattern) for pattern in PATTERNS]))
def test_no_message_that_a_pattern_matches_is_skipped(message: str) -> None:
    assert kind_of_device_error(f"CUDA: {message}") != REJECTED
