"""Language models, which refine what was found without one; none is asked that the settings do not name."""
