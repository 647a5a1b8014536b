"""What the night promotes: facets, facts borne out, procedures, crystals and insights, each with its evidence."""
