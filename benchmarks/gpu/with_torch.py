"""with_torch.py: the steps of steps.cu by PyTorch, eagerly and replayed as CUDA graphs. Prints the least time of a step in microseconds."""
import time

import torch
import torch.nn.functional as F

device = torch.device("cuda")
torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
print(torch.cuda.get_device_name(), "PyTorch", torch.__version__, flush=True)


def numbers(*shape, scale=1.0):
    count = 1
    for s in shape:
        count *= s
    places = torch.arange(count, dtype=torch.int64)
    return ((places * 2654435761) % 1000 / 1000 * scale).to(torch.float32).reshape(shape)


def least_time(calls, step):
    for _ in range(3):
        step()
    torch.cuda.synchronize()
    best = 1e9
    for _ in range(12):
        begin = time.perf_counter()
        for _ in range(calls):
            step()
        torch.cuda.synchronize()
        best = min(best, (time.perf_counter() - begin) / calls)
    return 1e6 * best


def report(name, kind, microseconds):
    print(f"{name:44} {kind:7} {microseconds:10.2f} us", flush=True)


def captured(step):
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            step()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = step()
    return graph, out


def training(name, loss_of, parameters, optimizer, feeds):
    there = [f.to(device) for f in feeds]

    def step():
        optimizer.zero_grad(set_to_none=False)
        loss = loss_of(*there)
        loss.backward()
        optimizer.step()
        return loss

    def feed():
        for to, f in zip(there, feeds):
            to.copy_(f, non_blocking=True)

    def eager():
        feed()
        return step().item()

    report(name + ", loss fetched", "eager", least_time(100, eager))
    graph, loss = captured(step)

    def replayed():
        feed()
        graph.replay()
        return loss.item()

    def alone():
        feed()
        graph.replay()

    report(name + ", loss fetched", "graph", least_time(100, replayed))
    report(name + ", nothing fetched", "graph", least_time(100, alone))


def operation(name, calls, step, compiles=False):
    report(name, "eager", least_time(calls, step))
    if compiles:
        step = torch.compile(step)
        step()
        report(name, "compile", least_time(calls, step))
    graph, _ = captured(step)
    report(name, "graph", least_time(calls, graph.replay))


for batch in (1, 100, 100000):
    w = torch.zeros(10, 1, device=device, requires_grad=True)
    b = torch.zeros((), device=device, requires_grad=True)
    training(f"linear regression, {batch}", lambda x, y: ((x @ w).squeeze(1) + b - y).square().mean(), [w, b],
             torch.optim.SGD([w, b], 0.01), [numbers(batch, 10).pin_memory(), numbers(batch).pin_memory()])

for kind in ("gradient descent", "Adam"):
    model = torch.nn.Sequential(torch.nn.Linear(784, 256), torch.nn.ReLU(), torch.nn.Linear(256, 128), torch.nn.ReLU(),
                                torch.nn.Linear(128, 10)).to(device)
    parameters = list(model.parameters())
    optimizer = (torch.optim.SGD(parameters, 0.01, foreach=True) if kind != "Adam" else
                 torch.optim.Adam(parameters, 0.001, capturable=True, fused=True))
    training("network, " + kind, lambda x, y: F.cross_entropy(model(x), y), parameters, optimizer,
             [numbers(64, 784).pin_memory(), numbers(64, scale=10).long().pin_memory()])

lenet = torch.nn.Sequential(
    torch.nn.Conv2d(1, 6, 5, padding="same"), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Conv2d(6, 16, 5), torch.nn.ReLU(),
    torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(400, 120), torch.nn.ReLU(), torch.nn.Linear(120, 84), torch.nn.ReLU(),
    torch.nn.Linear(84, 10)).to(device)
parameters = list(lenet.parameters())
training("LeNet, Adam", lambda x, y: F.cross_entropy(lenet(x), y), parameters,
         torch.optim.Adam(parameters, 0.001, capturable=True, fused=True),
         [numbers(64, 1, 28, 28).pin_memory(), numbers(64, scale=10).long().pin_memory()])

first, second, third = (torch.rand(10000000, device=device) for _ in range(3))


def write(to, value):
    to.copy_(value)


operation("max(x * y + 1, x) of 1e7", 50, lambda: write(third, torch.maximum(first * second + 1, first)), compiles=True)
operation("exp(x * y) of 1e7", 50, lambda: write(third, torch.exp(first * second)))
operation("sum of 1e7", 50, lambda: torch.sum(first))
table, to = torch.rand(4096, 1024, device=device), torch.rand(4096, 1024, device=device)
bias, rows, columns = torch.rand(1024, device=device), torch.rand(4096, device=device), torch.rand(1024, device=device)
operation("x + bias of [4096, 1024]", 50, lambda: torch.add(table, bias, out=to))
operation("softmax of [4096, 1024]", 50, lambda: torch.softmax(table, 1, out=to))
operation("sum over columns of [4096, 1024]", 50, lambda: torch.sum(table, 1, out=rows))
operation("sum over rows of [4096, 1024]", 50, lambda: torch.sum(table, 0, out=columns))
operation("layer normalization of [4096, 1024]", 50, lambda: F.layer_norm(table, (1024,)))
turned = torch.rand(1024, 4096, device=device)
operation("transpose of [4096, 1024]", 50, lambda: turned.copy_(table.t()))
left, right, product = (torch.rand(1024, 1024, device=device) for _ in range(3))
operation("matmul of [1024, 1024]", 50, lambda: torch.matmul(left, right, out=product))
