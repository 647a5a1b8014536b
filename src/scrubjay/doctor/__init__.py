"""Doctor: is the installation well, and does each agent in fact remember? Each finding is a line with its way out."""
