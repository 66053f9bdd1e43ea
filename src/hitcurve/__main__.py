"""python -m hitcurve"""

import sys

from hitcurve.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
