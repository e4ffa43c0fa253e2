"""Sample inputs of every primitive: what the conformance suite, tests and documentation run on."""
