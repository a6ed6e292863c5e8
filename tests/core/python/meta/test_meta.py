"""Descriptions and fakes in Python: wrappers, torch's names, what describing must not change."""

import gc
import json
import weakref

import pytest
import slotcore as T

MetaConverter = T._subclasses.meta_utils.MetaConverter
MetaTensorDescriber = T._subclasses.meta_utils.MetaTensorDescriber


@pytest.fixture(autouse=True)
def tables():
    """Every test gives back the entries of its tables (P5)."""
    before = T._live_table_entries()
    yield
    gc.collect()
    assert T._live_table_entries() == before


def text_of(*tensors):
    return T._meta.dumps(T._meta.describe(MetaTensorDescriber(), *tensors))


def test_a_fake_has_the_fields_of_its_tensor():
    t = T.ones(2, 3).requires_grad_()
    v = t.view(-1)[1:]
    fake = MetaConverter()(v)
    assert fake.is_meta and fake.shape == (5,) and fake.storage_offset() == 1
    assert fake.requires_grad and not fake.is_leaf and fake._base.requires_grad
    assert fake.untyped_storage().nbytes() == 24 and fake._base.shape == (2, 3)
    with pytest.raises(NotImplementedError):
        fake.tolist()


def test_a_description_has_the_fields_as_attributes():
    t = T.ones(2, dtype=T.float64).requires_grad_()
    t.grad = T.zeros(2, dtype=T.float64)
    desc = MetaTensorDescriber().describe_tensor(t)
    assert (desc.size, desc.stride, desc.dtype) == ((2,), (1,), T.float64)
    assert (desc.requires_grad, desc.is_leaf, desc.base) == (True, True, None)
    assert desc.grad.requires_grad is False and desc.grad.id != desc.id
    assert desc.storage == desc.storage_id and desc.storage_nbytes == 16
    assert (desc.storage_data, desc.storage_device) == (None, T.device("cpu"))
    assert desc.creation_meta == "default" and json.loads(desc.grad.as_json())["roots"] == [0]
    assert json.loads(desc.as_json())["tensors"][0]["grad"] == 1


def test_text_of_a_former_writer_is_read():
    """It left out that a view requires a gradient itself, whose node was made after a write."""
    text = text_of(T.ones(2).requires_grad_()[:])
    former = text.replace('"requires_grad":true,"is_leaf":false', '"is_leaf":false', 1)
    read = T._meta.loads(former)
    assert former != text and T._meta.dumps(read) == former
    (view,) = T._meta.convert(MetaConverter(), read)
    assert view.requires_grad and view.grad_fn


def test_text_is_read_in_place_of_the_tensor():
    t = T.ones(2, 3)
    t.grad = T.zeros(2, 3)
    text = text_of(t.t(), t.grad)
    desc = T._meta.loads(text)
    assert T._meta.dumps(desc) == text
    view, grad = T._meta.convert(MetaConverter(), desc)
    assert view._base.grad is grad and view.stride() == (1, 3)


def test_bytes_are_copied_on_demand():
    t = T.tensor([1, 2], dtype=T.uint8)
    desc = T._meta.describe(MetaTensorDescriber(), t, copy_data=True)
    assert desc.storage_data == "0102" and T._meta.loads(desc.as_json()).storage_data == "0102"
    assert MetaTensorDescriber(copy_data=True).describe_tensor(t).storage_data == "0102"
    assert MetaTensorDescriber().describe_tensor(t).storage_data is None
    assert MetaConverter(copy_data=True)(t).is_meta


def test_a_fake_on_cpu_refuses_what_is_on_meta():
    """As its tensor does (M15): there is nothing to copy. The other direction writes nothing."""
    mode = T._subclasses.FakeTensorMode()
    for one, other in ((T.ones(2), T.ones(2, device="meta")),
                       [mode.from_tensor(two) for two in (T.ones(2), T.ones(2, device="meta"))]):
        with pytest.raises(NotImplementedError, match="no numbers"):
            one.copy_(other)
        assert (one._version, other.copy_(one)._version) == (0, 1)


def test_a_bad_text_names_the_field():
    with pytest.raises(ValueError, match='"/tensors/0/grad": there is no tensor 4'):
        T._meta.loads(text_of(T.ones(1))[:-len('}],"roots":[0]}')] + ',"grad":4}],"roots":[0]}')
    for text in ("", "[" * 1_000_000, "\ufeff{}", '{"format":"\\ud800"}', "\ud800"):
        with pytest.raises(ValueError):
            T._meta.loads(text)
    with pytest.raises(TypeError):
        T._meta.loads(b"{}")


