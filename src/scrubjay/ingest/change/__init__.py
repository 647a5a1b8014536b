"""What a new statement is beside an old one like it: the same again, its successor, its denial, or another."""
