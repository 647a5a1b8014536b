"""Where documents come from: files, and a watch on them."""
