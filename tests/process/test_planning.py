"""Plans of real repositories, read with git."""

from __future__ import annotations

import json
import os
import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from git_examples import git

from ciguard.actions import CONFIGURATION, ActionSource, detect_repository, render_files
from ciguard.domain.plan import PackageChange, Place, Plan, PlanMode, plan_from_json, plan_to_json
from ciguard.errors import PlanError
from ciguard.planning import PlanRequest, Runners, Wheels, explanation, make_plan

MODEL = """\
import tensorflow as tf
from tensorflow.keras import layers


def build():
    return tf.keras.Sequential([layers.Dense(3), layers.ReLU()])


def loss(x, y):
    return tf.reduce_mean(tf.square(x - y))
"""
DEFAULTS = ("torch==2.13.0",)


def _no_index(requirement: str) -> str:
    pytest.fail(f"asked the index for {requirement}")


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    git(folder, "init", "--quiet")
    _commit(
        folder,
        {
            "requirements.txt": "numpy\ntensorflow-cpu==2.12.0\n",
            "app/model.py": MODEL,
            "README.md": "# Hello\n",
        },
    )
    return folder


def _commit(folder: Path, files: dict[str, str | None]) -> str:
    for name, text in files.items():
        path = folder / name
        if text is None:
            path.unlink()
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "change")
    return git(folder, "rev-parse", "HEAD")


def _request(folder: Path, against: str = "HEAD~1", **changes: object) -> PlanRequest:
    settings: dict[str, object] = {
        "folder": folder,
        "mode": PlanMode.PULL_REQUEST,
        "against": against,
        "targets": DEFAULTS,
        "targets_are_chosen": False,
    }
    return PlanRequest(**{**settings, **changes})  # type: ignore[arg-type]


def test_an_upgrade_is_planned_with_the_apis_that_the_sources_use(repository: Path) -> None:
    _commit(repository, {"requirements.txt": "numpy\ntensorflow-cpu==2.21.0\n"})

    plan = make_plan(_request(repository), _no_index)

    assert plan.changes == (
        PackageChange(
            package="tensorflow-cpu",
            base="2.12.0",
            head="2.21.0",
            place=Place(path="requirements.txt", line=2),
        ),
    )
    assert [(job.targets, job.base, job.device, job.shard) for job in plan.jobs] == [
        (("tensorflow-cpu==2.21.0",), ("tensorflow-cpu==2.12.0",), "cpu", "1/1")
    ]
    assert set(plan.focus) >= {
        "tensorflow.reduce_mean",
        "tensorflow.square",
        "tensorflow.keras.layers.Dense",
    }
    assert plan.uses["tensorflow.square"] == (Place(path="app/model.py", line=10),)
    assert "compared with tensorflow-cpu==2.12.0" in plan.reasons[0]


COMPILED = MODEL.replace("def loss", "@tf.function(jit_compile=True)\ndef loss")


def test_a_repository_that_compiles_gets_a_row_for_the_mode(repository: Path) -> None:
    _commit(repository, {"app/model.py": COMPILED})

    plan = make_plan(_request(repository), _no_index)

    assert [(job.targets, job.base) for job in plan.jobs] == [
        (("tensorflow-cpu==2.12.0",), ()),
        (("tensorflow-cpu==2.12.0", "tensorflow-cpu==2.12.0 function"), ()),
    ]
    assert len({job.name for job in plan.jobs}) == 2
    sentence = (
        "tensorflow-cpu==2.12.0 function is planned, since the sources use tensorflow.function."
    )
    assert sentence in plan.reasons


def test_an_upgrade_compares_both_versions_in_the_mode_in_use(repository: Path) -> None:
    files: dict[str, str | None] = {
        "app/model.py": COMPILED,
        "requirements.txt": "tensorflow-cpu==2.21.0\n",
    }
    _commit(repository, files)

    plan = make_plan(_request(repository), _no_index)

    assert [(job.targets, job.base) for job in plan.jobs] == [
        (("tensorflow-cpu==2.21.0",), ("tensorflow-cpu==2.12.0",)),
        (("tensorflow-cpu==2.21.0 function",), ("tensorflow-cpu==2.12.0 function",)),
    ]


