"""Reporters: each receives a campaign's events and writes one artefact.

To add a report, add one file to this package and one `register` line below. Reporters neither run
cases nor judge outcomes.
"""

from ciguard.reports.code_quality import CodeQualityReporter
from ciguard.reports.contract import CONSOLES, REPORTERS, Destination, Reporter, ReporterFactory
from ciguard.reports.detail import bucket_lines, grouping_lines, table_lines
from ciguard.reports.dispatch import DispatchResult, ReporterFailure, dispatch
from ciguard.reports.documentation import DocumentationReporter, documentation_text
from ciguard.reports.explanation import write_explanation
from ciguard.reports.extraction import extraction_lines
from ciguard.reports.files import write_atomically
from ciguard.reports.github import GithubReporter, fenced
from ciguard.reports.html import HtmlReporter, history_files
from ciguard.reports.jsonl import JsonReporter
from ciguard.reports.junit import JunitReporter
from ciguard.reports.plain import PlainReporter
from ciguard.reports.received import ReceivedRun, receive_run
from ciguard.reports.remarks import workflow_commands
from ciguard.reports.sarif import SarifReporter, sarif_text
from ciguard.reports.status import Status, status_of, status_without_results
from ciguard.reports.stored import read_buckets
from ciguard.reports.summary import SummaryReporter
from ciguard.reports.terminal import TerminalReporter
from ciguard.reports.wording import in_display_order, outcome_text, short_fingerprint, stack_of

__all__ = [
    "CONSOLES",
    "REPORTERS",
    "Destination",
    "DispatchResult",
    "ReceivedRun",
    "Reporter",
    "ReporterFactory",
    "ReporterFailure",
    "Status",
    "bucket_lines",
    "dispatch",
    "documentation_text",
    "extraction_lines",
    "fenced",
    "grouping_lines",
    "history_files",
    "in_display_order",
    "outcome_text",
    "read_buckets",
    "receive_run",
    "sarif_text",
    "short_fingerprint",
    "stack_of",
    "status_of",
    "status_without_results",
    "table_lines",
    "workflow_commands",
    "write_atomically",
    "write_explanation",
]

REPORTERS.register("summary", SummaryReporter)
REPORTERS.register("html", HtmlReporter)
REPORTERS.register("junit", JunitReporter)
REPORTERS.register("json", JsonReporter)
REPORTERS.register("sarif", SarifReporter)
REPORTERS.register("code-quality", CodeQualityReporter)
REPORTERS.register("documentation", DocumentationReporter)
REPORTERS.register("terminal", TerminalReporter)
REPORTERS.register("plain", PlainReporter)
REPORTERS.register("github", GithubReporter)
