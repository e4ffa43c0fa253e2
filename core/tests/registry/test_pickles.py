"""Pickles name the plugin that they need when it was removed."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import pytest

from bindax_core.errors import PluginError
from bindax_core.registry import _provenance
from bindax_core.registry._declared import _declared_in, declared_primitives

MODULE = "from bindax_core.extend import Primitive\ngone_p = Primitive('gone.p')\n"


def test_removed_plugin_is_named(site: Any) -> None:
    site.plugin("gone", MODULE, "[bindax.v1.primitives]\ngone.p = gone:gone_p\n", "2.1")
    _provenance._find.cache_clear()
    import gone

    blob = pickle.dumps({"p": gone.gone_p})
    assert pickle.loads(blob)["p"] is gone.gone_p
    del sys.modules["gone"]
    declared_primitives.pop("gone.p")
    (site.directory / "gone.py").unlink()
    message = (
        r"a pickle needs the primitive 'gone\.p' of gone-dist 2\.1 \(module gone\), which is not "
        r"installed here\. Install it: pip install gone-dist\."
    )
    with pytest.raises(PluginError, match=message) as caught:
        pickle.loads(blob)
    assert isinstance(caught.value.__cause__, ModuleNotFoundError)


def test_module_of_no_distribution_is_named() -> None:
    message = r"needs the primitive 'x\.p' of the module 'no_such_module\.x', which is not install"
    with pytest.raises(PluginError, match=message):
        _declared_in("no_such_module.x", "x.p")


def test_module_that_needs_another_one_says_which(site: Any) -> None:
    site.module("needs_more", "import no_such_module")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"):
        _declared_in("needs_more", "x.p", "needs-dist 1.0")


def test_newer_module_without_the_primitive(site: Any) -> None:
    site.module("newer", "")
    message = r"newer declares no primitive 'x\.p'; .* It was pickled with newer-dist 1\.0"
    with pytest.raises(LookupError, match=message):
        _declared_in("newer", "x.p", "newer-dist 1.0")
