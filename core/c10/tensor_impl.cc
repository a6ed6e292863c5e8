// Shapes, views and bounds of tensors. All arithmetic on sizes is checked for overflow, because
// the sizes come from the user.

#include "core/c10/tensor_impl.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "core/c10/live_counts.h"
#include "core/c10/trace.h"

namespace slotcore {
namespace {

[[noreturn]] void throw_overflow() {
  throw std::runtime_error("the sizes are too large: the number of bytes overflows");
}

int64_t multiply(int64_t a, int64_t b) {
  int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw_overflow();
  return product;
}

int64_t add(int64_t a, int64_t b) {
  int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw_overflow();
  return sum;
}

// How many bytes of a storage the elements reach into; 0 without elements.
size_t bytes_needed(int64_t offset, const Dims& sizes, const Dims& strides, ScalarType type) {
  int64_t last = offset;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == 0) return 0;
    last = add(last, multiply(sizes[i] - 1, strides[i]));
  }
  return multiply(add(last, 1), static_cast<int64_t>(item_size(type)));
}

intrusive_ptr<StorageImpl> new_storage(const Dims& sizes, ScalarType type) {
  size_t nbytes = multiply(element_count(sizes), static_cast<int64_t>(item_size(type)));
  return make_intrusive<StorageImpl>(nbytes, default_allocator(), /*resizable=*/true);
}

std::string text(const Dims& dims) {
  std::string result = "[";
  for (size_t i = 0; i < dims.size(); i++) result += (i == 0 ? "" : ", ") + std::to_string(dims[i]);
  return result + "]";
}

}  // namespace

Dims::Dims(std::span<const int64_t> values) {
  for (int64_t value : values) push_back(value);
}

void Dims::push_back(int64_t value) {
  if (length_ == kLengthMax) {
    throw std::length_error("a tensor has at most " + std::to_string(kLengthMax) + " dimensions");
  }
  values_[length_++] = value;
}

void Dims::erase_front() noexcept {
  std::copy(begin() + 1, end(), values_.begin());
  length_--;
}

bool Dims::operator==(const Dims& other) const noexcept {
  return std::equal(begin(), end(), other.begin(), other.end());
}

int64_t element_count(const Dims& sizes) {
  int64_t count = 1;
  for (int64_t size : sizes) {
    if (size < 0) {
      throw std::runtime_error("a size cannot be negative: " + text(sizes));
    }
    count = multiply(count, size);
  }
  return count;
}

Dims contiguous_strides(const Dims& sizes) {
  Dims strides = sizes;
  int64_t stride = 1;
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    stride = multiply(stride, std::max<int64_t>(sizes[i], 1));
  }
  return strides;
}

TensorImpl::TensorImpl(const Dims& sizes, ScalarType type)
    : TensorImpl(new_storage(sizes, type), 0, sizes, contiguous_strides(sizes), type) {}

TensorImpl::TensorImpl(intrusive_ptr<StorageImpl> storage, int64_t offset, const Dims& sizes,
                       const Dims& strides, ScalarType type)
    : storage_(std::move(storage)),
      sizes_(sizes),
      strides_(strides),
      offset_(offset),
      numel_(element_count(sizes)),
      type_(type) {
  live_tensors.add();
  trace("impl created", {"impl", this}, {"storage", storage_.get()});
}

TensorImpl::~TensorImpl() {
  trace("impl freed", {"impl", this});
  live_tensors.remove();
}

void TensorImpl::release_resources() noexcept {
  grad_.reset();
  storage_.reset();
}

bool TensorImpl::is_contiguous() const noexcept {
  int64_t expected = 1;
  for (size_t i = sizes_.size(); i-- > 0;) {
    if (sizes_[i] == 0) return true;
    if (sizes_[i] != 1 && strides_[i] != expected) return false;
    expected *= sizes_[i];  // no overflow: element_count() passed
  }
  return true;
}

void* TensorImpl::data() const noexcept {
  char* bytes = static_cast<char*>(storage_->data());
  return bytes == nullptr ? nullptr : bytes + offset_ * item_size(type_);
}

