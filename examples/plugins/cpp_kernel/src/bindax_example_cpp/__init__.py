"""A sum that forgets, computed by a kernel in C++."""

from bindax_example_cpp.function import fading_sum as fading_sum
