"""Make the reports that the documentation shows: ``python docs/pictures/reports.py FOLDER``.

Where Chromium is installed, pictures of one of them are made as well, light and dark.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import bindax
import bindax.numpy as jnp
from bindax import lax, nn, random

BATCH, LENGTH, WIDTH, HEADS, LAYERS = 4, 64, 64, 4, 2
Program = tuple[Callable[..., Any], tuple[Any, ...]]


def normalized(x: Any, scale: Any) -> Any:
    """Layer normalization."""
    mean = x.mean(axis=-1, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis=-1, keepdims=True)
    return (x - mean) * lax.rsqrt(variance + 1e-6) * scale


def attention(layer: Any, x: Any) -> Any:
    """Attention of several heads to what came before."""

    def heads(y: Any) -> Any:
        return y.reshape(BATCH, LENGTH, HEADS, WIDTH // HEADS).transpose(0, 2, 1, 3)

    query, key, value = (heads(x @ layer[name]) for name in ("query", "key", "value"))
    scores = query @ key.transpose(0, 1, 3, 2) / 4.0
    scores = jnp.where(jnp.tril(jnp.ones((LENGTH, LENGTH), bool)), scores, -1e9)
    mixed = nn.softmax(scores, axis=-1) @ value
    return mixed.transpose(0, 2, 1, 3).reshape(BATCH, LENGTH, WIDTH) @ layer["out"]


def network(layers: Any, x: Any) -> Any:
    """Blocks of attention and of a perceptron."""
    for i, layer in enumerate(layers):
        with bindax.named_scope(f"layer{i}"):
            with bindax.named_scope("attention"):
                x = x + attention(layer, normalized(x, layer["scale"]))
            with bindax.named_scope("perceptron"):
                hidden = nn.gelu(normalized(x, layer["scale"]) @ layer["up"])
                x = x + hidden @ layer["down"]
    return x


def training_step(layers: Any, x: Any, y: Any) -> Any:
    """One step of gradient descent."""

    def loss(layers: Any) -> Any:
        return -(nn.log_softmax(network(layers, x), axis=-1) * y).sum(axis=-1).mean()

    value, slopes = bindax.value_and_grad(loss)(layers)
    return value, bindax.tree.map(lambda w, slope: w - 0.1 * slope, layers, slopes)


def transformer() -> Program:
    """A step of the training of a transformer."""
    generator = np.random.default_rng(0)

    def matrix(*shape: int) -> Any:
        return (generator.normal(size=shape) / 8).astype(np.float32)

    names = ("query", "key", "value", "out")
    layers = [
        {
            **{name: matrix(WIDTH, WIDTH) for name in names},
            "up": matrix(WIDTH, 4 * WIDTH),
            "down": matrix(4 * WIDTH, WIDTH),
            "scale": np.ones(WIDTH, np.float32),
        }
        for _ in range(LAYERS)
    ]
    x = matrix(BATCH, LENGTH, WIDTH)
    return training_step, (layers, x, np.full_like(x, 1 / WIDTH))


def sampler() -> Program:
    """Chains of Hamiltonian Monte Carlo."""
    center = np.linspace(-1.0, 1.0, 32).astype(np.float32)

    def energy(x: Any) -> Any:
        return ((x - center) ** 2).sum() / 2 + jnp.log1p(jnp.exp(-x)).sum()

    def leap(state: Any, _: Any) -> Any:
        x, speed = state
        speed = speed - 0.05 * bindax.grad(energy)(x)
        x = x + 0.1 * speed
        return (x, speed - 0.05 * bindax.grad(energy)(x)), None

    def step(x: Any, key: Any) -> Any:
        first, second = random.split(key)
        speed = random.normal(first, x.shape)
        (new, last), _ = lax.scan(leap, (x, speed), None, length=10)
        change = energy(x) + (speed**2).sum() / 2 - energy(new) - (last**2).sum() / 2
        x = jnp.where(jnp.log(random.uniform(second)) < change, new, x)
        return x, x

    def chains(starts: Any, key: Any) -> Any:
        def chain(x: Any, key: Any) -> Any:
            return lax.scan(step, x, random.split(key, 50))[1]

        return bindax.vmap(chain)(starts, random.split(key, 16))

    return chains, (np.zeros((16, 32), np.float32), random.key(0))


def planets() -> Program:
    """The slope of the last state of a system of bodies by the first one."""

    def accelerations(x: Any) -> Any:
        away = x[None] - x[:, None]
        distance = (away**2).sum(axis=-1, keepdims=True) + 0.1
        return (away / distance**1.5).sum(axis=1)

    def spread(x: Any, speed: Any) -> Any:
        def step(state: Any, _: Any) -> Any:
            x, speed = state
            speed = speed + 0.01 * accelerations(x)
            return (x + 0.01 * speed, speed), None

        (x, _), _ = lax.scan(step, (x, speed), None, length=200)
        return (x**2).sum()

    x = np.random.default_rng(0).normal(size=(64, 3)).astype(np.float32)
    return bindax.grad(spread), (x, np.zeros_like(x))


PROGRAMS = {"transformer": transformer, "sampler": sampler, "planets": planets}
SELECT = """
const wanted = (one) => one.primitive === "dot_general" && one.backward
  && one.names.includes("attention");
select([state.equations.find(wanted).number], null);
setTheme("%s");
"""


def draw(folder: Path) -> list[Path]:
    """Write the page of each program; return the files."""
    found = []
    for name, make in PROGRAMS.items():
        function, args = make()
        found.append(folder / f"{name}.html")
        bindax.inspect(function)(*args).save(found[-1])
    return found


def photograph(page: Path, theme: str) -> Path | None:
    """Make a picture of a page with an equation selected; None without Chromium."""
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        return None
    picture = page.with_name(f"{page.stem}_{theme}.png")
    wait = "while (!document.body.dataset.ready) await new Promise((r) => setTimeout(r, 20));"
    script = f"<script>(async () => {{ {wait} {SELECT % theme} }})();</script></body>"
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "page.html"
        copy.write_text(re.sub("</body>", lambda _: script, page.read_text("utf-8")), "utf-8")
        options = ("--headless", "--no-sandbox", "--disable-gpu", "--window-size=1500,900")
        command = [browser, *options, "--virtual-time-budget=8000", f"--screenshot={picture}"]
        subprocess.run([*command, copy.as_uri()], check=True, capture_output=True, timeout=120)
    return picture


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    first, *_ = draw(target)
    for name in ("light", "dark"):
        photograph(first, name)
