from bindax_refs import *
