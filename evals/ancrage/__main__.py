"""``python -m ancrage``: the console command."""

from ancrage.start import main

main()
