from bindax_parallel.multihost_utils import *