def test_a_change_to_a_compiler_plans_its_mode(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet")
    project = "[project]\nname = 'torch'\n"
    _commit(tmp_path, {"pyproject.toml": project, "torch/_inductor/ir.py": "a = 1\n"})
    _commit(tmp_path, {"torch/_inductor/ir.py": "a = 2\n"})

    plan = make_plan(_request(tmp_path), _no_index)

    assert (("torch==2.13.0", "torch==2.13.0 compile"), ()) in [
        (job.targets, job.base) for job in plan.jobs
    ]
    assert any("the change touches torch/_inductor/ir.py" in reason for reason in plan.reasons)


def test_apis_in_changed_lines_come_first_in_the_focus(repository: Path) -> None:
    _commit(repository, {"app/model.py": MODEL.replace("square(x - y)", "abs(x - y)")})

    plan = make_plan(_request(repository), _no_index)

    assert plan.changes == ()
    assert [(job.targets, job.base) for job in plan.jobs] == [(("tensorflow-cpu==2.12.0",), ())]
    assert plan.focus[:2] == ("tensorflow.abs", "tensorflow.reduce_mean")
    assert any("loss in app/model.py" in reason for reason in plan.reasons)


def test_a_pull_request_with_only_documentation_runs_nothing(
    repository: Path,
) -> None:
    _commit(repository, {"README.md": "# Hi\n", "docs/a.md": "x"})

    plan = make_plan(_request(repository), _no_index)

    assert plan.jobs == ()
    assert plan.skipped == ()  # no requested row was impossible
    assert plan.reasons[0] == "Nothing will run, since only documentation changes."


def test_a_batch_tests_the_required_versions_without_a_base(repository: Path) -> None:
    plan = make_plan(_request(repository, "", mode=PlanMode.BATCH), _no_index)

    assert [job.targets for job in plan.jobs] == [("tensorflow-cpu==2.12.0",)]
    assert "tensorflow.square" in plan.focus


@pytest.mark.parametrize(
    ("source", "targets", "reason"),
    [
        ("import keras\nimport torch\n\nkeras.ops.abs(torch.abs(1))\n", 2, "use torch.abs"),
        ("import keras\nimport torch\n\nkeras.ops.abs(1)\n", 1, ""),
        ("import keras\n\nkeras.ops.abs(1)\n", 1, ""),
    ],
)
def test_a_backend_whose_own_apis_are_used_has_a_row_of_its_own(
    repository: Path, source: str, targets: int, reason: str
) -> None:
    _commit(
        repository,
        {"requirements.txt": "keras==3.15.1\ntorch==2.13.0\n", "app/model.py": source},
    )

    plan = make_plan(_request(repository, against="", mode=PlanMode.BATCH), _no_index)

    rows = [job.targets for job in plan.jobs]
    assert rows == [("keras==3.15.1 + torch==2.13.0",), ("torch==2.13.0",)][:targets]
    sentences = [text for text in plan.reasons if "tested on its own" in text]
    assert len(sentences) == targets - 1
    assert reason in " ".join(sentences)


def test_tensorflow_whose_keras_is_used_has_no_row_of_its_own(repository: Path) -> None:
    needs = "keras==3.15.1\ntensorflow-cpu==2.21.0\n"
    source = "import tensorflow as tf\n\ntf.keras.layers.Dense(3)\n"
    _commit(repository, {"requirements.txt": needs, "app/model.py": source})

    plan = make_plan(_request(repository, against="", mode=PlanMode.BATCH), _no_index)

    assert [job.targets for job in plan.jobs] == [("keras==3.15.1 + tensorflow-cpu==2.21.0",)]


@pytest.mark.parametrize(
    ("source", "is_advised"),
    [("from google.cloud import vision\n\nvision.Image()\n", True), ("import json\n", False)],
)
def test_a_repository_of_an_application_is_told_which_level_tests_it(
    repository: Path, source: str, *, is_advised: bool
) -> None:
    _commit(repository, {"requirements.txt": "google-cloud-vision\n", "app/model.py": source})

    plan = make_plan(_request(repository, against="", mode=PlanMode.BATCH), _no_index)

    (reason,) = (text for text in plan.reasons if "requires no known library" in text)
    assert ("docs/levels/app.md" in reason) is is_advised


def test_targets_of_the_settings_override_required_versions(repository: Path) -> None:
    chosen = ("torch==2.13.0", "torch==2.12.0")

    plan = make_plan(
        _request(repository, "", mode=PlanMode.BATCH, targets=chosen, targets_are_chosen=True),
        _no_index,
    )

    assert [job.targets for job in plan.jobs] == [chosen]
    assert plan.focus == ()  # nothing of torch is used here


def test_files_written_by_ciguard_are_neither_changes_nor_sources(repository: Path) -> None:
    script = "import tensorflow as tf\ntf.abs(1)\n"
    results = {
        ".ciguard/run/reproducers/a.py": script,
        "app/.ciguard/run/reproducers/b.py": script,
        ".ciguard/baseline/buckets.jsonl": "{}\n",
    }
    _commit(repository, dict(results))

    plan = make_plan(_request(repository), _no_index)

    assert plan.reasons[0] == "Nothing will run, since nothing differs from the base."
    assert "tensorflow.abs" not in plan.uses


def test_a_pull_request_without_a_base_is_an_error(repository: Path) -> None:
    with pytest.raises(PlanError, match="--against"):
        make_plan(_request(repository, ""), _no_index)


@pytest.mark.parametrize(
    "ref", ["no-such", "--output=/tmp/x", "-h", "HEAD:README.md", "a\nb", "a\0b"]
)
def test_an_unknown_base_is_an_error_with_advice(repository: Path, ref: str) -> None:
    with pytest.raises(
        PlanError, match=r"this commit is not in the checkout\. Run `git fetch origin`"
    ) as caught:
        make_plan(_request(repository, ref), _no_index)

    assert "\n" not in str(caught.value)


def test_a_shallow_clone_without_the_base_is_an_error_with_advice(
    repository: Path, tmp_path: Path
) -> None:
    base = git(repository, "rev-parse", "HEAD")
    _commit(repository, {"requirements.txt": "tensorflow-cpu==2.21.0\n"})
    shallow, deep = tmp_path / "shallow", tmp_path / "deep"
    git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), str(shallow))
    git(tmp_path, "clone", "--quiet", "--depth=2", repository.as_uri(), str(deep))

    with pytest.raises(PlanError, match=r"The checkout is shallow.*fetch-depth: 0"):
        make_plan(_request(shallow, base), _no_index)
    assert make_plan(_request(deep, base), _no_index).jobs


