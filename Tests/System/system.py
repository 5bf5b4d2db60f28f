"""Runs the tests in real programs. usage: see run.sh"""
import shutil
import sys
import time
import traceback

import agent_tests
import doas_tests
import greetd_tests
import locker_tests
import memory_tests
import race_tests
import refusal_bench
import signal_tests
import ssh_tests
import stop_tests
import sudo_tests
import tmux_tests
import whose_tests
from world import PATH, World

GROUPS = (sudo_tests, signal_tests, stop_tests, whose_tests, doas_tests, tmux_tests, ssh_tests, locker_tests, greetd_tests,
          agent_tests, race_tests, memory_tests)


def main():
    module, programs, more, *names = sys.argv[1:]
    world = World(module, programs, more)
    if names == ["--bench"]:
        try:
            return refusal_bench.main(world)
        finally:
            world.close()
    failed = []
    count = 0
    try:
        for group in GROUPS:
            missing = [name for name in getattr(group, "NEEDS", ()) if shutil.which(name, path=PATH) is None]
            if missing:
                print(f"skipped {group.__name__}: {', '.join(missing)} not here", flush=True)
                continue
            for name in getattr(group, "WANTS", ()):
                if shutil.which(name, path=PATH) is None:
                    print(f"skipped {group.__name__} in {name}: not here", flush=True)
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
