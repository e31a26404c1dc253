"""How many threads an engine should compute with."""

import os

import psutil


def num_cores() -> int:
    """Real cores that this process may use, less one where there are more than two: a step waits for its slowest
    thread, and with another program on one of two cores it took 3 to 20 times as long (measured)."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    cores = min(usable, psutil.cpu_count(logical=False) or usable)
    return cores - 1 if cores > 2 else cores
