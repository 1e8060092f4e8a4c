"""What the CLI's JSON says (cli.md): plain values made from a trace, never from its files or its tables.

One module for each command, which loads that one alone.
"""
