"""WHAT a memory is: records, ranking values, tiers, scope, ids. Standard library only."""
