// Keys, which are texts, and how a result is made again.

#include "core/meta/op_cache.h"

#include <bit>

#include "core/meta/fake_mode.h"

namespace slotcore::meta {
namespace {

using TensorPtr = OpCache::TensorPtr;

class Key {
 public:
  explicit Key(const EnvPtr& env) : env_(env) {}

  void add(int64_t number) { text_ += std::to_string(number) + ','; }
  void add(const SymInt& number) {
    if (number.is_symbolic() && env_of(number) != env_) is_foreign_ = true;
    text_ += text(number) + ',';
  }
  void add(const SymDims& dims) {
    add(static_cast<int64_t>(dims.size()));
    for (const SymInt& number : dims) add(number);
  }
  void add(const Scalar& scalar) {
    add(static_cast<int64_t>(scalar.index()));
    auto parts = std::visit([](auto any) { return std::complex<double>(any); }, scalar);
    // Integers above 2^53 are not exact as doubles.
    if (const auto* integer = std::get_if<int64_t>(&scalar)) return add(*integer);
    add(std::bit_cast<int64_t>(parts.real()));
    add(std::bit_cast<int64_t>(parts.imag()));
  }
  void add(const TensorImpl& tensor) {
    SymLayout layout = tensor.sym_layout();
    add(layout.sizes);
    add(layout.strides);
    add(layout.offset);
    add(tensor.storage()->sym_nbytes());
    add(static_cast<int64_t>(tensor.type()));
    add(tensor.bits().conj * 2 + tensor.bits().neg);
    add(static_cast<int64_t>(tensor.device()));
  }
  // Nullopt if there are symbols of another environment, whose texts are like those of this one.
  std::optional<std::string> taken() && {
    return is_foreign_ ? std::nullopt : std::optional(std::move(text_));
  }

 private:
  const EnvPtr& env_;
  std::string text_;
  bool is_foreign_ = false;
};

// Nullopt for what is not remembered.
std::optional<std::string> key_of(const OpCall& call, const impl::TorchDispatchMode& mode) {
  if (call.op == Op::kNonzero) return std::nullopt;
  // There is no other kind of mode.
  Key key(static_cast<const FakeMode&>(mode).env);
  key.add(static_cast<int64_t>(call.op));
  for (const OpCall::Operand& operand : call.operands) {
    key.add(static_cast<int64_t>(operand.index()));  // else a number and a layout may read alike
    const auto* tensor = std::get_if<TensorPtr>(&operand);
    if (tensor != nullptr && (*tensor)->place().mode.get() != &mode) return std::nullopt;
    if (tensor != nullptr) {
      key.add(**tensor);
    } else {
      key.add(std::get<Scalar>(operand));
    }
  }
  key.add(static_cast<int64_t>(call.numbers.size()));
  for (const SymInt& number : call.numbers) key.add(number);
  if (call.type) key.add(static_cast<int64_t>(*call.type));
  return std::move(key).taken();
}

}  // namespace

TensorPtr OpCache::result_of(const OpCall& call, impl::TorchDispatchMode& mode,
                             const std::function<TensorPtr()>& run) {
  std::optional<std::string> key = key_of(call, mode);
  if (!key) return run();
  auto keep = impl::ModePtr::retain(&mode);  // code of a user may run, and leave it
  std::optional<Entry> found;
  {
    std::lock_guard lock(mutex_);
    if (auto at = entries_.find(*key); at != entries_.end()) found = at->second;
    ++(found ? hits_ : misses_);
  }
  if (found) return made(*found, call, keep);
  TensorPtr result = run();
  Entry entry = entry_of(call, *result);
  std::lock_guard lock(mutex_);
  if (entries_.size() == kEntriesMax) entries_.clear();
  entries_.emplace(std::move(*key), std::move(entry));
  return result;
}

OpCache::Entry OpCache::entry_of(const OpCall& call, const TensorImpl& result) {
  Entry entry;
  entry.layout = result.sym_layout();
  entry.nbytes = result.storage()->sym_nbytes();
  entry.type = result.type();
  entry.bits = result.bits();
  entry.device = result.device();
  for (size_t i = 0; i < call.operands.size(); i++) {
    const auto* operand = std::get_if<TensorPtr>(&call.operands[i]);
    if (operand == nullptr || (*operand)->storage() != result.storage()) continue;
    bool shares_version = (*operand)->version_counter() == result.version_counter();
    entry.operand = i;
    entry.sharing = result.base()    ? Sharing::kBase
                    : shares_version ? Sharing::kVersion
                                     : Sharing::kStorage;
    break;
  }
  return entry;
}

TensorPtr OpCache::made(const Entry& entry, const OpCall& call, const impl::ModePtr& mode) {
  TensorPtr result;
  if (entry.sharing == Sharing::kNothing) {
    auto storage = make_storage(entry.nbytes, Place{entry.device, mode});
    result = make_intrusive<TensorImpl>(std::move(storage), entry.layout, entry.type);
  } else {
    TensorImpl& operand = *std::get<TensorPtr>(call.operands[entry.operand]);
    switch (entry.sharing) {
      case Sharing::kBase: result = operand.make_view(entry.layout, entry.type); break;
      case Sharing::kVersion: result = operand.detach_as(entry.layout, entry.type); break;
      default:
        result = make_intrusive<TensorImpl>(operand.storage(), entry.layout, entry.type);
        break;
    }
  }
  result->set_bits(entry.bits);
  return result;
}

void OpCache::clear() {
  std::lock_guard lock(mutex_);
  entries_.clear();
}

OpCache::Info OpCache::info() const {
  std::lock_guard lock(mutex_);
  return {hits_, misses_, entries_.size()};
}

}  // namespace slotcore::meta
