"""All tables of calls that are compared with JAX, by name."""

from _linalg_tables import LINALG
from _other_tables import OTHERS, SIGNAL, TRANSFORM
from _special_tables import SPECIAL
from _stats_tables import STATS

TABLES = {
    "special": SPECIAL,
    "linalg": LINALG,
    "stats": STATS,
    "signal": SIGNAL,
    "others": OTHERS,
    "transform": TRANSFORM,
}
