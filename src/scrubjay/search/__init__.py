"""Search: from a question to ranked results, contexts and threads; read-only."""
