"""One list of primitives for each package: what its modules name in ``__all__``."""

import tomllib
from importlib import import_module
from pathlib import Path

import pytest

import bindax_lax_basic
from bindax import lax
from bindax_core.extend import Primitive

PLUGINS = Path(__file__).resolve().parent.parent / "plugins"
PACKAGES = ("callbacks", "control_flow", "lax_basic", "linalg", "special")


def entry_points(package: str) -> dict[str, str]:
    project = tomllib.loads((PLUGINS / package / "pyproject.toml").read_text("utf-8"))["project"]
    points: dict[str, str] = project["entry-points"]["bindax.v1.primitives"]
    return points


@pytest.mark.parametrize("package", PACKAGES)
def test_packages_offer_what_their_modules_offer(package: str) -> None:
    module = import_module(f"bindax_{package}")
    primitives = {name for name in module.__all__ if isinstance(getattr(module, name), Primitive)}
    assert primitives == {place.split(":")[1] for place in entry_points(package).values()}


def test_the_facade_offers_the_same_objects() -> None:
    assert lax.sin is bindax_lax_basic.sin
    for package in ("linalg", "special"):
        module = import_module(f"bindax_{package}")
        facade = lax.linalg if package == "linalg" else lax
        assert all(getattr(facade, name) is getattr(module, name) for name in module.__all__)
        assert {*module.__all__} <= {*facade.__all__}
