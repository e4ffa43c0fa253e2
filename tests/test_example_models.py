"""The example models learn something in a few steps."""

import importlib.util
from pathlib import Path

import pytest

MODELS = Path(__file__).parents[1] / "examples" / "models"


def load(name):
    spec = importlib.util.spec_from_file_location(f"example_{name}", MODELS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.every(3)
@pytest.mark.parametrize(
    ("name", "options", "limit"),
    [
        ("poem", {"steps": 25, "letters": 2}, 2.6),
        ("waves", {"steps": 25}, 0.3),
        ("shapes", {"steps": 40}, 30.0),
    ],
)
def test_losses_fall_below_a_figure(name, options, limit):
    assert load(name).main(**options) < limit


def test_digits_are_read():
    assert load("digits").main(steps=100) > 0.15


def test_an_ensemble_disagrees_away_from_its_data():
    near, far = load("ensemble").main(steps=60)
    assert far > 2 * near
