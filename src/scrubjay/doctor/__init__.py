"""Diagnose the installation, and prove that each agent remembers."""
