# A3b check_results: AssertionError: A3b: a backward from results raises an error, torch 1.13.0a0
# contract: A3b
# subject: torch
# sanitizer: none
# run: python3 repro.py    (or: --check 20)
import os, subprocess, sys
import torch as T

if sys.argv[1:2] == ["--check"]:  # run this file N times, each in a fresh process
    import re, signal
    runs = int(sys.argv[2]) if len(sys.argv) > 2 else 20
    stated = r"^(?:[\w.]+\.)?AssertionError: A3b: a backward from results raises an error"
    failed, others = [], []
    for run in range(runs):
        end = subprocess.run([sys.executable, __file__], stderr=subprocess.PIPE, text=True,
                             errors="replace")
        code, said = end.returncode, end.stderr.strip().splitlines()
        said = [line for line in said if "SUMMARY" in line] or said[-2:]
        how = f"killed by {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
        if code and re.search(stated, f"{end.stderr}\n{how}", re.MULTILINE):
            failed.append((code, said))
        elif code:
            others.append(": ".join([how, *said[-1:]]))
        print(f"\r{run + 1} of {runs} runs, {len(failed)} failed", end="", file=sys.stderr)
        sys.stderr.flush()
    print(file=sys.stderr)
    codes = sorted({code for code, _ in failed})
    print(f"failed {len(failed)} of {runs}, exit codes {codes}")
    for line in failed[0][1] if failed else []:
        print(line)
    for how in sorted(set(others)):
        print(f"{others.count(how)} ended otherwise: {how}")
    sys.exit(1 if failed else 2 if others else 0)

def in_hermetic():
    used = globals().get("mode")
    return used is not None and used.hermetic
def raised_by(function):
    try:
        function()
    except RuntimeError as error:
        return error
    return None
class ResultsOfSizes(T.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return tuple(x.expand(times) * times for times in (1, 2, 3))
    @staticmethod
    def backward(ctx, *gradients):
        return sum((one * times).sum() for times, one in enumerate(gradients, 1)).view(1)
def hook_that_notes(log, number, factor, size):
    def hook(gradient):
        log.append((number, None if gradient is None else gradient.tolist()))
        if factor is None:
            return T.ones(size) * 3
        if gradient is not None and factor != 1:
            return gradient * factor
    return hook
class Results:
    def __init__(self):
        self.leaf = T.tensor([2.0]).requires_grad_()
        self.results = ResultsOfSizes.apply(self.leaf)
        self.log, self.factors, self.places = [], [], []  # the last two are of each hook
        self.handles, self.hooks = [[], [], []], [None, None, None]  # of each result
        self.run = []  # a result and its hooks, in the order in which the node got them
        self.used, self.started, self.retained = {0, 1, 2}, [], set()
    def nothing(self):
        pass
    def register(self, place, factor):
        number = len(self.factors)
        self.factors.append(factor)
        self.places.append(place)
        hook = hook_that_notes(self.log, number, factor, place + 1)
        self.handles[place].append((self.results[place].register_hook(hook), number))
        if self.hooks[place] is None:
            self.hooks[place] = []
            self.run.append((place, self.hooks[place]))
        self.hooks[place].append(number)
    def hook(self, place):
        self.register(place, 1)
    def retain(self, place):
        self.results[place].retain_grad()
        self.retained.add(place)
    def skip(self, place):
        self.used.discard(place)
    def gradient(self, place):
        number = 10.0 ** place * (place in self.used) + 7 * self.started.count(place)
        return number or None
    def backward(self):
        """Runs a backward from the sum of what is used, and from each result that is started."""
        sums = [(self.results[place] * 10.0 ** place).sum() for place in sorted(self.used)]
        starts = [self.results[place] for place in self.started]
        T.autograd.backward([*sums, *starts], [*(None for _ in sums), *(
            T.ones(one.numel()) * 7 for one in starts)])
    def compare(self, error):
        gradients, heard = [self.gradient(place) for place in range(3)], []
        is_wrong = False  # a hook may not replace a missing gradient, nor change a size
        for place, hooks in self.run:
            for number in hooks:
                given, factor = gradients[place], self.factors[number]
                heard.append((number, None if given is None else [given] * (place + 1)))
                is_other_size = self.places[number] != place
                is_wrong = is_wrong or factor is None and (given is None or is_other_size)
                gradients[place] = 3.0 if factor is None else given and given * factor
        assert (error is not None) == is_wrong, (
            f"A3b: a backward from results raises {'nothing' if is_wrong else 'an error'}")
        if error is not None:
            return
        assert self.log == heard, f"A3b: hooks are given {self.log}, and not {heard}"
        for place in self.retained:
            found, given = self.results[place].grad, gradients[place]
            assert (found is None) == (given is None), f"A3g: retained is {found}, and not {given}"
            assert found is None or found.tolist() == [given] * (place + 1), (
                f"A3g: a retained gradient is {found.tolist()}, and not {given}")
        total = sum((place + 1) ** 2 * (given or 0) for place, given in enumerate(gradients))
        found = self.leaf.grad.tolist()
        assert found == [total], f"A7: a gradient through results is {found}, and not {total}"
def check_results(*steps):
    if in_hermetic():
        return
    with T.enable_grad():
        one = Results()
        for step in steps:
            verb, *places = step.split()
            getattr(one, verb)(*map(int, places))
        if one.used or one.started:
            one.compare(raised_by(one.backward))

check_results('retain 1', 'skip 1', 'nothing', 'nothing', 'nothing')
