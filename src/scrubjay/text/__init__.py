"""Text processing: tokens, languages, Markdown structure, temporal expressions, snippets. Knows nothing of stores."""
