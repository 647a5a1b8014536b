"""The contract suite that every store must pass, and its samples, histories and checks."""
