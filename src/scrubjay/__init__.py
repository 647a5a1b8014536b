"""Memory for AI agents that knows what, where and when."""
