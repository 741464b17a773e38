"""Candidates into a budget: judged, compared, filled in, accounted for."""
