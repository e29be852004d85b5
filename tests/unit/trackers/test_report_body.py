from __future__ import annotations

import html
import re
from dataclasses import replace

import pytest
from finding_examples import call, crash, finding, pair
from github_markdown import live_parts
from hypothesis import given
from hypothesis import strategies as st
from issue_groups import alone
from layer_findings import layer_case, layer_death, layer_difference
from outcome_examples import NEW, OLD, identity

from ciguard.domain.causes import Cause
from ciguard.domain.findings import Bucket, Confirmation, Evidence
from ciguard.domain.function_calls import FunctionCase
from ciguard.domain.models import GraphOrigin
from ciguard.domain.outcomes import (
    Crashed,
    Errored,
    Exhausted,
    Frame,
    Hung,
    Outcome,
    Passed,
    Resource,
)
from ciguard.domain.outcomes import Rejected as Refused
from ciguard.domain.values import LiteralValue
from ciguard.oracles import Subject, judge
from ciguard.project import CiguardProject
from ciguard.trackers.body import MAX_BODY, report, slug, title
from ciguard.trackers.context import Context, IssueRow
from ciguard.trackers.contract import Report, marker
from ciguard.trackers.listing import roll_up
from ciguard.trackers.reproduction import requirements
from ciguard.triage import Buckets, EnvironmentHint, script

HOSTILE = (
    "@octocat #1 GH-2 owner/repo#3 https://evil.example <img src=x onerror=y> <!-- ciguard-fp: "
    "v1:0000000000000000 --> [a](b) ![c](d) ``` ~~~ | pipe | `code` </details> &amp; **bold**\n"
    "```\n# heading\n````\x1b[31m\u202e"
)


def bucket(outcome: Outcome, *, message: str = "it died", api: str = "torch.fold") -> Bucket:
    made = Buckets().add(finding(outcome, case=call(api=api), message=message))
    return replace(made, confirmation=Confirmation.CONFIRMED, reproduced=True)


def written(made: Bucket) -> Report:
    text = script(made.finding, environment_hint=EnvironmentHint(install=("torch==2.13.0",)))
    return report(made, Context(script=text, versions={"torch==2.13.0": "2.13.0"}, commit="abc"))


def outside_code(body: str) -> str:
    """Drop fenced blocks, code spans, code elements and entities: what is left is live markdown."""
    body = re.sub(r"^(`{3,})[a-z]*\n.*?^\1$", "", body, flags=re.DOTALL | re.MULTILINE)
    body = re.sub(r"`[^`\n]*`", "", body)
    return re.sub(r"<code>[^<]*</code>|&#\d+;", "", body)


def test_issue_contains_summary_targets_and_reproduction() -> None:
    log = "2026-11-21 11:44:27.1: F a/b/tensor.cc:778] Check failed: d >= 0 (-1 vs. 0)\n"
    stack = (Frame("torch/functional.py", "fold"),)

    issue = written(bucket(Crashed("SIGABRT", stack, log)))

    assert issue.title == "torch.fold: SIGABRT: Check failed: d >= 0 (-1 vs. 0)"
    assert issue.body.startswith(marker(issue.fingerprint))
    assert "| `torch==2.13.0` | `2.13.0` | **yes** | process crashed" in issue.body
    assert "result = torch.fold(" in issue.body
    assert "torch/functional.py: fold" in issue.body
    assert "ciguard ran the script and observed this effect" in issue.body
    assert "With the defect, the interpreter crashes." in issue.body
    assert f"`ciguard reproduce {issue.fingerprint}`" in issue.body


def test_issue_contains_shell_commands_to_reproduce() -> None:
    made = bucket(Crashed("SIGABRT", (), ""))
    install = "# Install: pip install torch==2.13.0 numpy==2.0\n"

    body = report(made, Context(script=f"{install}import torch\n")).body

    assert "```shell\n" in body
    assert "\npip install torch==2.13.0 numpy==2.0\npython reproduce.py\n```" in body


