"""Kinds: a file's name -> what may be in it. Names alone: content decides which JSON file is a transcript."""

# What the Markdown chunker reads as it is meant. reStructuredText and Org have other headings, so their
# sections would come out untitled: they are taken when `include` asks for them.
DEFAULT_INCLUDE = ("*.md", "*.markdown", "*.mdx", "*.txt")
# What a folder with transcripts in it holds besides; which of these files are some is told by their content.
TRANSCRIPT_INCLUDE = ("*.jsonl", "*.json", "*.jsonl.reset.*", "*.jsonl.deleted.*", "opencode*.db")
# Stands for the extractor of a file that is named like a transcript and is none, so that it is read once.
NO_TRANSCRIPT = "no transcript"


def like_transcript(path: str) -> bool:
    """Return whether a file's name is one that transcripts have; they are read piece by piece, however large."""
    name = path.rpartition("/")[2].lower()
    log = name.endswith(".json") or ".jsonl" in name[-40:]
    return log or (name.startswith("opencode") and name.endswith(".db"))