def test_a_shallow_clone_without_the_history_is_an_error_with_advice(
    repository: Path, tmp_path: Path
) -> None:
    base = git(repository, "rev-parse", "HEAD")
    _commit(repository, {"a.py": "1"})
    _commit(repository, {"b.py": "1"})
    git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    shallow = tmp_path / "shallow"
    git(tmp_path, "clone", "--quiet", "--depth=1", repository.as_uri(), str(shallow))
    git(shallow, "fetch", "--quiet", "--depth=1", "origin", base)

    with pytest.raises(PlanError, match="lacks the history"):
        make_plan(_request(shallow, base), _no_index)


@pytest.mark.parametrize("commits_on_base", [0, 3, 40])
@pytest.mark.parametrize("names_branch", [False, True])
def test_a_shallow_checkout_is_deepened_up_to_the_base(
    repository: Path, tmp_path: Path, commits_on_base: int, *, names_branch: bool
) -> None:
    git(repository, "config", "uploadpack.allowAnySHA1InWant", "true")
    start = git(repository, "rev-parse", "HEAD")
    for number in range(commits_on_base):
        git(repository, "commit", "--quiet", "--allow-empty", "--message", f"{number}")
    git(repository, "checkout", "--quiet", "-b", "change", start)
    _commit(repository, {"requirements.txt": "tensorflow-cpu==2.21.0\n"})
    git(repository, "checkout", "--quiet", "--detach", "main")
    git(repository, "merge", "--quiet", "--no-ff", "--message", "merged", "change")
    git(repository, "update-ref", "refs/pull/7/merge", "HEAD")
    shallow = tmp_path / "shallow"
    git(tmp_path, "init", "--quiet", str(shallow))
    git(shallow, "remote", "add", "origin", repository.as_uri())
    git(shallow, "fetch", "--quiet", "--no-tags", "--depth=1", "origin", "refs/pull/7/merge")
    git(shallow, "checkout", "--quiet", "--detach", "FETCH_HEAD")
    against = "origin/main" if names_branch else git(repository, "rev-parse", "main")

    plan = make_plan(replace(_request(shallow, against), deepens=True), _no_index)

    (change,) = plan.changes
    assert (change.base, change.head) == ("2.12.0", "2.21.0")


def test_only_changes_of_the_branch_count_if_the_base_has_new_commits(repository: Path) -> None:
    start = git(repository, "rev-parse", "HEAD")
    _commit(repository, {"requirements.txt": "tensorflow-cpu==2.21.0\n"})
    git(repository, "branch", "moved")
    git(repository, "reset", "--quiet", "--hard", start)
    _commit(repository, {"docs/x.md": "x"})

    plan = make_plan(_request(repository, "moved"), _no_index)

    assert plan.changes == ()


