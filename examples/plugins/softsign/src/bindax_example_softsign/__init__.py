"""The softsign function as a primitive of bindax, and a container for bounds."""

from bindax_example_softsign.containers import Bounds as Bounds
from bindax_example_softsign.function import softsign as softsign
