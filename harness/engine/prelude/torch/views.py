"""What lines about views that PyTorch alone has may call: more calls of the model of views."""

#: MoreViews: the model of views, with the methods that slotcore lacks
class MoreViews(NestedView):
    def squeeze(self, *dims):
        dims = [self.dim(dim) for dim in dims] if dims else range(self.rank)
        gone = {dim for dim in dims if self.rank and self.sizes[dim] == 1}
        kept = [dim for dim in range(self.rank) if dim not in gone]
        return self.part([self.sizes[dim] for dim in kept],
                         lambda at: [at[kept.index(dim)] if dim in kept else 0
                                     for dim in range(self.rank)])
    def unsqueeze(self, dim):
        dim = range(self.rank + 1)[dim]
        return self.part((*self.sizes[:dim], 1, *self.sizes[dim:]),
                         lambda at: (*at[:dim], *at[dim + 1:]))
    def permute(self, *dims):
        order = [range(self.rank)[dim] for dim in dims]
        if sorted(order) != [*range(self.rank)]:
            raise RuntimeError("no order of dimensions")
        return self.part([self.sizes[dim] for dim in order],
                         lambda at: [at[order.index(dim)] for dim in range(self.rank)])
    def movedim(self, source, destination):
        old, new = ([self.dim(dim) for dim in (dims if isinstance(dims, tuple) else (dims,))]
                    for dims in (source, destination))
        if len({*old}) < len(old) or len({*new}) < len(new):
            raise RuntimeError("a dimension is there twice")
        left = iter([dim for dim in range(self.rank) if dim not in old])
        return self.permute(*(old[new.index(dim)] if dim in new else next(left)
                              for dim in range(self.rank)))
    def unflatten(self, dim, sizes):
        size, known = self.sizes[range(self.rank)[dim]], product_of(n for n in sizes if n != -1)
        if sizes.count(-1) == 1 and known > 0:
            sizes = tuple(size // known if n == -1 else n for n in sizes)
        if not sizes or min(sizes) < 0 or product_of(sizes) != size:
            raise RuntimeError("no such sizes")
        dim = range(self.rank)[dim]
        return self.view((*self.sizes[:dim], *sizes, *self.sizes[dim + 1:]))
    def diagonal(self, offset=0, dim1=0, dim2=1):
        first, second = range(self.rank)[dim1], range(self.rank)[dim2]
        if first == second:
            raise RuntimeError("one dimension has no diagonal")
        down, right = max(-offset, 0), max(offset, 0)
        length = max(0, min(self.sizes[first] - down, self.sizes[second] - right))
        rest = [dim for dim in range(self.rank) if dim not in (first, second)]
        return self.part([*(self.sizes[dim] for dim in rest), length],
                         lambda at: [at[-1] + (down if dim == first else right)
                                     if dim in (first, second) else at[rest.index(dim)]
                                     for dim in range(self.rank)])
    def unfold(self, dim, size, step):
        dim, of_dim = self.dim(dim), self.sizes[self.dim(dim)] if self.rank else 1
        if not 0 <= size <= of_dim or step <= 0:
            raise RuntimeError("no such windows")
        if not self.rank:
            return self.part((size,), lambda at: ())
        windows = (of_dim - size) // step + 1
        return self.part((*self.sizes[:dim], windows, *self.sizes[dim + 1:], size),
                         lambda at: (*at[:dim], at[dim] * step + at[-1], *at[dim + 1:-1]))
    def parts(self, dim, ends):
        """The parts of a dimension up to each of the ends."""
        if not self.rank:
            raise RuntimeError("no dimension to split")
        dim, starts = self.dim(dim), [0, *ends]
        return [self.take(dim, range(self.sizes[dim])[start:end])
                for start, end in zip(starts, ends)]
    def split(self, sizes, dim=0):
        size = self.sizes[self.dim(dim)] if self.rank else 0
        if isinstance(sizes, int):
            if sizes < 0 or sizes == 0 and size:
                raise RuntimeError("no such length")
            sizes = [min(sizes, size - start) for start in range(0, size, sizes or 1)] or [0]
        if min(sizes) < 0 or sum(sizes) != size:
            raise RuntimeError("no such lengths")
        return self.parts(dim, [sum(sizes[:count + 1]) for count in range(len(sizes))])
    def chunk(self, count, dim=0):
        if count <= 0:
            raise RuntimeError("no such count")
        size = self.sizes[self.dim(dim)] if self.rank else 0
        # Of nothing there are as many parts as were asked for.
        return self.split(-(-size // count), dim) if size else self.parts(dim, [0] * count)
    def tensor_split(self, ends, dim=0):
        size = self.sizes[self.dim(dim)] if self.rank else 0
        if isinstance(ends, int):
            if ends <= 0:
                raise RuntimeError("no such count")
            each, more = divmod(size, ends)
            ends = [each * count + min(count, more) for count in range(1, ends)]
        return self.parts(dim, [*ends, size])
    def unbind(self, dim=0):
        return [self.select(dim, index) for index in range(self.sizes[range(self.rank)[dim]])]
    def swapaxes(self, a, b):
        return self.transpose(a, b)
    @property
    def mT(self):
        if self.rank == 1:
            raise RuntimeError("no matrices")
        return self.transpose(-2, -1) if self.rank else self.detach()

#: check_more_views: the same views as check_viewing makes, and more that PyTorch has (P9, P8)
#> check_more_views: checks
def check_more_views(*steps):
    compare_steps(MoreViews, steps)
