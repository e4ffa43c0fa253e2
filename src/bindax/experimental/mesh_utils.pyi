from bindax_parallel.mesh_utils import *
