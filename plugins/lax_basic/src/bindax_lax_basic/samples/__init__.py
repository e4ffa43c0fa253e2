"""Sample inputs of every primitive: what the conformance kit, tests and documentation run on."""