def test_hostile_file_names_are_handled_as_data(repository: Path) -> None:
    code = "import torch\ntorch.sin(1)\n"
    _commit(
        repository,
        {
            "a\nb.py": code,
            "-rf.py": code,
            ":(exclude)x.py": code,
            "*.py": code,
            "$(touch owned) `x` ${{ secrets.X }}.py": code,
            "::error::x.py": code,
            "\\..\\x.py": code,
            "\x1b[31mred\u202e.py": code,
            "x\nrequirements.txt": "torch==2.13.0\n",
        },
    )
    latin = os.fsencode(repository) + b"/caf\xe9.py"
    Path(os.fsdecode(latin)).write_text(code, "utf-8")
    git(repository, "add", "--all")
    git(repository, "commit", "--quiet", "--amend", "--no-edit")

    plan = make_plan(_request(repository), _no_index)

    paths = {place.path for place in plan.uses["torch.sin"]}
    assert {"a\nb.py", "-rf.py", ":(exclude)x.py", "*.py", "caf\ufffd.py"} <= paths
    assert plan.uses["torch.sin"][0].line == 2
    assert [change.place.path for change in plan.changes] == ["x\nrequirements.txt"]
    for line in (*plan.reasons, *explanation(plan)):
        assert line.isprintable(), line
    assert not (repository / "owned").exists()
    assert plan_from_json(json.loads(json.dumps(plan_to_json(plan)))) == plan


