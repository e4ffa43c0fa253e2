"""`bindax demo`: the main job, with the compiler and without."""

from __future__ import annotations

import re
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner, Result

import bindax
from bindax._cli import main
from bindax.demo import classifier, digits, models

BACKENDS = ["numpy", *(["xla"] if find_spec("jaxlib") else [])]


def run_demo(*arguments: str) -> Result:
    result = CliRunner().invoke(main, ["demo", *arguments])
    assert result.exit_code == 0, result.output
    return result


@pytest.mark.every(2)
@pytest.mark.parametrize("backend", BACKENDS)
def test_demo_recognizes_digits_and_draws_a_picture(backend: str, tmp_path: Path) -> None:
    pytest.importorskip("matplotlib", reason="the extra bindax[demo] is not installed")
    picture = tmp_path / "digits.png"
    output = run_demo("--backend", backend, "--epochs", "12", "--output", str(picture)).output
    accuracy = re.search(r"test accuracy ([\d.]+)%", output)
    assert accuracy is not None
    assert float(accuracy[1]) >= 95
    assert backend in output
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert picture.stat().st_size > 10_000


def test_without_matplotlib_the_demo_reports_and_names_the_extra(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "bindax.demo.picture", raising=False)
    monkeypatch.delattr(bindax.demo, "picture", raising=False)
    monkeypatch.setitem(sys.modules, "matplotlib.axes", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    picture = tmp_path / "digits.png"
    output = run_demo("--backend", "numpy", "--epochs", "1", "--output", str(picture)).output
    assert "test accuracy" in output
    assert "pip install 'bindax[demo]'" in " ".join(output.split())
    assert not picture.exists()


def test_example_models_are_listed_and_run(capsys: pytest.CaptureFixture[str]) -> None:
    listed = dict(line.split(maxsplit=1) for line in run_demo("list").output.splitlines())
    assert set(listed) == {"digits", "ensemble", "poem", "shapes", "waves"} == {*models.available()}
    assert "LSTM" in listed["waves"]
    output = run_demo("ensemble").output
    assert "deviation near the data" in output + capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["none"], "there is no model 'none'; there are digits, ensemble, poem, shapes, waves."),
        (["waves", "--seed", "3"], "--seed belongs to the demo without a name."),
    ],
)
def test_bad_arguments_of_the_demo_say_what_there_is(arguments: list[str], message: str) -> None:
    result = CliRunner().invoke(main, ["demo", *arguments])
    assert result.exit_code == 2
    assert message in result.output


@pytest.mark.nightly
def test_same_seed_gives_same_accuracy_and_other_seed_another_order(tmp_path: Path) -> None:
    def report(seed: str) -> list[str]:
        arguments = ("--backend", "numpy", "--epochs", "1", "--seed", seed)
        output = run_demo(*arguments, "--output", str(tmp_path / "p.png")).output
        return re.findall(r"│ +(\d+) │ +(\d) │ +(\d) │ +([\d.]+) │", output)

    assert report("3") == report("3") != report("4")


def test_digits_are_the_1797_images_and_the_parts_do_not_overlap() -> None:
    training, test = digits.load()
    assert len(training.labels) + len(test.labels) == 1797
    assert training.images.dtype == np.float32
    assert 0 == training.images.min() < training.images.max() == 1
    assert sorted(set(training.labels)) == sorted(set(test.labels)) == list(range(10))
    rows = {image.tobytes() for image in training.images}
    assert sum(image.tobytes() in rows for image in test.images) <= 2


@pytest.mark.parametrize("backend", BACKENDS)
def test_per_example_gradients_agree_with_one_gradient_at_a_time(backend: str) -> None:
    training, _ = digits.load()
    parameters = classifier.initial_state(1, (64, 5, 10)).parameters
    images, targets = training.images[:4], training.targets[:4]
    one_at_a_time = [
        np.sqrt(sum(float((np.asarray(leaf) ** 2).sum()) for leaf in bindax.tree.leaves(gradient)))
        for gradient in (
            bindax.grad(classifier.loss)(parameters, image, target)
            for image, target in zip(images, targets, strict=True)
        )
    ]
    with bindax.config.override(backend=backend):
        norms = bindax.jit(classifier.gradient_norms)(parameters, images, targets)
    np.testing.assert_allclose(np.asarray(norms), one_at_a_time, rtol=1e-5)


def test_backends_train_alike() -> None:
    if BACKENDS == ["numpy"]:
        pytest.skip("jaxlib is not installed, and there is nothing to compare")
    training, _ = digits.load()
    losses = []
    for backend in BACKENDS:
        state = classifier.initial_state()
        with bindax.config.override(backend=backend):
            step = bindax.jit(classifier.train_step)
            for start in range(0, 640, 64):
                part = slice(start, start + 64)
                state, loss = step(state, training.images[part], training.targets[part])
        losses.append(float(loss))
    np.testing.assert_allclose(losses[0], losses[1], rtol=1e-4)
