"""The words of definitions: what families of primitives have in common, for each rule kind."""
