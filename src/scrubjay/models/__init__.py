"""Data models: records, results, reports and ids. Standard library only."""