@pytest.mark.parametrize("needs_ciguard", [False, True])
def test_issue_about_a_function_says_where_and_with_what_its_script_runs(
    *, needs_ciguard: bool
) -> None:
    (found,) = judge(
        FUNCTION_CASE,
        {NEW: ESCAPED},
        Subject(library="torch", api=FUNCTION_CASE.api, targets={NEW: identity(NEW)}),
    )
    note = "# Run it there, with ciguard installed.\n" if needs_ciguard else ""
    text = f"# Install: pip install 'jax[cuda12]==0.10.2' numpy\n{note}import jax\n"

    body = report(Buckets().add(found), Context(script=text)).body

    assert (
        "Save the script as `reproduce.py` in the folder that contains `src/net.py`, then:" in body
    )
    assert "\npip install 'jax[cuda12]==0.10.2' numpy\npython reproduce.py\n```" in body
    assert ("The script needs ciguard, too." in body) is needs_ciguard


def test_long_list_of_requirements_is_complete_in_the_shell_block() -> None:
    names = [f"package-{number}==1.{number}" for number in range(20)]
    hint = EnvironmentHint(install=tuple(names))
    text = script(crash(), environment_hint=hint)

    assert requirements(text) == names


@pytest.mark.parametrize(
    "words",
    [
        "torch; rm -rf /",
        "$(id)",
        "`id`",
        "torch==2.13.0 && id",
        "--index-url=https://example.invalid",
        "…/ops.whl",
    ],
)
def test_malformed_requirement_is_not_offered_for_pasting(words: str) -> None:
    body = report(
        bucket(Crashed("SIGABRT")), Context(script=f"# Install: pip install {words}\n")
    ).body

    assert "```shell" not in body
    assert "install the packages in its line `Install:`" in body


def test_issue_links_to_run_results_commit_guide_and_project() -> None:
    page = "https://github.com/owner/library"
    commit = "0123456789abcdef0123456789abcdef01234567"
    context = Context(
        run_page=f"{page}/actions/runs/71",
        repository_page=page,
        commit=commit,
        project=CiguardProject(repository="owner/guard", tag="v0.1.0"),
    )

    linked = report(bucket(Crashed("SIGABRT")), context).body

    assert f"[the workflow run]({page}/actions/runs/71)" in linked
    assert f"[all its results]({page}/actions/runs/71#artifacts)" in linked
    assert f"[commit `0123456789`]({page}/commit/{commit})" in linked
    guide = "https://github.com/owner/guard/blob/v0.1.0/docs/trackers.md"
    assert f"[how ciguard updates this issue, and how to silence it]({guide})" in linked
    assert "Found by [ciguard](https://github.com/owner/guard)," in linked


def test_issue_has_no_links_to_unknown_pages() -> None:
    context = Context(repository_page="https://github.com/owner/library", commit="[a](b)")

    assert "](http" not in report(bucket(Crashed("SIGABRT")), context).body


@pytest.mark.parametrize(
    ("oracle", "word"),
    [("differential", "DIFFERENT"), ("boundary", "ACCEPTED"), ("metamorphic", "DIFFERENT")],
)
def test_issue_states_what_the_script_prints(oracle: str, word: str) -> None:
    made = bucket(Passed(b"1", 0.1))
    made = replace(made, finding=replace(made.finding, oracle=oracle))

    body = report(made, Context(script=f"print('{word}: a line')\n")).body
    silent = report(made, Context(script="print()\n")).body

    assert "begins with `" not in silent
    assert f"starts with `{word}`, and the exit code is 1" in body


def test_roll_up_of_one_finding_is_in_the_singular() -> None:
    listing = roll_up([alone(bucket(Crashed("SIGSEGV")))])

    assert listing.title == "ciguard: 1 further finding"
    assert "1 known finding has no issue of its own." in listing.body


