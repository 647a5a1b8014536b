"""Text processing: tokens, languages, Markdown structure, temporal expressions, snippets; knows nothing of stores."""
