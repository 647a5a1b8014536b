"""WHO computes: embedding models, imported on use."""
