"""The benchmark of NLI methods: ``python -m benchmarks.nli``, and ``benchmarks.nli.speed``."""
