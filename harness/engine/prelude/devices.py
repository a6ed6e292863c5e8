"""What lines about threads of a backward may call: backwards beside the program, and checks."""

#: itertools [slotcore]: for threads that wait for each other
import _thread, itertools

#: Worker [slotcore]: a thread that runs one function
#> Worker: starts_thread
import _thread
class Worker:
    def __init__(self, function):
        self.end, self.work, self.error = _thread.allocate_lock(), function, None
        self.end.acquire()
        beside.add(self.end)
        _thread.start_new_thread(self.serve, ())
    def serve(self):
        function, self.work = self.work, None
        try:
            function()
        except Exception as error:
            self.error = error.with_traceback(None)
        function = None  # this frame may outlive join() and must hold nothing
        beside.discard(self.end)
        self.end.release()
    def join(self):
        assert self.end.acquire(timeout=WORKER_SECONDS_MAX), "A5d: a backward does not return"
        self.end.release()
        return self.error

#: Backward [slotcore]: a backward that runs beside the program until join()
#> Backward: finalizes starts_thread
class Backward:
    worker = None  # of one that was not finished
    def __init__(self, tensor):
        with T.enable_grad():
            self.leaf = differentiable(tensor)
            result = fn("save_input", "y", "saved").apply(self.leaf)
            with T.on_device(0):
                result = result * self.leaf
            self.worker = Worker(result.sum().backward)
    def join(self):
        error = self.worker.join()
        assert error is None, f"A5b: a backward beside the program raised {error!r}"
        assert numbers_of(self.leaf.grad) == 3 * self.leaf.numel(), "A5b: a backward beside others"
    def __del__(self):
        if self.worker is not None:
            self.worker.join()

#: meeting [slotcore]: a hook in which two threads wait for each other
def meeting():
    turns, second = itertools.count(), _thread.allocate_lock()
    second.acquire()
    def meet(*gradients):
        if next(turns) == 0:
            assert second.acquire(timeout=WORKER_SECONDS_MAX), "A5d: a backward does not come"
        else:
            second.release()
    return meet

#: errors_of_two [slotcore]: what two backwards at once of one graph raise
#> errors_of_two: starts_thread
def errors_of_two(total, **how):
    other = Worker(lambda: total.backward(**how))
    errors = raised_by(lambda: total.backward(**how)), other.join()
    return [error for error in errors if error is not None]

#: check_two_backwards [slotcore]: backwards at once add up, or one of them frees the graph (A5b)
#> check_two_backwards: checks starts_thread
def check_two_backwards(tensor):
    with T.enable_grad():
        leaf = differentiable(tensor)
        kept, freed = leaf * leaf, leaf * leaf
        # Both threads have unpacked what is saved when one of them frees it.
        kept.grad_fn.register_hook(meeting())
        freed.grad_fn.register_hook(meeting())
        with T.on_device(0):
            kept = kept * leaf
        errors = errors_of_two(kept.sum(), retain_graph=True)
        assert not errors, f"A5b: a backward of a kept graph raised {errors}"
        assert numbers_of(leaf.grad) == 6 * leaf.numel(), "A5b: two backwards do not add up"
        errors = errors_of_two(freed.sum())
    assert len(errors) == 1, f"A5b: two backwards that free a graph raised {errors}"
    assert numbers_of(leaf.grad) == 8 * leaf.numel(), "A5b: the gradient of the one that freed it"

#: failing_backward [slotcore]: raises while tasks wait for the caller and for devices
#> failing_backward: checks
def failing_backward(leaf, devices, held):
    ran, turns, failed = [], itertools.count(), _thread.allocate_lock()
    failed.acquire()
    def fails(gradient):
        failed.release()
        raise KeyError("mine")
    def waits(gradient, held=held):
        # The first task of a device ends after the error, and others wait behind it.
        if next(turns) == 0:
            assert failed.acquire(timeout=WORKER_SECONDS_MAX), "A5d: a backward does not come"
            run_nested(gradient, 4, (0, 1))  # the owner may return from its backward meanwhile
        ran.append(gradient.numel())
    total, part = leaf * 1, leaf * 2
    total.register_hook(lambda gradient, held=held: None)
    part.register_hook(fails)
    total = total + part
    for device in devices:
        with T.on_device(device):
            part = leaf * 3
        part.register_hook(waits)
        total = total + part
    try:
        total.sum().backward()
    except KeyError:
        return ran
    raise AssertionError("A3d: an error in a hook is lost")

