"""Transcripts: a module for each tool that writes logs of conversations, `format` what they share."""