def test_a_link_out_of_the_repository_is_not_followed(repository: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.py").write_text("import torch\ntorch.sin(1)\n", "utf-8")
    (repository / "link.py").symlink_to(tmp_path / "secret.py")
    (repository / "requirements-x.txt").symlink_to("/dev/zero")
    _commit(repository, {"b.py": "x = 1\n"})

    plan = make_plan(_request(repository), _no_index)

    assert "torch.sin" not in plan.uses
    assert any("link.py was not read" in reason for reason in plan.reasons)


def test_unparsable_files_are_reported_and_the_rest_is_planned(repository: Path) -> None:
    _commit(
        repository,
        {
            "broken.py": "def (:\n",
            "deep.py": "(" * 5_000,
            "uv.lock": "[[[",
            "nul.py": "x = '\0'",
            "odd.ipynb": "{",
        },
    )

    plan = make_plan(_request(repository), _no_index)

    for name in ("broken.py", "deep.py", "uv.lock", "nul.py", "odd.ipynb"):
        assert any(name in reason and "was not" in reason for reason in plan.reasons), name
    assert "tensorflow.square" in plan.uses


def test_only_the_current_folder_counts_in_a_repository_of_several_projects(
    repository: Path,
) -> None:
    _commit(
        repository, {"other/requirements.txt": "torch==2.12.0\n", "other/a.py": "import torch\n"}
    )
    _commit(repository, {"other/requirements.txt": "torch==2.13.0\n", "README.md": "x"})

    inside = make_plan(_request(repository / "other"), _no_index)
    beside = make_plan(_request(repository / "app"), _no_index)

    assert inside.changes[0].place.path == "other/requirements.txt"
    assert [job.targets for job in inside.jobs] == [("torch==2.13.0",)]
    assert (beside.changes, beside.jobs) == ((), ())


def test_a_folder_outside_any_repository_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(PlanError, match="not inside a git checkout"):
        make_plan(_request(tmp_path), _no_index)


def test_the_wheel_of_a_library_is_compared_with_its_release(repository: Path) -> None:
    _commit(
        repository,
        {
            "pyproject.toml": '[project]\nname = "torch"\nversion = "2.14"\n',
            "torch/nn/functional.py": "def relu(x):\n    return x\n",
        },
    )
    wheel = Path("dist/torch-2.14.0a0-cp311-cp311-linux_x86_64.whl")
    asked = {"torch<=2.14.0a0": "2.13.0"}

    plan = make_plan(_request(repository, wheels=Wheels(head=wheel)), asked.__getitem__)

    without = make_plan(_request(repository), _no_index)

    assert [(job.targets, job.base) for job in plan.jobs] == [((str(wheel),), ("torch==2.13.0",))]
    assert plan.focus[0] == "torch*.relu"
    assert any("builds torch" in reason and "--wheel" in reason for reason in without.reasons)


def test_the_wheel_of_an_extension_is_combined_with_its_library(repository: Path) -> None:
    _commit(
        repository,
        {
            "requirements.txt": "torch==2.13.0\n",
            "src/ops.cpp": 'TORCH_LIBRARY(warp, m) {\n  m.def("bend(Tensor x) -> Tensor");\n}\n',
        },
    )
    head, base = (Path(f"dist/{folder}/warp-1.0-py3-none-any.whl") for folder in ("new", "old"))

    plan = make_plan(_request(repository, wheels=Wheels(head=head, base=base)), _no_index)

    assert [(job.targets, job.base) for job in plan.jobs] == [
        ((f"{head} + torch==2.13.0",), (f"{base} + torch==2.13.0",))
    ]
    assert plan.focus[0] == "torch.ops.warp.bend"


def test_a_wheel_that_extends_no_known_library_is_an_error(repository: Path) -> None:
    _commit(repository, {"requirements.txt": "numpy\n"})

    with pytest.raises(PlanError, match="Use --target to name the library"):
        make_plan(
            _request(repository, wheels=Wheels(head=Path("warp-1.0-py3-none-any.whl"))),
            lambda _: "",
        )


def test_the_plan_has_the_requested_number_of_shards(repository: Path) -> None:
    _commit(repository, {"app/model.py": MODEL + "\n"})

    plan = make_plan(_request(repository, runners=Runners(shards=3)), _no_index)

    assert [job.shard for job in plan.jobs] == ["1/3", "2/3", "3/3"]


def _on_gpus(folder: Path, against: str = "HEAD~1", **changes: object) -> Plan:
    runners = Runners(devices=("cpu", "cuda:0"), gpu=("gpu-t4",))
    chosen = {"targets": ("torch==2.13.0",), "targets_are_chosen": True, "runners": runners}
    return make_plan(_request(folder, against, **{**chosen, **changes}), _no_index)


TRITON = "import triton\n\n\n@triton.jit\ndef add(x):\n    return x\n"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"csrc/add.cu": "int x;\n"}, "csrc/add.cu may be device code"),
        ({"csrc/add.cpp": "int x;\n"}, "csrc/add.cpp may be device code"),
        ({"ops.py": TRITON}, "reaches ops.py, which may contain kernels"),
        ({"kernel.py": TRITON.replace("return x", "return 2")}, "reaches kernel.py"),
        ({"kernel.py": None}, "changed lines of kernel.py name a GPU"),
        ({"run.sh": "docker run --gpus all\n"}, "changed lines of run.sh name a GPU"),
        ({"deploy.sh": None}, "changed lines of deploy.sh name a GPU"),
        (
            {"requirements.txt": "numpy\ntensorflow-cpu==2.12.0\ntorch==2.13.0\n"},
            "the requirement of torch differs in requirements.txt",
        ),
        (
            {"Pipfile.lock": '{"default": {"jaxlib": {"version": "==0.10.2"}}}'},
            "the requirement of jaxlib differs in Pipfile.lock",
        ),
        (
            {"requirements.txt": "--extra-index-url https://a.b/whl/cu128\n"},
            "the requirement of tensorflow differs",
        ),
        ({"uv.lock": "[[[\n"}, "uv.lock was not read"),
        ({"new.py": "def (:\n"}, "reaches new.py, which may contain kernels"),
        (
            {"app/model.py": f"{MODEL}\nfrom ciguard.annotations import arg\n"},
            "annotated functions in app/model.py",
        ),
        ({"pyproject.toml": '[project]\nname = "torch"\n'}, "this repository builds torch"),
        (
            {"ops.py": 'import torch\ntorch.library.define("mine::bend", "() -> ()")\n'},
            "the change touches torch.ops.mine.bend",
        ),
    ],
)
def test_a_change_that_may_matter_on_a_gpu_has_gpu_rows_with_a_reason(
    repository: Path, files: dict[str, str | None], reason: str
) -> None:
    _commit(repository, {"kernel.py": TRITON, "deploy.sh": "USE_CUDA=1 make\n"})
    _commit(repository, files)

    plan = _on_gpus(repository)

    assert "cuda" in {job.device for job in plan.jobs}
    (sentence,) = [text for text in plan.reasons if text.startswith("Planned for cuda:0, since ")]
    assert reason in sentence


