"""Synthesised images: of texts, faces, nothing, and placeholders."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from ciguard.levels.app.input_synthesis import printed_text
from ciguard.levels.app.input_synthesis.inputs import InputSpec, ServiceInput
from ciguard.levels.app.input_synthesis.inverse_chain import InputSources, inverse_of
from ciguard.levels.app.input_synthesis.pictures import decoded_picture
from ciguard.levels.app.input_synthesis.printed_text import PrintedText
from ciguard.levels.app.input_synthesis.text_pictures import lines_of
from ciguard.levels.app.providers.description import RecognitionTask

if TYPE_CHECKING:
    from numpy.typing import NDArray

TOTAL = InputSpec(RecognitionTask.TEXT, "Total: $12.50\nThank you")


def pixels(sample: ServiceInput) -> NDArray[np.uint8]:
    return np.asarray(Image.open(io.BytesIO(sample.content)).convert("L"))


@given(text=st.text(max_size=40))
@settings(max_examples=40, deadline=None)
@pytest.mark.lengthy
def test_any_text_is_drawn_or_not_served(text: str) -> None:
    wanted = InputSpec(RecognitionTask.TEXT, text)

    samples = PrintedText().inputs(wanted, 1, seed=1)

    assert bool(samples) == PrintedText().serves(wanted)
    assert all(pixels(sample).size for sample in samples)


@given(text=st.text(st.characters(codec="ascii", categories=["L", "N", "P"]), min_size=1))
@settings(max_examples=20, deadline=None)
def test_every_plain_text_is_drawn(text: str) -> None:
    (samples,) = PrintedText().inputs(InputSpec(RecognitionTask.TEXT, text), 1, seed=1)

    assert pixels(samples).min() < 128


@pytest.mark.parametrize("text", ["\x00", "\ud800", "\U0010ffff", " ", "שלום"])
def test_text_that_no_font_shows_is_not_served(text: str) -> None:
    assert not PrintedText().serves(InputSpec(RecognitionTask.TEXT, text))


def test_images_of_a_text_are_distinct_and_state_their_origin() -> None:
    samples = PrintedText().inputs(TOTAL, 9, seed=1)

    assert len({sample.digest for sample in samples}) == 9
    assert all("pixels" in sample.origin and "printed with" in sample.origin for sample in samples)
    grounds = {sample.origin.rpartition(" on ")[2] for sample in samples}
    assert grounds == {"a blank image", "noise", "a gradient"}


def test_the_same_seed_makes_the_same_images() -> None:
    first, again, other = (PrintedText().inputs(TOTAL, 4, seed=seed) for seed in (1, 1, 2))

    assert first == again
    assert {sample.digest for sample in first} != {sample.digest for sample in other}


@pytest.mark.lengthy
def test_long_text_fits_the_image() -> None:
    text = "a very long text indeed " * 40 + "x" * 400

    for sample in PrintedText().inputs(InputSpec(RecognitionTask.TEXT, text), 3, seed=1):
        dark = np.argwhere(pixels(sample) < 100)
        height, width = pixels(sample).shape
        assert width < 2000
        assert 0 < dark[:, 0].min() <= dark[:, 0].max() < height - 1
        assert 0 < dark[:, 1].min() <= dark[:, 1].max() < width - 1


def test_line_breaks_are_kept() -> None:
    assert lines_of(" one  two\r\nthree \n") == ("one two", "three")


@given(content=st.binary() | st.binary().map(lambda rest: b"\x89PNG\r\n\x1a\n" + rest))
def test_file_that_is_not_an_image_is_not_opened(content: bytes) -> None:
    assert decoded_picture(content) is None


def test_small_file_that_declares_a_huge_image_is_not_opened() -> None:
    file = io.BytesIO()
    Image.new("1", (8_000, 8_000)).save(file, "PNG")

    assert decoded_picture(file.getvalue()) is None


@pytest.mark.parametrize(
    "task",
    [RecognitionTask.TEXT, RecognitionTask.LABELS, RecognitionTask.OBJECTS, RecognitionTask.FACES],
)
def test_inputs_that_show_nothing_are_a_blank_image_and_noise(task: RecognitionTask) -> None:
    blank, *noisy = inverse_of(InputSources()).inputs(InputSpec(task), 4, seed=1)

    assert pixels(blank).min() == 255
    assert len({sample.digest for sample in noisy}) == 3
    assert all(pixels(sample).std() > 20 for sample in noisy)


def test_faces_of_different_emotions_look_different() -> None:
    inverse = inverse_of(InputSources())

    joy, sorrow = (
        inverse.inputs(InputSpec(RecognitionTask.FACES, sample), 3, seed=1)
        for sample in ("joy", "sorrow")
    )

    assert len({sample.digest for sample in (*joy, *sorrow)}) == 6


@pytest.mark.parametrize("task", [RecognitionTask.LABELS, RecognitionTask.OBJECTS])
def test_placeholder_states_its_origin_and_serves_simulated_services_only(
    task: RecognitionTask,
) -> None:
    fire = InputSpec(task, "fire")

    samples = inverse_of(InputSources(is_simulated=True)).inputs(fire, 5, seed=1)

    assert len({sample.digest for sample in samples}) == 5
    assert {sample.origin for sample in samples} == {
        "a placeholder: only a simulated service recognises it"
    }
    assert not inverse_of(InputSources(is_simulated=False)).serves(fire)


def test_without_pillow_no_image_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(printed_text, "find_spec", lambda _: None)

    assert not PrintedText().serves(TOTAL)
    assert not PrintedText().inputs(TOTAL, 3, seed=1)