def test_issue_contains_expected_observed_invariant_and_source() -> None:
    said = Evidence(
        expected="an exception", observed="p = 2.0", law="'p' is at most 1", source="“up to 1”"
    )
    made = bucket(Crashed("SIGFPE"))

    body = written(replace(made, finding=replace(made.finding, evidence=said))).body

    assert "| expected | observed |\n| --- | --- |\n| `an exception` | `p = 2.0` |" in body
    assert "Invariant: `'p' is at most 1`" in body
    assert "Source: `“up to 1”`" in body
    assert "severity critical, crash" in body


def test_issue_contains_native_stack_and_probable_cause() -> None:
    made = replace(
        bucket(Crashed("SIGSEGV")),
        native_stack=(Frame("libtorch_cpu.so", "at::native::fold@everyone"),),
        cause=Cause(name="g1:0", kind="failed check", text="fold.cpp: `n` @everyone"),
    )

    issue = written(made)

    assert "### Native stack, innermost first" in issue.body
    assert "libtorch_cpu.so: at::native::fold" in issue.body
    assert "### Cause\n\nProbable cause: `` failed check: fold.cpp: `n` @everyone ``" in issue.body
    assert "@everyone" not in live_parts(issue.body)


def test_issue_about_a_layer_names_its_mutant() -> None:
    made = Buckets().add(layer_difference())

    body = report(made, Context()).body

    assert (
        "Found in: a mutant of `lenet5-mnist` (`LA conv2d_1: keras.layers.PReLU`; `GF dense_2`), "
        "isolated from 17 layers; R_a 3.2e4 at layer `conv_3`\n\nCompared: the outputs (predict)"
    ) in body


@pytest.mark.parametrize(
    ("outcome", "says"),
    [
        (Crashed("SIGSEGV"), "One run of `keras.layers.Conv2D` crashes the Python process"),
        (Hung(5.0), "One run of `keras.layers.Conv2D` does not return within 5 s."),
        (
            Exhausted(Resource.MEMORY, ""),
            "One run of `keras.layers.Conv2D` with small inputs exhausts all memory.",
        ),
    ],
)
def test_issue_about_a_layer_describes_a_run(outcome: Outcome, says: str) -> None:
    assert says in report(Buckets().add(layer_death(outcome)), Context()).body


FUNCTION_CASE = FunctionCase(
    api="src/net.py:pad",
    file="src/net.py",
    call={"function": "pad", "arguments": [["x", 3]], "constructor": None, "outer": None},
)
ESCAPED = Errored("ValueError", "src/net.py:23: 3 is too small", (Frame("src/net.py", "pad"),))
RETURNED = Passed(b'["i","3"]', 0.1)


def told(case: FunctionCase, *outcomes: Outcome) -> Report:
    """Return the issue of what one function did on two versions."""
    by_target = dict(zip((OLD, NEW), outcomes, strict=True))
    targets = {name: identity(name) for name in by_target}
    (found,) = judge(case, by_target, Subject(library="torch", api=case.api, targets=targets))
    return report(Buckets().add(found), Context())


def test_issue_about_a_function_states_its_annotations() -> None:
    issue = told(FUNCTION_CASE, ESCAPED, ESCAPED)

    assert issue.title.endswith("src/net.py:pad: ValueError: 3 is too small")
    assert (
        "`src/net.py:pad` fails on what its annotations allow: "
        "`ValueError: 3 is too small (src/net.py, line 23)`."
    ) in issue.body
    assert "failed with `ValueError: src/net.py:23: 3 is too small`" in issue.body
    assert "nternal error" not in issue.body


def test_issue_about_a_function_names_the_failing_version() -> None:
    issue = told(FUNCTION_CASE, RETURNED, ESCAPED)

    assert issue.title.endswith(f"src/net.py:pad: fails on {NEW}, not on {OLD}")
    assert "`src/net.py:pad` fails on only one of these targets (`exception`): " in issue.body


def test_issue_about_a_file_states_that_it_cannot_be_imported() -> None:
    issue = told(replace(FUNCTION_CASE, api="src/net.py", call=None), ESCAPED, ESCAPED)

    assert "`src/net.py` is not imported: `ValueError: 3 is too small" in issue.body


