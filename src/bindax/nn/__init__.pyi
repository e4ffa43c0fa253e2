from bindax.nn import initializers as initializers
from bindax_nn import *
