"""The reference has every public name of every front end, each with an example that runs."""

from __future__ import annotations

import builtins
import doctest
import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest
import reference
import reference_examples
import reference_pages
import reference_text
import site_links
import site_ranking

import bindax

ROOT = Path(__file__).resolve().parent.parent
ENTRY = re.compile(r"^#{2,3} `(\S+)` \{ #(\S+) data-toc-label=", re.MULTILINE)
pytestmark = pytest.mark.skipif(
    ROOT not in Path(bindax.__file__).parents, reason="the site shows the sources of a checkout"
)
ELSEWHERE = {
    "bindax.experimental.hijax.GradAccum": "given to rules by the interpreter",
    "bindax.experimental.hijax.VJPHiPrimitive": "as HiPrim, for programs written for older names",
    "bindax.experimental.hijax.jvp_from_lin": "the body of a class sets a rule to it",
    "bindax.experimental.checkify.Checks": "given to rules by the interpreter",
    "bindax.experimental.sparse.SparseTracer": "made by the interpreter",
    "bindax.extend.CallPrimitive": "needs a rule of each interpreter; that of custom_jvp is one",
    "bindax.extend.compiler_started": "acts on the forks of the process",
    "bindax.extend.find_keepers_with": "called once, by the package of the transformations",
    "bindax.ffi.register_ffi_target_as_batch_partitionable": "needs a compiled kernel",
    "bindax.ffi.register_ffi_type": "needs a compiled kernel",
    "bindax.jax_names.MissingName": "stands in the packages of JAX's names",
    "bindax.jax_names.run_program": "takes over the process",
    "bindax.nnx.GraphNodeDefinition": "made by register_graph_node",
    "bindax.profiler.start_server": "opens a port",
    "bindax.profiler.stop_server": "closes a port",
    "bindax.random.register_prng": "the example package philox shows it",
    "bindax.configure_plugins": "changes the process",
    **dict.fromkeys(
        (
            *("bindax.numpy.get_printoptions", "bindax.numpy.printoptions"),
            "bindax.numpy.set_printoptions",
        ),
        "NumPy's own function",
    ),
    "bindax.tree_util.register_node": "takes what register_dataclass and others make",
    "bindax_testing.Case": "given to checks of rules",
    "bindax_testing.check_plugin": "needs an installed plugin, and some time",
    "bindax_testing.check_sample": "needs an installed plugin, and some time",
    "bindax_testing.checked_rule": "made by the setting check_rules",
    "bindax_testing.conformance": "makes a test function",
    "bindax_mutation.Mutant": "in the report of a command",
    "bindax_mutation.MutationReport": "the report of a command",
    "bindax_mutation.mutate_plugin": "takes minutes",
    "bindax_mutation.mutate_text": "takes minutes",
}
"""Names of front ends without an example, with the reason."""


def described() -> list[reference.Entry]:
    return [
        entry
        for entry in reference.entries().values()
        if entry.same is None and entry.kind != "module"
    ]


def test_the_set_of_public_names_is_the_set_of_entries() -> None:
    entries = reference.entries()
    offered = {
        f"{module}.{name}"
        for module in reference.modules()
        for name in importlib.import_module(module).__all__
    }
    assert set(entries) == offered
    assert set(reference_pages.requested()) == set(reference.modules())


@pytest.mark.nightly
def test_each_page_has_the_entries_that_links_to_it_mean() -> None:
    import lax_pages

    small = [module for module in reference.modules() if not reference_pages.is_large(module)]
    texts = dict(reference_pages.large_pages())
    for group, entries in lax_pages.groups().items():
        lines = (
            line for e in entries for line in reference_pages.entry_lines(e, f"lax/{group}.md", 2)
        )
        texts[f"lax/{group}.md"] = "\n".join(lines)
    for module in small:
        file = reference_pages.page_of(module)
        if file != "lax/linalg.md":
            texts[file] = texts.get(file, "") + reference_pages.listing(module)
    shown = {(file, name) for file, text in texts.items() for name, anchor in ENTRY.findall(text)}
    assert shown == {(reference_pages.file_of(path), path) for path in reference.entries()}


def test_each_name_has_an_example() -> None:
    missing = {
        entry.path
        for entry in described()
        if entry.kind != "constant"  # the entry shows its value
        and not any(reference_examples.examples(entry))
        and not reference_examples.pages(entry)
    }
    assert missing == set(ELSEWHERE)


def test_an_example_is_borrowed_where_a_name_is_in_use() -> None:
    by_path = reference.entries()
    (example,) = reference_examples.examples(by_path["bindax.lax.add_p"])
    assert example.origin == "bindax.lax.add"
    (example,) = reference_examples.examples(by_path["bindax.lax.while_p"])
    assert example.origin == "bindax.lax.while_loop"


def test_pages_that_import_a_name_are_those_that_use_it() -> None:
    by_path = reference.entries()
    assert reference_examples.pages(by_path["bindax.extend.Var"]) == ["guides/jaxprs.md"]
    assert "README.md" not in reference_examples.pages(by_path["bindax.extend.extend"])
    assert reference_examples.pages(by_path["bindax.extend.HostDevice"]) == ["devices.md"]


def test_a_page_that_imports_a_name_shows_it_in_use() -> None:
    full, exact = (
        reference.entries()[f"bindax_lax_basic.extend.{name}"] for name in ("full", "exact")
    )
    assert reference_examples.pages(full) == ["guides/families.md"]
    assert "guides/families.md" in reference_examples.pages(exact)


