#!/usr/bin/env python3
"""A model of what a step of compiled workers costs, fitted to what bench_network and bench_start measured, and checked on what was not
fitted.

    model.py network.json start.json [--check WORKERS] [--wire BYTES-A-SECOND] [--processors N]

Figures of W workers and S servers are those of a closed queue: a worker's step keeps the scarcest resource (a server, or what it shares
with others) for a time D, and takes the time Z besides; steps of W workers a second are given by mean value analysis,

    R(0) = 0,  R(w) = D (1 + Q(w - 1)),  X(w) = w / (Z + R(w)),  Q(w) = X(w) R(w).

The processor time of a step is, at the worker, computing + S a + B b, and at the servers S a' + B b' together, for B bytes each way. On the
machine that was measured all processes share its processors, so D is the sum of both over their number. On machines of their own D is that
of the server with the most bytes, or what the wire takes for them."""

import argparse
import json


def steps_a_second(workers, demand, besides):
    queue = rate = 0.0
    for w in range(1, workers + 1):
        residence = demand * (1 + queue)
        rate = w / (besides + residence)
        queue = rate * residence
    return rate


class Model:
    """Microseconds and bytes."""

    def __init__(self, rows, processors):
        self.processors = processors
        self.bytes = rows[0]["bytes"]
        alone = {r["servers"]: r for r in rows if r["workers"] == 1}
        # What one more server costs tells messages from bytes.
        mean = lambda values: sum(values) / len(values)
        by_servers = lambda key, s: mean([r[key] for r in rows if r["servers"] == s])
        self.computing = mean([r["computing"] for r in alone.values()])

        def split(key, fixed):
            a = max(0.0, by_servers(key, 2) - by_servers(key, 1))
            return a, max(0.0, (by_servers(key, 1) - fixed - a) / self.bytes)

        self.worker_message, self.worker_byte = split("worker_processor", self.computing)
        self.server_message, self.server_byte = split("server_processor", 0.0)
        # Of a step alone: what no processor is busy with; below 0 if two are busy at a time.
        self.idle = {s: r["step"] - self.worker(s) - self.server(s) for s, r in alone.items()}
        # Steps of several workers wait for more than processors: caches, locks, the scheduler. One factor for all.
        self.share = 1.0
        shared = [r for r in rows if r["workers"] > 1]
        if shared:
            best = min((sum((self.here(r["servers"], r["workers"], f) / r["steps_a_second"] - 1) ** 2 for r in shared), f)
                       for f in [0.5 + 0.01 * k for k in range(150)])
            self.share = best[1]

    def worker(self, servers):
        return self.computing + self.worker_message * servers + self.worker_byte * self.bytes

    def server(self, servers):
        return self.server_message * servers + self.server_byte * self.bytes

    def here(self, servers, workers, share=None):
        """Steps a second of all, on the machine that was measured."""
        work = self.worker(servers) + self.server(servers)
        demand = (share if share is not None else self.share) * work / self.processors
        # The part of a step that cannot be spread over processors.
        return 1e6 * steps_a_second(workers, demand, max(0.0, work + self.idle[servers] - demand))

    def apart(self, servers, workers, wire, latency, largest=None):
        """Steps a second of all, each process on a machine of its own; with the resource that limits them."""
        share = largest if largest is not None else 1 / servers
        processor = self.server_message + self.server_byte * self.bytes * share
        transfer = 1e6 * self.bytes * share / wire
        demand = max(processor, transfer)
        besides = self.worker(servers) + self.idle[1] + latency + (processor + transfer - demand)
        # Its own wire carries all the bytes.
        besides += 1e6 * self.bytes * max(0.0, 1 - share) / wire
        rate = 1e6 * steps_a_second(workers, demand, besides)
        return rate, ("a server's processor" if processor >= transfer else "a server's wire"), 1e6 / demand


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("network")
    arguments.add_argument("start")
    arguments.add_argument("--check", type=int, default=3, help="the number of workers whose figures are not fitted")
    arguments.add_argument("--wire", type=float, default=1.25e9, help="bytes a second of a machine's network, each way")
    arguments.add_argument("--latency", type=float, default=50.0, help="microseconds of a round trip on it")
    given = arguments.parse_args()
    with open(given.network) as file:
        rows = json.load(file)
    with open(given.start) as file:
        start = {r["name"]: r["value"] for r in json.load(file)}

    for transport in ["TCP", "shared memory"]:
        mine = [r for r in rows if r["name"] == "leat, " + transport]
        fitted = [r for r in mine if r["workers"] != given.check]
        if len({r["servers"] for r in fitted}) < 2:
            print(f"{transport}: 1 and 2 servers must have been measured")
            continue
        m = Model(fitted, mine[0]["processors"])
        print(f"{transport}: computing {m.computing:.0f} us; at the worker {m.worker_message:.0f} us a server and {1e3 * m.worker_byte:.3f} us"
              f" a kB; at the servers {m.server_message:.0f} us a server and {1e3 * m.server_byte:.3f} us a kB; besides"
              f" {m.idle[1]:.0f} and {m.idle[2]:.0f} us with 1 and 2 servers; sharing {m.share:.2f}")
        for r in sorted(mine, key=lambda r: (r["servers"], r["workers"])):
            said = m.here(r["servers"], r["workers"])
            print(f"  {r['servers']} servers, {r['workers']} workers: measured {r['steps_a_second']:6.0f}, model {said:6.0f} steps a second,"
                  f" {100 * (said / r['steps_a_second'] - 1):+5.1f} %" + ("" if r["workers"] != given.check else "   not fitted"))
        if transport != "TCP":
            continue
        print(f"  on machines of their own, {given.wire / 1e9:g} GB/s each way, {given.latency:g} us a round trip:")
        for servers, workers in [(1, 1), (1, 10), (10, 10), (10, 100), (100, 1000)]:
            for what, largest in [("even shares", None), ("no variable cut", 784 * 256 * 4 / m.bytes)]:
                if servers == 1 and largest is not None:
                    continue
                rate, limit, most = m.apart(servers, workers, given.wire, given.latency, largest)
                share = largest if largest is not None else 1 / servers
                print(f"    {servers:3d} servers, {workers:4d} workers, {what}: {rate:8.0f} steps a second, {rate / workers:6.1f} of each"
                      f" worker; {rate * m.bytes * share / 1e6:6.0f} MB/s each way at the busiest server; at most {most:.0f}, by {limit}")

    session, task = start["one more session, open: memory of a task"], start["one more task, to start"]
    memory = start["32 tasks: resident memory of each"]
    print(f"memory of a server with 1,000 workers: {memory:.1f} MB + 1,000 sessions x {session:.0f} kB = {memory + session:.0f} MB, its variables"
          " and their slots, and for each worker at most the 64 MiB that may be under way")
    print(f"time to start: {task:.2f} ms a task on one machine of {rows[0]['processors']} processors, so {1.1 * task:.1f} s for 1,100 there")


if __name__ == "__main__":
    main()
