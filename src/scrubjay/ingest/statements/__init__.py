"""What a person says of themselves and their world, taken from their turns without a model."""