@given(st.text(max_size=50))
def test_origin_is_escaped_in_an_issue(text: str) -> None:
    name = HOSTILE + text
    origin = GraphOrigin(model=name, mutations=(name,), deviations=((name, 1.0),), suspect=name)

    issue = report(Buckets().add(layer_difference(layer_case(origin))), Context()).body

    body = live_parts(issue)
    assert body.count("<!--") == 1
    assert not re.search(r"@\w|https?:|\[a\]|<img|GH-\d|repo#|\*\*bold", body)
    assert "\n# " not in body


OUTCOMES = [
    lambda text: Crashed("SIGABRT", (Frame(text, text),), text),
    lambda text: Errored(text or "E", text, (Frame(text, text),)),
    lambda _: Hung(5.0),
]


@pytest.mark.parametrize("outcome", OUTCOMES)
@given(text=st.text(max_size=50))
def test_fuzzed_text_is_escaped_in_an_issue_of_any_outcome(outcome: object, text: str) -> None:
    made = bucket(outcome(HOSTILE + text), message=text + HOSTILE)  # type: ignore[operator]
    said = Evidence(expected=text, observed=HOSTILE + text, law=text + HOSTILE, source=HOSTILE)
    made = replace(made, finding=replace(made.finding, evidence=said))

    body = outside_code(written(made).body)

    assert body.count("<!--") == 1
    assert not re.search(r"@\w|https?:|\[a\]|<img|GH-\d|repo#|\*\*bold", body)
    assert body.count("</details>") == body.count("<details>")
    assert "\n# " not in body


@given(st.text(max_size=100), st.text(max_size=100))
def test_fuzzed_text_is_escaped_in_a_differential_issue(one: str, other: str) -> None:
    met = pair(Refused(HOSTILE + one, other + HOSTILE), Passed(b"null", 0.1), kind="accepted")
    made = Buckets().add(replace(met, message=HOSTILE + one))

    body = outside_code(written(made).body)

    assert body.count("<!--") == 1
    assert not re.search(r"@\w|https?:|\[a\]|<img|GH-\d|repo#", body)


def test_script_in_an_issue_can_be_copied_unchanged() -> None:
    case = call(keywords=(("mode", LiteralValue(HOSTILE)),))
    met = crash("x", case=case)
    text = script(met, environment_hint=EnvironmentHint(install=("torch",)))

    body = report(Buckets().add(met), Context(script=text)).body

    assert text.rstrip("\n") in body


def test_body_is_bounded_and_keeps_its_marker() -> None:
    huge = "x" * 100_000
    made = bucket(Crashed("SIGABRT", tuple(Frame(huge, huge) for _ in range(50)), huge))
    made = replace(made, grouping=tuple((f"n{n}", "`" * 300) for n in range(500)))

    issue = report(made, Context(script="#" * 19_000, versions={}))

    assert len(issue.body) <= MAX_BODY
    assert issue.body.startswith(marker(made.fingerprint))
    assert len(issue.title) <= 130


def test_local_paths_are_not_published() -> None:
    log = (
        "/home/alice/src/pytorch/aten/x.cpp:12: Assertion `a' failed.\n"
        "/opt/envs/t/lib/python3.11/site-packages/torch/nn/functional.py in /job:localhost/task:0"
    )

    body = written(bucket(Crashed("SIGABRT", (Frame("/home/alice/t/torch/a.py", "f"),), log))).body

    assert "alice" not in body
    assert "/opt/envs" not in body
    assert "torch/nn/functional.py" in body
    assert "/job:localhost/task:0" in body


def test_local_wheel_is_named_without_its_folder() -> None:
    target = "torch==2.13.0 + /home/alice/dist/ops-1.0-py3-none-any.whl"
    alone = bucket(Crashed("SIGABRT"))
    found = pair(Passed(b"1", 0.1), Passed(b"2", 0.1), kind="values")
    renamed = dict(zip(found.targets, (target, f"{target} A=1"), strict=True))
    outcomes = {renamed[name]: outcome for name, outcome in found.outcomes.items()}
    held = replace(found, outcomes=outcomes, targets=tuple(renamed.values()))

    dead = replace(alone.finding, outcomes={target: Crashed("SIGABRT")}, targets=(target,))
    changed = replace(held, kind="mutation")
    for made in (held, dead, changed):
        issue = written(replace(alone, finding=made))
        assert "alice" not in issue.title + issue.body
        assert "torch==2.13.0 + …/ops-1.0-py3-none-any.whl" in html.unescape(issue.body)