#: check_error_leaves_nothing [slotcore]: no task, node or mode is left after an error (A5c)
#> check_error_leaves_nothing: checks
def check_error_leaves_nothing(tensor):
    with T.enable_grad():
        leaf = differentiable(tensor)
        for devices in (), (0, 1) * 4:
            sentinel = new_sentinel()
            alive = weakref.ref(sentinel)
            ran = failing_backward(leaf, devices, sentinel)
            known = len(ran)
            assert T.is_grad_enabled(), "A5c: an error changed the mode"
            # A task that a device still runs is before these.
            for device in devices[:2]:
                leaf.grad = None
                with T.on_device(device):
                    total = leaf * 5
                total.sum().backward()
                assert numbers_of(leaf.grad) == 5 * leaf.numel(), "A5c: a gradient after an error"
            del sentinel
            assert alive() is None, "A5c: an error leaves a node"
            assert len(ran) == known, "A5c: a node ran after the error"

#: PRODUCTS, MARKS_MAX, record_beside [slotcore]: a device records while a leaf is marked again
#> record_beside: checks starts_thread
PRODUCTS, MARKS_MAX = 100, 10_000
def record_beside(tensor):
    found, recorded, begun, marked = [], [], _thread.allocate_lock(), _thread.allocate_lock()
    begun.acquire()
    marked.acquire()
    def begins(gradient):
        begun.release()
    def ends(gradient):
        recorded.append(True)
        assert marked.acquire(timeout=WORKER_SECONDS_MAX), "A5d: a leaf is not marked"
    with T.enable_grad():
        leaf = differentiable(tensor)
        with T.on_device(0):
            first = total = leaf * 2
            # Enough of them that this thread is awake before the device has recorded all.
            for _ in range(PRODUCTS):
                total = total * leaf
        first.register_hook(ends)
        total.register_hook(begins)
        def backward():
            try:
                found.extend(T.autograd.grad(total.sum(), leaf, create_graph=True))
            finally:
                if begun.locked():  # it raised before the hook ran
                    begun.release()
        worker = Worker(backward)
        assert begun.acquire(timeout=WORKER_SECONDS_MAX), "A5d: a backward does not begin"
        # The device records products of gradients and the leaf now. It decrefs the leaf for each,
        # which orders its reads before a later mark: so this marks until the device is at its end.
        for _ in range(MARKS_MAX):
            leaf.requires_grad_()
            if recorded:
                break
        marked.release()
        error = worker.join()
    assert error is None, f"A7: a backward beside the program raised {error!r}"
    # Summed in the same way: a sum of many numbers is rounded.
    wanted = T.ones(tuple(leaf.size())) * (2 * (PRODUCTS + 1))
    assert numbers_of(found[0]) == numbers_of(wanted), "A7: a gradient that a device recorded"

#: check_devices_record [slotcore]: a device records operations while a leaf is marked again (A7)
#> check_devices_record: checks starts_thread
def check_devices_record(tensor):
    for _ in range(3):  # on a busy machine one of ten does not meet the device
        record_beside(tensor)

#: run_nested [slotcore]: runs nested backwards, each on the next of the devices
def run_nested(tensor, depth, devices):
    def deeper(gradient):
        if depth > 0:
            run_nested(tensor, depth - 1, devices)
    with T.enable_grad():
        leaf = differentiable(tensor)
        with T.on_device(devices[depth % len(devices)]):
            result = leaf * 2
        result.register_hook(deeper)
        result.sum().backward()
    assert numbers_of(leaf.grad) == 2 * leaf.numel(), "A5d: the gradient of a nested backward"

#: check_nested [slotcore]: nested backwards return, on any thread and on one device (A5d)
#> check_nested: checks starts_thread
def check_nested(tensor):
    for devices in (0, 1), (0,):
        run_nested(tensor, 70, devices)
