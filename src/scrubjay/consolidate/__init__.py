"""The night path: old observations become digests, what repeats is promoted, and everything leads back."""
