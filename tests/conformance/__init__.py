"""The parts of tests/conformance.py."""
