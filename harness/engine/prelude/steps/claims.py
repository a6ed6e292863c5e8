"""What lines about claims may call: an impl that two interpreters wrap, beside a model of its tag.

An interpreter claims an impl when it wraps it first and outside of hermetic mode. A tag stays, also
when its interpreter ends.
"""

#: claim_there: the code by which another interpreter wraps an impl
claim_there = """
try:
    one = T.{kind}._new_with_weak_ptr({handle})
except RuntimeError:
    assert not {is_given}, "T1: an interpreter may not wrap what it may claim"
else:
    assert {is_given} or {shares}, "T2: two interpreters have one tensor"
    assert (one._cdata == {address}) == {is_given}, "T2: an interpreter has the wrong storage"
    assert one.data_ptr() == {data}, "T2: a storage does not share its bytes"
    assert ({looks}) == {seen}, f"T2: another interpreter sees {{({looks})}}, and not {seen}"
    claimed.append(one)
    del one
"""

#: claimed_looks: what each interpreter sees of an impl
claimed_looks = {
    T.UntypedStorage: "one.nbytes(), one.resizable(), str(one.device)",
    T.Tensor: "tuple(one.size()), one.stride(), str(one.dtype), one.requires_grad"}

#: DyingBuffer: a buffer that notes in which interpreter it dies
class DyingBuffer(bytearray):
    died_in = []
    def __del__(self):
        self.died_in.append(int(interpreters.get_current()))

#: Claims, claim_steps: an impl that something in C++ owns, and the interpreters that wrap it
#> Claims: starts_thread enters_interpreter in_hermetic collects
class Claims:
    def __init__(self):
        self.others, self.kept, self.wrapper, self.handle = [], [], None, None
        self.exporters = 0
        self.other()
        self.storage()
    def other(self, place=Lane):
        self.others.append(Other(place))
        self.others[-1].there("claimed = []")
    def begin(self, kind, owner, fetch):
        self.end()
        self.kind, self.owner, self.fetch = kind, owner, fetch
        self.tag = self.mark = None
        with hermetic():
            one = fetch(owner)
            self.handle, self.address, self.data = one._weak_ref(), one._cdata, one.data_ptr()
            self.seen = eval(claimed_looks[kind], {"one": one})
    def storage(self):
        self.begin(T.UntypedStorage, T.ones(2), lambda owner: owner.untyped_storage())
    def buffer(self):
        self.exporters += 1
        self.begin(T.UntypedStorage, T.frombuffer(DyingBuffer(8), dtype=T.float32),
                   lambda owner: owner.untyped_storage())
    def tensor(self):
        owner = T.ones(2)
        with hermetic():
            owner.grad = T.ones(2)
        self.begin(T.Tensor, owner, lambda owner: owner.grad)
    def end(self):
        self.wrapper = None
        self.kept.clear()
        if self.handle is not None:
            self.kind._free_weak_ref(self.handle)
    def can_claim(self, interpreter):
        return self.tag in (None, interpreter)
    def wrap(self):
        if self.owner is None:
            return
        is_given = self.can_claim("main")
        try:
            one = self.fetch(self.owner)
        except RuntimeError:
            assert not is_given and self.kind is T.Tensor, "T1: what is free cannot be wrapped"
            return
        assert is_given or self.kind is T.UntypedStorage, "T2: two interpreters have one tensor"
        assert (one._cdata == self.address) == is_given, "T2: an interpreter has the wrong storage"
        assert one.data_ptr() == self.data, "T2: a storage does not share its bytes"
        if is_given:
            assert self.wrapper is None or one is self.wrapper, "P1: an impl has two wrappers"
            assert getattr(one, "mark", None) == self.mark, "P2: an attribute is lost"
            self.tag, self.wrapper = "main", one
    def wrap_within(self):
        if self.owner is None:
            return
        with hermetic():
            one = self.fetch(self.owner)
        assert one._cdata == self.address, "H1: a hermetic wrapper has another impl"
        assert one is not self.wrapper, "H1: a hermetic wrapper is not a fresh one"
        self.kept.append(one)
    def wrap_there(self):
        if self.owner is None:
            return
        other = self.others[-1]
        is_given = self.can_claim(other)
        other.there(claim_there.format(
            kind=self.kind.__name__, handle=self.handle, address=self.address, data=self.data,
            is_given=is_given, shares=self.kind is T.UntypedStorage,
            looks=claimed_looks[self.kind], seen=self.seen))
        if is_given:
            self.tag = other
    def note(self):
        if self.wrapper is not None:
            self.wrapper.mark = self.mark = (self.mark or 0) + 1
    def drop(self):
        self.wrapper = None
        self.kept.clear()
        gc.collect()
    def drop_owner(self):
        self.owner = None
        self.drop()
    def drop_there(self):
        self.others[-1].there("claimed.clear(); gc.collect()")
    def end_there(self):
        self.others[-1].end()
        self.other()
claim_steps = {
    "nothing": lambda claims: None, "storage": Claims.storage, "tensor": Claims.tensor,
    "wrap": Claims.wrap, "wrap_within": Claims.wrap_within, "wrap_there": Claims.wrap_there,
    "note": Claims.note, "drop": Claims.drop, "drop_there": Claims.drop_there,
    "end_there": Claims.end_there, "other": Claims.other, "buffer": Claims.buffer,
    "drop_owner": Claims.drop_owner, "visited": lambda claims: claims.other(Visit),
}

#: check_claims [slotcore]: who may wrap an impl, after five steps of two interpreters (T1, T2)
#> check_claims: starts_thread enters_interpreter in_hermetic collects checks
def check_claims(*names):
    if in_hermetic():
        return
    claims, DyingBuffer.died_in[:] = Claims(), []
    try:
        for name in (*names, "wrap_there", "wrap"):
            claim_steps[name](claims)
    finally:
        claims.owner = None
        claims.end()
        for other in claims.others:
            other.end()
    collect_all()
    assert DyingBuffer.died_in == claims.exporters * [int(interpreters.get_main())], (
        f"T6: buffers died in the interpreters {DyingBuffer.died_in}")
