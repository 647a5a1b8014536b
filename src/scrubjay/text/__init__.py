"""Text: tokens, languages, n-grams, Markdown structure, snippets. Knows nothing of stores."""
