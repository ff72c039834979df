"""``python -m ancrage``: the console command."""

from ancrage.cli.app import main

main()