void* TensorImpl::checked_data() const {
  size_t needed = bytes_needed(offset_, sizes_, strides_, type_);
  if (needed > storage_->nbytes()) {
    throw std::runtime_error("the tensor reaches " + std::to_string(needed) +
                             " bytes into its storage, which has only " +
                             std::to_string(storage_->nbytes()));
  }
  return needed == 0 ? nullptr : data();
}

intrusive_ptr<TensorImpl> TensorImpl::exchange_grad(intrusive_ptr<TensorImpl> grad) {
  if (grad) {
    if (grad.get() == this) throw std::runtime_error("a tensor cannot be its own grad");
    if (grad->type_ != type_)
      throw std::runtime_error("the grad has another dtype than the tensor");
    if (grad->sizes_ != sizes_) {
      throw std::runtime_error("the grad has the size " + text(grad->sizes_) +
                               " and the tensor has " + text(sizes_));
    }
  }
  std::swap(grad_, grad);
  return grad;
}

intrusive_ptr<StorageImpl> TensorImpl::exchange_storage(intrusive_ptr<StorageImpl> storage,
                                                        int64_t offset, const Dims& sizes,
                                                        const Dims& strides) {
  if (sizes.size() != strides.size()) {
    throw std::runtime_error("the number of sizes and of strides differ: " + text(sizes) + " and " +
                             text(strides));
  }
  if (offset < 0) throw std::runtime_error("the storage offset cannot be negative");
  for (int64_t stride : strides) {
    if (stride < 0) throw std::runtime_error("a stride cannot be negative: " + text(strides));
  }
  int64_t count = element_count(sizes);
  size_t needed = bytes_needed(offset, sizes, strides, type_);
  // Also where the tensor has no elements, the address of its first one must be computable.
  multiply(offset, static_cast<int64_t>(item_size(type_)));
  if (needed > storage->nbytes()) storage->resize(needed);
  std::swap(storage_, storage);
  offset_ = offset;
  sizes_ = sizes;
  strides_ = strides;
  numel_ = count;
  return storage;
}

intrusive_ptr<TensorImpl> TensorImpl::view(Dims sizes) const {
  if (!is_contiguous()) throw std::runtime_error("only a contiguous tensor can be viewed");
  std::string wanted = text(sizes);
  int64_t known = 1;
  int64_t* inferred = nullptr;
  for (size_t i = 0; i < sizes.size(); i++) {
    if (sizes[i] == -1 && inferred == nullptr) {
      inferred = &sizes[i];
    } else if (sizes[i] < 0) {
      throw std::runtime_error("only one size may be -1, and none less: " + wanted);
    } else {
      known = multiply(known, sizes[i]);
    }
  }
  if (inferred != nullptr && known != 0) *inferred = numel_ / known;
  if (known * (inferred == nullptr ? 1 : std::max<int64_t>(*inferred, 0)) != numel_ ||
      (inferred != nullptr && known == 0)) {
    throw std::runtime_error("the size " + wanted + " does not fit " + std::to_string(numel_) +
                             " elements");
  }
  return make_intrusive<TensorImpl>(storage_, offset_, sizes, contiguous_strides(sizes), type_);
}

intrusive_ptr<TensorImpl> TensorImpl::select(int64_t index) const {
  if (sizes_.size() == 0) throw std::out_of_range("a tensor without dimensions has no index");
  if (index < -sizes_[0] || index >= sizes_[0]) {
    throw std::out_of_range("index " + std::to_string(index) +
                            " is outside of a dimension of size " + std::to_string(sizes_[0]));
  }
  if (index < 0) index += sizes_[0];
  Dims sizes = sizes_;
  Dims strides = strides_;
  sizes.erase_front();
  strides.erase_front();
  int64_t offset = add(offset_, multiply(index, strides_[0]));
  return make_intrusive<TensorImpl>(storage_, offset, sizes, strides, type_);
}

}  // namespace slotcore
