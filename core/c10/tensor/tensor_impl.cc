// Creation of tensors, and what they own.

#include "core/c10/tensor/tensor_impl.h"

#include <stdexcept>
#include <string>

#include "core/c10/live_counts.h"
#include "core/c10/tensor/announce.h"
#include "core/c10/tensor/operation.h"
#include "core/c10/trace.h"

namespace slotcore {
namespace {

intrusive_ptr<StorageImpl> new_storage(const Dims& sizes, ScalarType type, const Place& place) {
  size_t nbytes = checked_multiply(element_count(sizes), static_cast<int64_t>(item_size(type)));
  return make_storage(nbytes, place);
}

// Whether the elements follow each other, in column-major order, from the start of the storage to
// its end: so are the rows that nonzero() gives. Decides nothing.
bool fills(const SymLayout& layout, ScalarType type, const SymInt& nbytes) {
  if (!is_same(layout.offset, 0)) return false;
  SymInt expected = 1;
  for (size_t i = 0; i < layout.sizes.size(); i++) {
    if (!is_same(layout.strides[i], expected)) return false;
    expected = expected * layout.sizes[i];
  }
  return is_same(nbytes, expected * static_cast<int64_t>(item_size(type)));
}

void check_same_place(const Place& tensor, const Place& other) {
  if (tensor == other) return;
  throw std::runtime_error("a tensor on " + tensor.text() + " cannot take over a storage on " +
                           other.text());
}

}  // namespace

const Layout& ExtraMeta::specialized() const {
  std::lock_guard lock(mutex_);
  if (!ints_) ints_ = slotcore::specialized(layout);
  return *ints_;
}

TensorImpl::TensorImpl(const Dims& sizes, ScalarType type, const Place& place)
    : TensorImpl(new_storage(sizes, type, place), contiguous_layout(sizes), type) {}

TensorImpl::TensorImpl(intrusive_ptr<StorageImpl> storage, const Layout& layout, ScalarType type)
    : storage_(std::move(storage)), layout_(layout), type_(type) {
  check_layout(layout, type);
  numel_ = element_count(layout.sizes);
  live_tensors.add();
  trace("impl created", {"impl", this}, {"type", "TensorImpl"}, {"storage", storage_.get()});
}

TensorImpl::TensorImpl(intrusive_ptr<StorageImpl> storage, const SymLayout& layout, ScalarType type)
    : storage_(std::move(storage)), type_(type) {
  // Addresses are those of real tensors, which check them.
  if (has_symbols(layout)) element_count(layout.sizes);
  init(layout);
}

// No size is asked whether it is negative: that would be a guard, and these are known.
TensorImpl::TensorImpl(TensorParts parts)
    : storage_(std::move(parts.storage)), type_(parts.type), bits_(parts.bits) {
  init(parts.layout);
  base_ = std::move(parts.base);
  version_ = std::move(parts.version);
  set_view_version(version_->value());
}

void TensorImpl::init(const SymLayout& layout) {
  if (has_symbols(layout)) {
    extra_ = std::make_shared<const ExtraMeta>(layout);
  } else {
    layout_ = slotcore::specialized(layout);
    check_layout(layout_, type_);
    numel_ = element_count(layout_.sizes);
  }
  live_tensors.add();
  trace("impl created", {"impl", this}, {"type", "TensorImpl"}, {"storage", storage_.get()});
}

TensorImpl::~TensorImpl() {
  trace("impl freed", {"impl", this});
  live_tensors.remove();
}

bool TensorImpl::is_contiguous() const {
  return with_layouts([](const auto& layout) { return slotcore::is_contiguous(layout); }, *this);
}

void TensorImpl::release_resources() noexcept {
  trace("references released", {"owner", this});
  if (autograd_meta_ != nullptr) autograd_meta_->release();
  base_.reset();
  storage_.reset();
  // A table may keep the memory of this tensor, and must keep no environment.
  extra_.reset();
  nonzero_count_.reset();
}

void* TensorImpl::data() const {
  char* bytes = static_cast<char*>(storage_->data());
  return bytes == nullptr ? nullptr : bytes + offset() * static_cast<int64_t>(item_size(type_));
}

void TensorImpl::check_reach() const {
  auto check = [&](const auto& needed, const auto& nbytes) {
    if (needed > nbytes) {
      throw std::runtime_error("the tensor reaches " + text(needed) +
                               " bytes into its storage, which has only " + text(nbytes));
    }
  };
  if (is_symbolic()) {
    // Then no decision is needed, which only the data could make.
    const SymInt& nbytes = storage_->sym_nbytes();
    if (nbytes.is_data_dependent() && fills(sym_layout(), type_, nbytes)) return;
    check(bytes_needed(sym_layout(), type_), nbytes);
  } else {
    check(bytes_needed(layout_, type_), static_cast<int64_t>(storage_->nbytes()));
  }
}

void* TensorImpl::checked_data() const {
  check_reach();
  if (!place().has_bytes()) throw NoDataError("a tensor on " + place().text() + " has no numbers");
  return numel_ == 0 ? nullptr : data();
}

intrusive_ptr<StorageImpl> TensorImpl::exchange_storage(intrusive_ptr<StorageImpl> storage,
                                                        const Layout& layout) {
  announce({this});
  check_same_place(place(), storage->place());
  check_layout(layout, type_);
  size_t needed = bytes_needed(layout, type_);
  if (needed > storage->nbytes()) storage->resize(needed);
  std::swap(storage_, storage);
  layout_ = layout;
  numel_ = element_count(layout.sizes);
  extra_.reset();
  nonzero_count_.reset();
  return storage;
}

intrusive_ptr<StorageImpl> TensorImpl::exchange_data(const TensorImpl& other) {
  impl::check_untraced("data of another tensor");
  check_same_place(place(), other.place());
  if (requires_grad() && !is_differentiable(other.type_)) {
    throw std::runtime_error(
        "the data of a tensor that requires a gradient must be floating point or complex");
  }
  // A copy first: a tensor may be given its own data.
  intrusive_ptr<StorageImpl> former = other.storage_;
  std::swap(storage_, former);
  layout_ = other.layout_;
  numel_ = other.numel_;
  extra_ = other.extra_;
  nonzero_count_.reset();
  type_ = other.type_;
  bits_ = other.bits_;
  return former;
}

void TensorImpl::resize(const Dims& sizes) {
  if (requires_grad()) throw std::runtime_error("a tensor that requires grad cannot be resized");
  if (sizes == this->sizes()) return;  // the strides stay, as in torch
  auto same = exchange_storage(storage_, contiguous_layout(sizes, offset()));
  version_->bump();
}

intrusive_ptr<TensorImpl> TensorImpl::alias_data() const {
  return tensor_operation(Op::kData, *this, [&] {
    announce({this});
    auto alias = with_layouts(
        [&](const auto& layout) { return make_intrusive<TensorImpl>(storage_, layout, type_); },
        *this);
    alias->bits_ = bits_;
    return alias;
  });
}

intrusive_ptr<TensorImpl> TensorImpl::detach() const {
  return tensor_operation(Op::kDetach, *this, [&] {
    return with_layouts([&](const auto& layout) { return detach_as(layout, type_); }, *this);
  });
}

template <class Int>
intrusive_ptr<TensorImpl> TensorImpl::detach_as(const BasicLayout<Int>& layout,
                                                ScalarType type) const {
  announce({this});
  auto detached = make_intrusive<TensorImpl>(storage_, layout, type);
  detached->bits_ = bits_;
  detached->version_ = version_;
  return detached;
}

template <class Int>
intrusive_ptr<TensorImpl> TensorImpl::make_view(const BasicLayout<Int>& layout, ScalarType type) {
  announce({this});
  auto view = make_intrusive<TensorImpl>(storage_, layout, type);
  view->bits_ = bits_;
  view->version_ = version_;
  view->set_view_version(version_->value());
  view->base_ = base_ ? base_ : intrusive_ptr<TensorImpl>::retain(this);
  return view;
}

template intrusive_ptr<TensorImpl> TensorImpl::detach_as(const Layout&, ScalarType) const;
template intrusive_ptr<TensorImpl> TensorImpl::detach_as(const SymLayout&, ScalarType) const;
template intrusive_ptr<TensorImpl> TensorImpl::make_view(const Layout&, ScalarType);
template intrusive_ptr<TensorImpl> TensorImpl::make_view(const SymLayout&, ScalarType);

}  // namespace slotcore