def test_an_example_of_a_whole_module_leads_to_its_page() -> None:
    entry = reference.entries()["bindax.default_matmul_precision"]
    text = "\n".join(reference_pages.entry_lines(entry, "reference/bindax.md", 2))
    assert "In use, from [`bindax`](../reference/bindax.md):" in text


def test_examples_import_what_users_do() -> None:
    entry = reference.entries()["bindax.lax.scan"]
    (example,) = reference_examples.examples(entry)
    assert ">>> from bindax.lax import scan" in example.lines
    line = ">>> from bindax_core import devices, typeof as t"
    assert reference_examples.public_import(line) == ">>> from bindax import devices, typeof as t"


@pytest.mark.nightly
def test_examples_run_as_they_stand() -> None:
    pytest.importorskip("jaxlib", reason="some examples compile")
    failed = []
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    found = (one for entry in described() for one in reference_examples.examples(entry))
    for number, (lines, origin) in enumerate({one.lines: one.origin for one in found}.items()):
        text = "\n".join(lines)
        names = {"__builtins__": builtins, "__name__": f"example_{number}"}  # of its own classes
        test = doctest.DocTestParser().get_doctest(text, names, origin, None, 0)
        output: list[str] = []
        if doctest.DocTestRunner(optionflags=flags).run(test, out=output.append).failed:
            failed.append("".join(output))
    assert not failed, f"{len(failed)} examples:\n" + "\n".join(failed)


def test_sources_are_where_links_lead() -> None:
    for entry in described():
        found = reference.source(entry) if entry.module in ("bindax", "bindax.random") else None
        if found is not None:
            file, line = found
            shown = (ROOT / file).read_text(encoding="utf-8").splitlines()[line - 1]
            assert re.search(r"def |class |@|lambda|=", shown), (entry.path, shown)


def test_sources_of_other_packages_are_not_shown() -> None:
    assert reference.source(reference.entries()["bindax.numpy.printoptions"]) is None


def test_entry_of_a_function() -> None:
    entry = reference.entries()["bindax.numpy.einsum"]
    text = "\n".join(reference_pages.entry_lines(entry, "reference/numpy/einsum.md", 2))
    for part in (
        "## `bindax.numpy.einsum` { #bindax.numpy.einsum",
        "    *operands: Any,\n",
        ") -> Array\n```",
        "- `subscripts`: a letter for each axis",
        "- `ValueError`: when subscripts and operands do not agree.",
        ">>> import bindax.numpy as jnp\n>>> jnp.einsum(",
        "[Source: einsum.py, line ",
        "(../../source/plugins/numpy/src/bindax_numpy/einsum.py.html#L-",
    ):
        assert part in text


def test_anchor_of_a_name_between_underscores_is_no_bold_text() -> None:
    path = "bindax.numpy.__array_api_version__"
    first = next(reference_pages.entry_lines(reference.entries()[path], "reference/numpy.md", 2))
    anchor = "bindax.numpy.-array_api_version-"
    label = r"\_\_array_api_version\_\_"
    assert first == f"## `{path}` {{ #{anchor} data-toc-label='{label}' }}\n"
    assert reference_pages.link(path, "reference/numpy.md").endswith(f"/other.md#{anchor}")


def test_entry_of_a_primitive_has_its_rules_and_what_was_measured() -> None:
    entry = reference.entries()["bindax.lax.sin_p"]
    text = "\n".join(reference_pages.entry_lines(entry, "lax/trigonometry.md", 3))
    for part in (
        "The primitive of [`bindax.lax.sin`]",
        "`jvp`",
        "- Derivative: ",
        "checks passed, on ",
    ):
        assert part in text


def test_entry_of_another_name_leads_to_the_first() -> None:
    entry = reference.entries()["bindax.tree_util.tree_map"]
    text = "\n".join(reference_pages.entry_lines(entry, "reference/trees.md", 3))
    assert "The same as [`bindax.tree.map`](../reference/trees.md#bindax.tree.map)." in text


def test_docstrings_become_markdown() -> None:
    text = """Add a * b, as ``np.add``.

    It computes this::

        x = [1]

    Args:
        a: one,
            of any shape.
        *rest: others.

    Raises:
        ValueError: no.

    >>> 1
    1
    """
    assert reference_text.markdown(text) == (
        "Add a \\* b, as `np.add`.\n\nIt computes this:\n\n\n    x = [1]\n\n"
        "**Arguments**\n\n- `a`: one, of any shape.\n- `*rest`: others.\n\n"
        "**Raises**\n\n- `ValueError`: no."
    )


def test_names_that_users_type_weigh_more_than_longer_ones() -> None:
    weight = site_ranking.weight
    assert weight("reference/bindax/#bindax.jit") > weight("reference/nnx/lift_jit/#bindax.nnx.jit")
    assert weight("reference/nn/#bindax.nn.relu") > weight("reference/nn/#bindax.nn.relu6")
    assert weight("nnx/") > weight("project/code_of_conduct/")


def test_a_link_that_leads_nowhere_is_an_error(tmp_path: Path) -> None:
    page = ROOT / "docs/training.md"
    linked = site_links.rewrite(
        "[a](../plugins/nnx) `[b](c)` [d](https://e.f)", page, "training.md"
    )
    assert linked == "[a](packages/nnx.md) `[b](c)` [d](https://e.f)"
    with pytest.raises(
        FileNotFoundError, match=r"docs/training.md links to ../nowhere, which is not"
    ):
        site_links.rewrite("[a](../nowhere)", page, "training.md")


def test_scripts_of_the_site_do_not_need_its_packages() -> None:
    code = "import site_pages, sys; sys.exit(any(m in sys.modules for m in ('mkdocs', 'nbclient')))"
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT / "scripts", check=False)
    assert ran.returncode == 0
