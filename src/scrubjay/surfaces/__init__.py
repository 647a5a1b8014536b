"""HOW scrubjay is reached. Surfaces translate and decide nothing."""