@pytest.mark.parametrize(
    "files",
    [
        {"app/model.py": MODEL.replace("square(x - y)", "abs(x - y)")},
        {"requirements.txt": "numpy>=2\ntensorflow-cpu==2.12.0\n"},
        {"app/data.csv": "gap,hip\n", "setup.cfg": "[metadata]\nname = x\n"},
        {"docs/cuda.md": "Runs on GPUs.\n", "app/new.py": "x = 1\n"},
    ],
)
def test_a_change_that_cannot_matter_on_a_gpu_has_no_gpu_rows(
    repository: Path, files: dict[str, str | None]
) -> None:
    _commit(repository, {"kernel.py": TRITON, "deploy.sh": "USE_CUDA=1 make\n"})
    _commit(repository, files)

    plan = _on_gpus(repository)

    assert [job.device for job in plan.jobs] == ["cpu"]
    assert plan.skipped == ()  # rows that do not matter do not count as skipped
    assert any(line.startswith("  - Skipped on cuda:0: ") for line in explanation(plan))


def test_a_plan_for_gpus_alone_is_empty_if_the_change_cannot_matter(repository: Path) -> None:
    _commit(repository, {"app/new.py": "x = 1\n"})
    runners = Runners(devices=("cuda:0", "cuda:1"), gpu=("two-gpus",))

    plan = _on_gpus(repository, runners=runners)

    assert (plan.jobs, plan.skipped) == ((), ())
    assert any(reason.startswith("Skipped on cuda:0, cuda:1: ") for reason in plan.reasons)


def test_plans_outside_pull_requests_have_all_gpu_rows(repository: Path) -> None:
    for against in ("", "HEAD"):
        plan = _on_gpus(repository, against=against, mode=PlanMode.BATCH)

        assert [job.device for job in plan.jobs] == ["cpu", "cuda"]


def test_targets_that_the_change_may_have_built_run_on_gpus(repository: Path) -> None:
    _commit(repository, {"app/new.py": "x = 1\n"})
    wheel = Path("dist/torch-2.14.0-cp311-cp311-linux_x86_64.whl")

    of_wheel = _on_gpus(repository, wheels=Wheels(head=wheel, base=wheel))
    of_current = _on_gpus(repository, targets=("current[torch]",))
    of_written = _on_gpus(repository, targets=("torch==2.13.0@cuda",))

    assert {job.device for job in of_wheel.jobs} == {"cpu", "cuda"}
    assert {job.device for job in of_current.jobs} == {"cpu", "cuda"}
    assert {job.device for job in of_written.jobs} == {"cuda"}  # asked for by the target


def test_a_plan_without_requested_gpus_does_not_mention_them(repository: Path) -> None:
    _commit(repository, {"app/new.py": "x = 1\n"})

    plan = make_plan(_request(repository), _no_index)

    assert not [reason for reason in plan.reasons if "cuda" in reason]


ANNOTATED = "from ciguard.annotations import arg, ints\n\n\n@arg('x', ints())\ndef f(x): ...\n"


def test_a_plan_says_how_to_test_annotated_functions(repository: Path) -> None:
    files: dict[str, str | None] = {
        "app/called.py": ANNOTATED,
        "app/model.annotations.py": ANNOTATED,
        "app/mentions.py": "# from ciguard.annotations import arg\n",
        "app/odd $(name).py": ANNOTATED,
    }
    _commit(repository, files)
    request = PlanRequest(folder=repository, mode=PlanMode.BATCH, targets=DEFAULTS)

    plan = make_plan(request, _no_index)
    configured = make_plan(replace(request, levels=("api", "function")), _no_index)

    command = "ciguard run --level function --functions app/called.py --functions app/model.py"
    assert any(command in reason for reason in plan.reasons)
    assert not any("--functions" in reason for reason in configured.reasons)


@pytest.mark.parametrize("is_annotated", [True, False])
def test_a_new_configuration_names_annotated_functions(
    repository: Path, *, is_annotated: bool
) -> None:
    if is_annotated:
        _commit(repository, {"app/called.py": ANNOTATED})

    found = detect_repository(repository, configured=DEFAULTS, is_configured=True)
    files = render_files(found, ActionSource(repository="a/b", ref="0" * 40))

    settings = tomllib.loads(files[CONFIGURATION])
    named = {name: settings.get(name) for name in ("levels", "functions")}
    levels, functions = (["api", "function"], ["app/called.py"]) if is_annotated else (None, None)
    assert named == {"levels": levels, "functions": functions}
    assert settings["targets"] == list(DEFAULTS)
    assert "\n\n" not in files[CONFIGURATION]
