"""Operations on windows that slide over an array."""
