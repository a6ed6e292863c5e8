"""Functions and classes that a restoring script defines for itself, if its lines use them."""

HELPERS = {
    "_bytes_at": """\
def _bytes_at(path, place, size):
    with open(path, "rb") as file:
        file.seek(place, 2)
        return file.read(size)
""",
    "_storage": """\
def _storage(tensor):
    has = hasattr(tensor, "untyped_storage")  # since 2.0
    return tensor.untyped_storage() if has else tensor.storage().untyped()
""",
    "_window": """\
def _window(memory, dtype, size, stride, offset):
    count = memory.numel() // torch.empty(0, dtype=dtype).element_size()
    memory = memory[:count * torch.empty(0, dtype=dtype).element_size()]
    return memory.view(dtype).as_strided(size, stride, offset)
""",
    "_count_writes": """\
def _count_writes(tensor, version):  # no byte changes
    with torch.no_grad():
        nothing = tensor.detach().as_strided((0,), (1,), 0)
        while tensor._version < version:
            nothing.zero_()
""",
    "_Computed": """\
class _Computed(torch.autograd.Function):  # the history of a tensor is not in a capture
    @staticmethod
    def forward(ctx, source, size, stride, dtype):
        return torch.empty_strided(size, stride, dtype=dtype)
    @staticmethod
    def backward(ctx, gradient):
        return None, None, None, None
""",
    "_Viewed": """\
class _Viewed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, source):
        return source.view_as(source)
    @staticmethod
    def backward(ctx, gradient):
        return gradient
""",
}
