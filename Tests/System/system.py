"""Runs the tests in real programs. usage: see run.sh"""
import sys
import time
import traceback

import agent_tests
import memory_tests
import race_tests
import refusal_bench
import signal_tests
import sudo_tests
import whose_tests
from world import World


def main():
    module, programs, *names = sys.argv[1:]
    world = World(module, programs)
    if names == ["--bench"]:
        try:
            return refusal_bench.main(world)
        finally:
            world.close()
    failed = []
    count = 0
    try:
        for group in (sudo_tests, signal_tests, whose_tests, agent_tests, race_tests, memory_tests):
            for test in group.TESTS:
                if names and not any(name in test.__name__ for name in names):
                    continue
                count += 1
                world.reset()
                start = time.monotonic()
                try:
                    test(world)
                    print(f"ok {group.__name__}.{test.__name__} ({time.monotonic() - start:.1f} s)", flush=True)
                except Exception:  # a test's failure, whatever it is
                    failed.append(test.__name__)
                    print(f"FAILED {group.__name__}.{test.__name__}", flush=True)
                    traceback.print_exc()
    finally:
        world.close()
    print(f"Tests/System: {count - len(failed)} of {count} tests passed{': ' if failed else ''}{', '.join(failed)}")
    return 1 if failed or not count else 0


sys.exit(main())
