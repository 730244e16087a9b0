"""Units of work on threads."""

import threading
import time

import pytest

from tikhon.engine import map_units


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_the_order_of_the_units(threads):
    def slow_first(unit):
        time.sleep(0.02 if unit == 0 else 0.0)
        return unit**2

    assert map_units(slow_first, range(6), threads) == [0, 1, 4, 9, 16, 25]


def test_an_error_in_a_unit_reaches_the_caller():
    def fail(unit):
        if unit == 2:
            raise ValueError("unit 2")
        return unit

    with pytest.raises(ValueError, match="unit 2"):
        map_units(fail, range(4), 2)


def test_units_run_side_by_side_with_one_blas_thread_each():
    import threadpoolctl

    meeting = threading.Barrier(2, timeout=10)

    def meet(unit):
        meeting.wait()
        pools = threadpoolctl.threadpool_info()
        return max(p["num_threads"] for p in pools if p["user_api"] == "blas")

    assert map_units(meet, range(2), 2) == [1, 1]
