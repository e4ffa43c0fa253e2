import pytest

from bindax_core.extend import physical
from bindax_random import keys
from bindax_random._conformance import conformance_samples
from bindax_testing import check_rules, conformance

test_rules = conformance("random", budget=5.0)


def test_wrong_words_for_compilers_are_found(monkeypatch):
    pytest.importorskip("jaxlib")
    fold_in_p = keys.random_fold_in_p
    right = physical.functions[fold_in_p]
    wrong = lambda *args: [words + 1 for words in right(*args)]  # noqa: E731
    monkeypatch.setitem(physical.functions, fold_in_p, wrong)
    samples = [one for one in conformance_samples() if one.function is fold_in_p]

    report = check_rules(fold_in_p, samples)

    (failure,) = [one for one in report.failures if not one.follows]
    assert failure.check == "compiled"
    assert "the physical rule of random.fold_in" in failure.rule
