"""The kernel: bind, traces, types, jaxprs, rules and their definitions. It knows no operation."""
