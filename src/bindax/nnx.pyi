from bindax_nnx import *
