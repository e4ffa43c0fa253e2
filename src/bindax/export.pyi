from bindax_export import *
