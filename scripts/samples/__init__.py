"""How the bundled sample traces are made: one module per sample, each with `build() -> {file name: text}`.

A sample is generated, not recorded, so that every figure a test or a walkthrough quotes can be traced to a line of
code, and so that no real conversation ends up in the package. The same code gives the same bytes on every run.
"""
