"""Write the conda recipe from the packages' own metadata: one output for each package.

python scripts/conda_recipe.py          # writes conda/recipe.yaml
rattler-build build --recipe conda      # builds the packages from this checkout
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
RECIPE = ROOT / "conda/recipe.yaml"
HEAD = """\
# Written by scripts/conda_recipe.py from every pyproject.toml.
schema_version: 1

context:
  version: "{version}"

recipe:
  name: bindax
  version: ${{{{ version }}}}

source:
  path: ..

outputs:
"""
OUTPUT = """\
  - package:
      name: {name}
    build:
      noarch: python
      script: python -m pip install --no-deps --no-build-isolation ./{directory}{entry_points}
    requirements:
      host:
        - python >=3.11
        - pip
        - {backend}
      run:
{run}
    tests:
      - python:
          imports:
            - {module}
          pip_check: false
    about:
      summary: "{description}"
      license: {license}
      license_file: {license_file}
"""


def projects() -> list[Path]:
    """List the directories of the packages, without that which takes a C compiler."""
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    workspace = tools["uv"]["workspace"]
    found = {path for one in workspace["members"] for path in ROOT.glob(one) if path.is_dir()}
    return [ROOT, *sorted(found - {ROOT / one for one in workspace["exclude"]})]


def requirement(text: str) -> str:
    """Write a requirement as conda does: a space between the name and the range.

    >>> requirement("numpy>=2.0,<3")
    'numpy >=2.0,<3'
    """
    return re.sub(r"(?<=[\w\]])(?=[<>=])", " ", text, count=1)


def output(directory: Path) -> str:
    """Write the output of one package."""
    data: dict[str, Any] = tomllib.loads((directory / "pyproject.toml").read_text("utf-8"))
    project = data["project"]
    run = ["python >=3.11", *map(requirement, project["dependencies"])]
    scripts = [f"{name} = {target}" for name, target in project.get("scripts", {}).items()]
    points = "".join(f"\n          - {line}" for line in scripts)
    where = directory.relative_to(ROOT).as_posix()
    return OUTPUT.format(
        name=project["name"],
        directory="" if where == "." else where,
        entry_points=f"\n      python:\n        entry_points:{points}" if points else "",
        backend=requirement(data["build-system"]["requires"][0]),
        run="\n".join(f"        - {line}" for line in run),
        module=project["name"].replace("-", "_"),
        description=project["description"],
        license=project["license"],
        license_file="LICENSE" if where == "." else f"{where}/LICENSE",
    )


def recipe() -> str:
    """Write the recipe of all packages."""
    root = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    return HEAD.format(version=root["project"]["version"]) + "".join(map(output, projects()))


if __name__ == "__main__":
    RECIPE.parent.mkdir(exist_ok=True)
    RECIPE.write_text(recipe(), "utf-8", newline="\n")
