"""Arguments that make no sense: the error says which, and what they are."""

import numpy as np
import pytest

import bindax
from bindax import nn
from bindax.errors import ConcretizationTypeError

X = np.ones((2, 3), np.float32)
Q = np.ones((1, 2, 3, 4), np.float32)
CASES = {
    "glu": (lambda: nn.glu(X), "glu: the size of axis -1 must be even, .* shape \\(2, 3\\)"),
    "standardize": (lambda: nn.standardize(X, algorithm="slow"), "algorithm .* but it is 'slow'"),
    "one_hot axis": (lambda: nn.one_hot(0, 3, axis=2), "one_hot: axis 2 is out of range"),
    "heads": (
        lambda: nn.dot_product_attention(Q, Q[:, :, :2], Q[:, :, :2]),
        "heads of query, 3, must be a multiple of .* 2",
    ),
    "value": (
        lambda: nn.dot_product_attention(Q, Q, Q[:, :1]),
        "value must have shape \\(1, 2, 3, 4\\), .* it has shape \\(1, 1, 3, 4\\)",
    ),
    "mask": (lambda: nn.dot_product_attention(Q, Q, Q, mask=X), "mask must have dtype bool"),
    "implementation": (
        lambda: nn.dot_product_attention(Q, Q, Q, implementation="own"),
        "implementation must be one of .* it is 'own'",
    ),
    "scaled axes": (lambda: nn.scaled_matmul(X, X, X, X), "must have 3 axes, but lhs has shape"),
    "scaled sizes": (
        lambda: nn.scaled_matmul(Q[0], Q[0], Q[0, :, :2], Q[0]),
        "scales must have the first two sizes",
    ),
    "softmax": (lambda: nn.softmax(X, axis=5), "softmax: axis 5 is out of bounds"),
    "log_softmax": (lambda: nn.log_softmax(X, axis=(0, 9)), "log_softmax: axis 9 is out"),
    "logsumexp": (lambda: nn.logsumexp(X, axis=4), "logsumexp: axis 4 is out of bounds"),
    "axis of standardize": (
        lambda: nn.standardize(X, axis=4),
        "standardize: axis 4 is out of bounds",
    ),
    "axis of glu": (lambda: nn.glu(X, axis=9), "glu: axis 9 is out of bounds"),
    "classes": (lambda: nn.one_hot(0, -1), "one_hot: num_classes must not be negative, .* -1"),
    "in_axis": (
        lambda: nn.initializers.glorot_normal(in_axis=5)(None, (3, 4)),
        "variance_scaling: in_axis 5 is out of bounds",
    ),
    "bias": (
        lambda: nn.dot_product_attention(Q, Q, Q, bias=np.ones((7, 7))),
        "dot_product_attention: bias cannot be added: .* sizes",
    ),
    "mode": (lambda: nn.get_scaled_dot_general_config("fp8"), "mode must be .* it is 'fp8'"),
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_values(case):
    call, text = CASES[case]
    with pytest.raises(ValueError, match=text):
        call()


def test_kernels_of_cudnn_are_refused():
    with pytest.raises(RuntimeError, match="asks for kernels of cuDNN, which bindax does not call"):
        nn.dot_product_attention(Q, Q, Q, implementation="cudnn")


def test_number_of_classes():
    with pytest.raises(TypeError, match=r"num_classes and axis must be integers .* 2\.5"):
        nn.one_hot(0, 2.5)
    with pytest.raises(ConcretizationTypeError, match="num_classes and axis must be integers"):
        bindax.jit(nn.one_hot)(0, 2)


def test_slopes_are_arrays():
    with pytest.raises(TypeError, match=r"leaky_relu takes arrays and scalars, .* 'a'"):
        nn.leaky_relu(X, "a")


def test_lists_are_no_arrays():
    with pytest.raises(TypeError, match="relu takes arrays and scalars"):
        nn.relu([1.0])


def test_unknown_name():
    with pytest.raises(AttributeError, match="no attribute 'rely'"):
        nn.rely
