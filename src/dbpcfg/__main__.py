"""``python -m dbpcfg`` is ``dbpcfg``."""

from dbpcfg.cli.app import main

main()