@pytest.mark.parametrize("text, message", [
    ("é", r'"": at byte 1: .*last read: .\\xc3'), ('{"format":é', r'"/format": at byte 11: '),
    ('{"%sé":0}' % ("a" * 39), '"": there is no field "a{39}[.]{2}"')])
def test_a_bad_text_with_other_letters_names_the_field(text, message):
    with pytest.raises(ValueError, match=message):
        T._meta.loads(text)


def test_describing_is_unseen():
    t = T.ones(2)
    v = t.view(-1)
    before = [(one._use_count(), one._version, weakref.getweakrefcount(one)) for one in (t, v)]
    describer = MetaTensorDescriber()
    desc = describer.describe_tensor(v)
    assert before == [(one._use_count(), one._version, weakref.getweakrefcount(one))
                      for one in (t, v)]
    lonely = T.ones(1)
    lonely.grad = T.ones(1)  # without a wrapper
    wrappers = T._live_wrappers()
    describer.describe_tensor(lonely)
    assert T._live_wrappers() == wrappers and desc.size == (2,)


@pytest.mark.parametrize("swapped", ["tensor", "fake"])
def test_describing_does_not_forbid_a_swap(swapped):
    converter = MetaConverter()
    t, other = T.ones(2), T.ones(3)
    fake = converter(t)
    if swapped == "tensor":
        T.utils.swap_tensors(t, other)
        assert converter(other) is fake and converter(t).shape == (3,)
    else:
        plain = T.empty(5, device="meta")
        T.utils.swap_tensors(fake, plain)
        assert converter(t) is plain and fake.shape == (5,)


def test_a_weak_reference_of_a_user_still_forbids_a_swap():
    t, other = T.ones(2), T.ones(3)
    MetaConverter()(t)
    handle = t._weak_ref()
    with pytest.raises(RuntimeError):
        T.utils.swap_tensors(t, other)
    T.Tensor._free_weak_ref(handle)


def test_parameters_have_fakes_that_are_parameters():
    p = T.nn.Parameter(T.ones(2))
    v = p.view(-1)
    converter = MetaConverter()
    fake = converter(v)
    gc.collect()
    assert type(fake) is T.Tensor and type(fake._base) is T.nn.Parameter
    assert converter(p) is fake._base
    assert type(T._meta.convert(MetaConverter(), T._meta.loads(text_of(p)))[0]) is T.nn.Parameter


def test_the_collector_frees_a_circle_of_fake_grads():
    t, a, b = T.ones(1), T.ones(1), T.ones(1)
    t.grad, a.grad, b.grad = a, b, a
    fake = MetaConverter()(t)
    assert fake.grad.grad.grad is fake.grad
    for one in (a, fake.grad):  # C++ owns a circle, which only the user can break
        one.grad = None


def test_memo_sizes_and_sweep():
    converter = MetaConverter()
    t, v = T.ones(1), T.ones(1)
    fakes = [converter(t), converter(v.view(-1))]
    assert T._meta.memo_sizes(converter) == (3, 2, 3, 2)
    del t, fakes
    converter.sweep()
    assert T._meta.memo_sizes(converter) == (1, 1, 0, 0)


def test_a_finalizer_may_convert():
    class Converting(T.Tensor):
        def __del__(self):
            seen.append(converter(other).shape)

    seen, converter, other = [], MetaConverter(), T.ones(3)
    t = Converting(2)
    fake = converter(t)
    del t
    del fake
    assert seen == [(3,)]
    fake = converter(T.ones(1)).as_subclass(Converting)
    converter.sweep()
    del fake
    assert seen == [(3,), (3,)]


def test_hermetic_mode_has_fresh_wrappers():
    converter = MetaConverter()
    t = T.ones(1)
    fake = converter(t)
    with T.hermetic():
        inside = converter(t)
        assert inside is not fake and inside._cdata == fake._cdata
    del inside
    assert converter(t) is fake


@pytest.mark.parametrize("wrong", [
    lambda: MetaConverter()(3), lambda: MetaConverter()(), lambda: MetaConverter(3),
    lambda: MetaTensorDescriber().describe_tensor(None), lambda: T._meta.dumps(T.ones(1)),
    lambda: T._meta.convert(MetaConverter(), T.ones(1)), lambda: T._meta.convert(3, 3),
    lambda: T._meta.describe(MetaTensorDescriber()), lambda: T._meta.describe(T.ones(1), T.ones(1)),
    lambda: T._meta.memo_sizes(None), lambda: T._subclasses.meta_utils.MetaTensorDesc(),
])
def test_wrong_arguments_are_type_errors(wrong):
    with pytest.raises(TypeError):
        wrong()
