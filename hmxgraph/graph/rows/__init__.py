"""Rows to values and values to rows, subject by subject."""
