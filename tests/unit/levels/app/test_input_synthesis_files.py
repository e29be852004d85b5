"""A user's own folder, and all ways to synthesise inputs together."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from ciguard.errors import ConfigurationError
from ciguard.levels.app.input_synthesis.folder import LabelledFolder
from ciguard.levels.app.input_synthesis.input_maker import distinct_inputs, normalised_name, rng_for
from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.input_synthesis.inverse_chain import InputSources, InverseChain, inverse_of
from ciguard.levels.app.providers.description import TASKS_WITHOUT_INPUTS, RecognitionTask

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

WANTED = InputSpec(RecognitionTask.LABELS, "Camp fire")


def png(colour: int) -> bytes:
    file = io.BytesIO()
    Image.new("L", (4, 4), colour).save(file, "PNG")
    return file.getvalue()


@pytest.fixture
def images(tmp_path: Path) -> Path:
    folder = tmp_path / "images" / "camp_fire"
    folder.mkdir(parents=True)
    for at in range(3):
        (folder / f"{at}.png").write_bytes(png(at))
    (folder / "again.png").write_bytes(png(0))
    (folder / "notes.txt").write_text("A fire in a camp.", "utf-8")
    return folder.parent


@pytest.mark.parametrize("label", ["camp fire", "Camp-Fire", "CAMP_FIRE"])
def test_files_of_a_label_are_found_in_any_spelling(images: Path, label: str) -> None:
    samples = LabelledFolder(images).inputs(InputSpec(RecognitionTask.LABELS, label), 9, seed=1)

    assert {sample.content for sample in samples} == {png(0), png(1), png(2)}
    assert all(sample.origin.startswith("camp_fire/") for sample in samples)


def test_text_files_serve_only_categories(images: Path) -> None:
    (samples,) = LabelledFolder(images).inputs(
        InputSpec(RecognitionTask.CATEGORIES, "camp fire"), 9, seed=1
    )

    assert samples.content == b"A fire in a camp."


def test_other_labels_are_not_served(images: Path) -> None:
    folder = LabelledFolder(images)

    assert not folder.serves(InputSpec(RecognitionTask.LABELS, "fire"))
    assert not folder.serves(InputSpec(RecognitionTask.LABELS))
    assert not folder.serves(InputSpec(RecognitionTask.TEXT, "camp fire"))


def test_link_out_of_the_folder_is_ignored(images: Path, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret.png").write_bytes(png(9))
    (images / "camp_fire" / "link.png").symlink_to(outside / "secret.png")
    (images / "camp_fire" / "dangling.png").symlink_to(outside / "absent.png")
    (images / "linked").symlink_to(outside)

    folder = LabelledFolder(images)

    assert png(9) not in {sample.content for sample in folder.inputs(WANTED, 9, seed=1)}
    for label in ("linked", "../outside", "..", "/"):
        assert not folder.serves(InputSpec(RecognitionTask.LABELS, label))


def test_licences_are_recorded(images: Path) -> None:
    (images / "SOURCES.csv").write_text("file,licence,url\ncamp_fire/1.png,CC0,x\n", "utf-8")

    samples = LabelledFolder(images).inputs(WANTED, 9, seed=1)

    assert {sample.licence for sample in samples if sample.content == png(1)} == {"CC0, x"}
    assert {sample.licence for sample in samples if sample.content != png(1)} == {""}


@pytest.mark.parametrize("content", [b"name\na\n", b"\xff"])
def test_unreadable_sources_raise_an_error(images: Path, content: bytes) -> None:
    (images / "SOURCES.csv").write_bytes(content)

    with pytest.raises(ConfigurationError, match=r"SOURCES\.csv"):
        LabelledFolder(images)


def test_absent_or_empty_folder_raises_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty" / "fire").mkdir(parents=True)

    with pytest.raises(ConfigurationError, match="folder not found"):
        LabelledFolder(tmp_path / "absent")
    with pytest.raises(ConfigurationError, match="no subfolder with an image or text"):
        LabelledFolder(tmp_path / "empty")


def test_images_of_the_user_come_first_and_other_inverses_add_the_rest(images: Path) -> None:
    inverse = inverse_of(InputSources(images=images, is_simulated=True))

    samples = inverse.inputs(WANTED, 5, seed=1)

    assert [sample.origin.partition("/")[0] for sample in samples[:3]] == ["camp_fire"] * 3
    assert len({sample.digest for sample in samples}) == 5
    assert samples == inverse.inputs(WANTED, 5, seed=1)


@pytest.mark.parametrize("task", RecognitionTask)
def test_each_supported_task_has_inputs_that_show_nothing(task: RecognitionTask) -> None:
    wanted, inverse = InputSpec(task), inverse_of(InputSources())

    samples = inverse.inputs(wanted, 3, seed=1)

    assert inverse.serves(wanted) == (task not in TASKS_WITHOUT_INPUTS)
    assert len({sample.digest for sample in samples}) == (0 if task in TASKS_WITHOUT_INPUTS else 3)
    assert all(sample.wanted == wanted for sample in samples)


class Lists:
    """Has what it was given, for all labels."""

    def __init__(self, *contents: bytes) -> None:
        self.contents = contents

    def serves(self, wanted: InputSpec) -> bool:
        return wanted.task is RecognitionTask.LABELS and bool(self.contents)

    def inputs(self, wanted: InputSpec, count: int, *, seed: int) -> Sequence[ServiceInput]:
        return [ServiceInput(wanted, sample, str(seed)) for sample in self.contents[:count]]


contents = st.lists(st.binary(max_size=1), max_size=5)


@given(first=contents, second=contents, count=st.integers(0, 12))
def test_inputs_of_several_inverses_are_distinct_and_limited(
    first: list[bytes], second: list[bytes], count: int
) -> None:
    samples = InverseChain((Lists(*first), Lists(*second))).inputs(WANTED, count, seed=1)

    distinct = [sample.content for sample in samples]
    assert len(distinct) == len(set(distinct)) <= count
    assert set(distinct) <= {*first, *second}


@given(name=st.text())
def test_name_normalisation_is_idempotent(name: str) -> None:
    assert normalised_name(normalised_name(name)) == normalised_name(name)


@given(key=st.text(), seed=st.integers())
def test_random_generator_depends_on_specification_and_seed(key: str, seed: int) -> None:
    sample, same, other = (
        rng_for(InputSpec(RecognitionTask.TEXT, key), number).random()
        for number in (seed, seed, seed + 1)
    )

    assert sample == same != other


def test_inverse_that_repeats_one_input_terminates() -> None:
    sample = ServiceInput(WANTED, b"x", "")

    assert distinct_inputs(iter(lambda: sample, None), 5) == (sample,)
    assert distinct_inputs(iter(lambda: sample, None), 0) == ()
