"""Rules of memd task records: steps, trust, digests, search, maintenance."""
