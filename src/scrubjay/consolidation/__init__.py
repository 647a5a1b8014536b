"""Consolidation: digest old observations, promote what repeats, audit the rest."""
