"""What the CLI's JSON says (cli.md): plain values made from a trace, never from its files or its tables."""

from ctxview.report.block import block_life_report
from ctxview.report.diff import diff_report
from ctxview.report.info import info_report
from ctxview.report.ledger import ledger_report
from ctxview.report.show import show_report

__all__ = ["block_life_report", "diff_report", "info_report", "ledger_report", "show_report"]
