"""``python -m hitcurve`` is the command ``hitcurve``."""

import sys

from hitcurve.cli import main

sys.exit(main())
