"""`python -m ctxview`."""

from ctxview.cli import main

if __name__ == "__main__":
    main()
