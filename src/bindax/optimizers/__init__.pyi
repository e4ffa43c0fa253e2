from bindax.optimizers import contrib as contrib
from bindax.optimizers import losses as losses
from bindax.optimizers import projections as projections
from bindax.optimizers import schedules as schedules
from bindax.optimizers import transforms as transforms
from bindax.optimizers import tree as tree
from bindax.optimizers import tree_utils as tree_utils
from bindax_optimizers import *
