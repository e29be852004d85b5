"""Reporters: each receives a campaign's events and writes one artefact.

To add a report, add one file to this package and one `register` line below. Reporters execute no
case, judge no outcome and make no decision.
"""

from ciguard.reports.accuracy import accuracy_summary, assessed_lines
from ciguard.reports.app_remarks import AppRemarks
from ciguard.reports.code_quality import CodeQualityReporter
from ciguard.reports.contract import CONSOLES, REPORTERS, Destination, Reporter, ReporterFactory
from ciguard.reports.detail import bucket_lines, grouping_lines, table_lines
from ciguard.reports.dispatch import Dispatched, ReporterFailure, dispatch
from ciguard.reports.documentation import DocumentationReporter, documentation_text
from ciguard.reports.emulation import RequestLog, emulation_lines
from ciguard.reports.explanation import explain_in
from ciguard.reports.extraction import extraction_lines
from ciguard.reports.files import write_atomically
from ciguard.reports.github import GithubReporter
from ciguard.reports.html import HtmlReporter, history_files, write_accuracy_page
from ciguard.reports.jsonl import JsonReporter
from ciguard.reports.junit import JunitReporter
from ciguard.reports.patches import write_patches
from ciguard.reports.plain import PlainReporter
from ciguard.reports.received import ReceivedRun, receive_run
from ciguard.reports.remarks import workflow_commands
from ciguard.reports.sarif import SarifReporter, sarif_text
from ciguard.reports.services import explored_lines, services_lines, services_to_json, unread_lines
from ciguard.reports.status import Status, lost_status, status_of
from ciguard.reports.stored import read_buckets
from ciguard.reports.summary import SummaryReporter
from ciguard.reports.terminal import TerminalReporter
from ciguard.reports.wording import ordered, outcome_text, short, stack_of

__all__ = [
    "CONSOLES",
    "REPORTERS",
    "AppRemarks",
    "Destination",
    "Dispatched",
    "ReceivedRun",
    "Reporter",
    "ReporterFactory",
    "ReporterFailure",
    "RequestLog",
    "Status",
    "accuracy_summary",
    "assessed_lines",
    "bucket_lines",
    "dispatch",
    "documentation_text",
    "emulation_lines",
    "explain_in",
    "explored_lines",
    "extraction_lines",
    "grouping_lines",
    "history_files",
    "lost_status",
    "ordered",
    "outcome_text",
    "read_buckets",
    "receive_run",
    "sarif_text",
    "services_lines",
    "services_to_json",
    "short",
    "stack_of",
    "status_of",
    "table_lines",
    "unread_lines",
    "workflow_commands",
    "write_accuracy_page",
    "write_atomically",
    "write_patches",
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
