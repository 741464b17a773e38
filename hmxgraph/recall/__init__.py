"""From a question and candidates to a context pack: ranked, inside the budget, reproducible (HMX-C). Pure."""
