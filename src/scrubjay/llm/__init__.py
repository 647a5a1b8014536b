"""Language models, optional, and the HTTP client that all remote models share."""
