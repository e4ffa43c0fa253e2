"""The words of cards: what families of primitives have in common, for each rule kind."""
