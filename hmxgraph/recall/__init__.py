"""From a question and candidates to a context pack (HMX-C): ranked, within the budget, reproducible; no database."""