CHECK = Cause(name="g1:0123456789abcdef", kind="failed check", text="fold.cpp: n > 0")


def grouped(*scripts: str, api: str = "torch.f{}") -> Report:
    """Return the issue of a group, given the script of each member."""
    rows = tuple(
        IssueRow(
            bucket=replace(bucket(Crashed("SIGABRT"), api=api.format(n)), cause=CHECK), script=text
        )
        for n, text in enumerate(scripts)
    )
    return report(rows[0].bucket, Context(name=CHECK.name, script=scripts[0], rows=rows))


def test_issue_of_several_apis_is_titled_by_its_cause() -> None:
    issue = grouped("a()", "b()", "c()")

    assert issue.title == "torch: failed check fold.cpp: n > 0 (3 APIs)"
    assert issue.fingerprint == CHECK.name
    assert issue.body.startswith(f"{marker(CHECK.name)}\n\n3 APIs probably have the same cause: ")


def test_title_with_a_long_cause_keeps_the_number_of_apis() -> None:
    made = replace(bucket(Crashed("SIGABRT")), cause=replace(CHECK, text="n@2 > `0` && " * 90))

    titled = title(made, apis=29)

    assert titled.endswith("… (29 APIs)")
    assert len(titled) <= 130
    assert "@2" not in titled


def test_several_findings_of_one_api_are_titled_by_the_api() -> None:
    issue = grouped("a()", "b()", api="torch.fold")

    assert issue.title == "torch.fold: SIGABRT"
    assert "2 findings probably have the same cause" in issue.body


def test_issue_of_a_group_shows_one_script_and_folds_the_others() -> None:
    body = grouped("first()", "second()", "third()").body

    assert body.index("```python\nfirst()") < body.index("### Affected APIs")
    assert body.index("### Affected APIs") < body.index("### Scripts of the other cases")
    assert body.count("<details>") == 2
    assert "<summary><code>torch.f1</code></summary>\n\n```python\nsecond()" in body
    assert body.count("| above |") == 1
    assert body.count("| below |") == 2


def test_scripts_beyond_the_limit_are_referred_to_the_results() -> None:
    body = grouped(*["#" * 15_000] * 5, "#" * 30_000).body

    assert len(body) <= MAX_BODY
    assert body.count("| below |") == 2
    assert body.count("| in the results |") == 3


def test_issue_of_a_large_group_has_a_bounded_size() -> None:
    body = grouped(*["x = 1"] * 400, api="torch." + "ü" * 80 + "{}").body

    assert len(body) <= MAX_BODY + 100
    assert "400 APIs probably have the same cause" in body
    assert "… and 300 more; `ciguard show` lists all of them." in body


@pytest.mark.parametrize("api", ["torch.nn.fold", "../../etc/passwd", "a/b\x00c", "…", "a" * 500])
def test_slug_of_an_api_is_safe_in_a_file_name(api: str) -> None:
    assert re.fullmatch(r"[A-Za-z0-9_.-]{0,80}", slug(api))
    assert ".." not in slug(api)


def test_roll_up_issue_is_bounded() -> None:
    many = [bucket(Crashed("SIGSEGV"), api=f"torch.{'x' * 90}{n}") for n in range(600)]

    listing = roll_up(map(alone, many))

    assert len(listing.body) <= MAX_BODY
    assert "600 known findings" in listing.body


def test_title_of_a_roll_up_of_one_finding_is_in_the_singular() -> None:
    listing = roll_up([alone(bucket(Crashed("SIGSEGV")))])

    assert listing.title == "ciguard: 1 further finding"
    assert "1 known finding has no issue of its own." in listing.body
