"""``python -m hmxgraph`` is ``hmxgraph``."""

from hmxgraph.cli import main

if __name__ == "__main__":
    main()
