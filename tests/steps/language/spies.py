"""What watches a line from inside: spans of hermetic mode, set attributes, started processes."""

import contextlib


class Spans:
    """The prelude's `hermetic`, which also records whether the mode was on inside."""

    def __init__(self, make, is_hermetic):
        self.make, self.is_hermetic, self.was_on = make, is_hermetic, False

    @contextlib.contextmanager
    def __call__(self):
        with self.make():
            self.was_on |= self.is_hermetic()
            yield


def spy_on(base):
    """A subclass of BASE, and a record of the attributes that are set on its instances."""
    before = {}

    class Spy(base):
        """Records attributes that are set."""

        def __setattr__(self, name, value):
            before.setdefault((id(self), name), getattr(self, name, None))
            super().__setattr__(name, value)

    return Spy, before


def processes():
    """A number that grows with each thread and process of this PID namespace."""
    with open("/proc/loadavg", encoding="ascii") as file:
        return int(file.read().split()[-1])
