"""What was learned, to look at: one page for a run, figures for papers, sweeps over runs."""

from dbpcfg.report.assemble import as_page, check_free, write_page
from dbpcfg.report.collect import collect
from dbpcfg.report.finished import finished_run
from dbpcfg.report.goldtrees import Gold, gold_of
from dbpcfg.report.others import read_comparison

__all__ = [
    "Gold",
    "as_page",
    "check_free",
    "collect",
    "finished_run",
    "gold_of",
    "read_comparison",
    "write_page",
]
