"""Services: the operations behind `Memory`, for one principal."""
