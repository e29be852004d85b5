from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from ciguard.cli.commands import main
from ciguard.errors import ExitCode

if TYPE_CHECKING:
    from pathlib import Path

LABELLED_TEXTS: tuple[tuple[str, dict[str, list[str]]], ...] = (
    ("Whether to {0} the input.", {"dtype": ["bool"], "ndim": ["0"]}),
    ("A `Tensor` to {0}.", {"structure": ["D_STRUCTURE"]}),
    ("Something to {0}.", {}),
)
CONCRETE_VALUES = {"D_STRUCTURE": "tensor"}


@pytest.fixture
def sentences(tmp_path: Path) -> Path:
    lines = [
        json.dumps(
            {
                "library": "own-library",
                "api": f"own.{verb}",
                "parameter": "x",
                "source": "description",
                "sentence": text.format(verb),
                "normalised": "",
                "abstract": labels,
                "concrete": {
                    k: [CONCRETE_VALUES.get(v, v) for v in vs] for k, vs in labels.items()
                },
            }
        )
        for verb in ("sort", "keep", "fold", "join")
        for text, labels in LABELLED_TEXTS
    ]
    path = tmp_path / "sentences.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    return path


def documentation(folder: Path, **changes: object) -> Path:
    record = {
        "library": "tensorflow",
        "api": "tf.f",
        "parameter": "x",
        "description": "Must have the same type as `y`.",
        "doc_dtype": None,
        "default": None,
        "api_parameters": ["x", "y"],
    }
    path = folder / "docs.jsonl"
    path.write_text(json.dumps({**record, **changes}) + "\n", encoding="utf-8")
    return path


def test_constraints_are_extracted_from_a_file_of_documentation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "constraints.jsonl"

    code = main(["extract", "--docs", str(documentation(tmp_path)), "--out", str(out)])

    assert code == ExitCode.CLEAN
    assert "1 parameters, 1 with a constraint" in capsys.readouterr().out
    (line,) = out.read_text("utf-8").splitlines()
    assert json.loads(line) == {
        "library": "tensorflow",
        "api": "tf.f",
        "parameter": "x",
        "dtype": ["&y"],
        "structure": [],
        "ndim": [],
        "shape": [],
        "range": [],
        "enum": [],
    }


def test_extract_uses_rules_learned_from_own_sentences(
    tmp_path: Path, sentences: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules, out = tmp_path / "rules", tmp_path / "constraints.jsonl"
    docs = documentation(tmp_path, library="own-library", description="Whether to turn the input.")

    learned = main(["learn", "--sentences", str(sentences), "--out", str(rules)])
    code = main(["extract", "--docs", str(docs), "--rules", str(rules), "--out", str(out)])

    assert (learned, code) == (ExitCode.CLEAN, ExitCode.CLEAN)
    assert "from 12 labelled sentences" in capsys.readouterr().out
    assert {path.name for path in rules.iterdir()} == {"own-library.jsonl", "shared.jsonl"}
    constraints = json.loads(out.read_text("utf-8"))
    assert (constraints["dtype"], constraints["ndim"], constraints["structure"]) == (
        ["bool"],
        ["0"],
        [],
    )


def test_learning_is_reproducible(tmp_path: Path, sentences: Path) -> None:
    written = []
    for name in ("first", "second"):
        main(["learn", "--sentences", str(sentences), "--out", str(tmp_path / name)])
        written.append((tmp_path / name / "own-library.jsonl").read_bytes())

    assert written[0] == written[1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "s.jsonl:1: the line is not JSON"),
        ('{"api": "a"}', "s.jsonl:1: 'library' is missing. Set 'library' to a string"),
        ("", "contains no labelled sentence"),
        ("\udcff", "not UTF-8 text (byte 0)"),
    ],
)
def test_learn_rejects_a_malformed_file_with_a_remedy(
    text: str, message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "s.jsonl"
    path.write_bytes(text.encode("utf-8", "surrogateescape"))

    code = main(["learn", "--sentences", str(path), "--out", str(tmp_path / "rules")])

    assert code == ExitCode.USAGE
    assert message in capsys.readouterr().err
    assert not (tmp_path / "rules").exists()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"library": "theano"}, "has no rules for this library's documentation"),
        ({"library": "../pytorch"}, "may contain only letters, digits, '-' and '_'"),
        ({"description": 7}, "docs.jsonl:1: description = 7. Use a string or null"),
    ],
)
def test_extract_rejects_an_invalid_file_and_writes_nothing(
    changes: dict[str, object],
    message: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    docs, out = documentation(tmp_path, **changes), tmp_path / "out.jsonl"

    code = main(["extract", "--docs", str(docs), "--out", str(out)])

    assert code == ExitCode.USAGE
    assert message in capsys.readouterr().err
    assert not out.exists()


def test_damaged_rule_file_is_an_error_with_file_and_line(
    tmp_path: Path, sentences: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules"
    main(["learn", "--sentences", str(sentences), "--out", str(rules)])
    damaged = rules / "own-library.jsonl"
    damaged.write_text(damaged.read_text("utf-8") + "{}\n", "utf-8")
    docs = documentation(tmp_path, library="own-library")

    code = main(["extract", "--docs", str(docs), "--rules", str(rules), "--out", str(rules / "o")])

    assert code == ExitCode.USAGE
    message = capsys.readouterr().err
    assert "own-library.jsonl: line" in message
    assert "Regenerate the file with `ciguard api learn`" in message


def test_unwritable_output_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").write_text("", "utf-8")
    out = tmp_path / "file" / "constraints.jsonl"

    code = main(["extract", "--docs", str(documentation(tmp_path)), "--out", str(out)])

    assert code == ExitCode.USAGE
    assert "cannot be written" in capsys.readouterr().err
