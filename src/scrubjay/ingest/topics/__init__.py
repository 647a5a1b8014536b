"""Topics: memories of one key -> the categories they fall into, by what they say and by where they stand."""
