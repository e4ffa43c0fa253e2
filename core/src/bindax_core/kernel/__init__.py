"""The kernel: bind, traces, types, jaxprs, rules and their cards. It knows no operation."""
