from bindax_optimizers.projections import *
