"""What the tests in Python count, and the last line that each of them prints."""


class Checks:
    """check = Checks("name"); check(good, what); ...; sys.exit(check.end())"""
    SHOWN = 50  # failures that are printed

    def __init__(self, name):
        self.name = name
        self.passed = self.failed = self.skipped = 0

    def __call__(self, good, what, output=""):
        self.passed += bool(good)
        if not good:
            self.failed += 1
            if self.failed <= self.SHOWN:
                print(f"FAILED {what[:2000]}", output[-1500:], sep="\n" if output else "")
        return bool(good)

    def skip(self, what, why):
        self.skipped += 1
        print(f"{what}: SKIPPED, because {why}")

    def end(self):
        """Prints the sums. Returns the exit code."""
        print(f"{self.name}: {self.passed} passed, {self.failed} failed" +
              (f", {self.skipped} skipped" if self.skipped else ""))
        return int(self.failed > 0)
