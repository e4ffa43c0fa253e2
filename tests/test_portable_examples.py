"""Examples print nothing that a processor decides: neither last digits nor signs of zeros.

NumPy, BLAS and XLA have several kernels for a function, and the processor decides which one runs.
They differ in the last digit, and in the sign of what is rounded to zero.
"""

import ast
import doctest
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = [
    *(ROOT / "src", ROOT / "core", ROOT / "testing", ROOT / "mutation"),
    *ROOT.glob("plugins/*/src"),
]
PAGES = [ROOT / "README.md", *ROOT.glob("docs/**/*.md")]
# Their results are put together from bits, or rounded once as IEEE 754 says.
EXACT = re.compile(r"\b(uniform|nextafter|spacing|finfo|reduce_precision)\(")
NUMBER = re.compile(r"(?<![\w.])-?\d+\.\d*+(?:e[-+]?\d+)?+(?!\.\.)")
# NumPy prints arrays of 64 bits with eight decimals, and all digits of everything else.
WIDE, WIDE_DIGITS, DIGITS = re.compile("float64|complex128|^[^A]"), 11, 5


def digits(number: str) -> int:
    """Count the significant digits of a number."""
    return len(number.lstrip("-").partition("e")[0].replace(".", "").strip("0"))


def decided_by_processors(example: doctest.Example) -> list[str]:
    """The numbers of an output that other kernels print in another way."""
    allowed = WIDE_DIGITS if WIDE.search(example.want) else DIGITS
    numbers = [] if EXACT.search(example.source) else NUMBER.findall(example.want)
    return [x for x in numbers if digits(x) > allowed or (float(x) == 0 and x[0] == "-")]


def docstrings(path: Path) -> list[str]:
    """The docstrings of a module that have examples."""
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    source = path.read_text(encoding="utf-8")
    if ">>>" not in source:
        return []
    found = [ast.get_docstring(n) for n in ast.walk(ast.parse(source)) if isinstance(n, kinds)]
    return [text for text in found if text and ">>>" in text]


def problems(path: Path) -> list[str]:
    """Results in the examples of a file that processors decide."""
    is_page = path.suffix == ".md"
    texts = [path.read_text(encoding="utf-8")] if is_page else docstrings(path)
    examples = [one for text in texts for one in doctest.DocTestParser().get_examples(text)]
    return [
        f"{path.relative_to(ROOT)}: >>> {example.source.strip()}: {', '.join(numbers)}"
        for example in examples
        if (numbers := decided_by_processors(example))
    ]


@pytest.mark.parametrize("where", ["pages", "packages"])
def test_examples_print_nothing_that_a_processor_decides(where: str) -> None:
    modules = [p for package in PACKAGES for p in package.rglob("*.py") if "tests" not in p.parts]
    paths = PAGES if where == "pages" else modules
    found = [problem for path in sorted(paths) for problem in problems(path)]
    assert not found, "round these, or choose other operands:\n" + "\n".join(found)


@pytest.mark.parametrize(
    ("source", "want", "numbers"),
    [
        ("exp(x)", "Array([1.      , 2.718282], dtype=float32)", ["2.718282"]),
        ("exp(x).round(4)", "Array([1.    , 2.7183], dtype=float32)", []),
        ("exp(x)", "Array([1.        , 2.71828183], dtype=float64)", []),
        ("float(exp(1.0))", "2.718281828459045", ["2.718281828459045"]),
        ("grad(f)(x)", "Array([1.9993..., 3.141592...], dtype=float32)", []),
        ("detrend(x)", "Array([ 0., -0.,  0.], dtype=float32)", ["-0."]),
        ("nextafter(x, 2.0) - 1", "Array(1.1920929e-07, dtype=float32)", []),
    ],
)
def test_what_processors_decide(source: str, want: str, numbers: list[str]) -> None:
    assert decided_by_processors(doctest.Example(source, want)) == numbers
