"""WRITE PATH: sources > chunk > extract > label > embed > write."""
