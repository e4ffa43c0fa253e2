from bindax_parallel.distributed import *
