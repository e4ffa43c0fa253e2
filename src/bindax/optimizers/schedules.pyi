from bindax_optimizers.schedules import *
