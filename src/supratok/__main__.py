"""`python -m supratok` is the command `supratok`."""

import sys

from .cli.main import main

if __name__ == "__main__":
    sys.exit(main())
