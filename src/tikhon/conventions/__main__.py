"""Write the page of the documentation to the standard output."""

import sys

from tikhon.conventions.page import page

if __name__ == "__main__":
    sys.stdout.write(page())
