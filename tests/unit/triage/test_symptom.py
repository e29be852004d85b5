"""Symptoms of crashes, by the log line that states the reason."""

from __future__ import annotations

from ciguard.domain.outcomes import Crashed
from ciguard.triage import summary_line, symptom_of

ABSEIL = (
    "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR\n"
    "F0000 00:00:1795268234.915669  174 tensor_shape.cc:362] Check failed: d < dims() (1 vs. 1)\n"
    "*** Check failure stack trace: ***\n"
    "    @ 0x7fbc32ace564  absl::log_internal::LogMessage::SendToLog()\n"
)
OLDER = (
    "2026-11-21 12:25:53.685878: F tensorflow/core/framework/tensor_shape.cc:587] "
    "Check failed: d < dims() (4 vs. 2)\n"
)


def test_summary_line_is_the_failed_check_not_its_stack_trace() -> None:
    line = summary_line(Crashed("SIGABRT", (), ABSEIL))

    assert line == "SIGABRT: tensor_shape.cc:362] Check failed: d < dims() (1 vs. 1)"


def test_symptom_of_a_check_is_equal_in_both_formats_of_tensorflows_log() -> None:
    newer = symptom_of(Crashed("SIGABRT", (), ABSEIL))
    older = symptom_of(Crashed("SIGABRT", (), OLDER))

    assert newer == older
    assert newer.name == "failed check"
