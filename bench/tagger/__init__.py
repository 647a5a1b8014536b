"""Training of the tagger of secrets: labelled texts, the network, and what it is shown."""
