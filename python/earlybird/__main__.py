"""Lets ``python -m earlybird`` do what ``earlybird`` does."""

from earlybird.cli import main

if __name__ == "__main__":
    main()
