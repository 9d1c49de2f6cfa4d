"""``python -m dbpcfg`` is ``dbpcfg``."""

from dbpcfg.cli import main

main()
