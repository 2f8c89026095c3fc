"""How the programs that time TensorFlow's steps do it."""
import time


def least_time(calls, step):
    """The least time of a call of `step`, in seconds: of 30 rounds of so many calls, after a warm-up. The last result of a round is awaited."""
    for _ in range(3):
        step().numpy()
    best = 1e9
    for _ in range(30):
        begin = time.perf_counter()
        for _ in range(calls):
            last = step()
        last.numpy()
        best = min(best, (time.perf_counter() - begin) / calls)
    return best
