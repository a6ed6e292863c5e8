// The tables from outside; conversion.cc has the steps of a conversion.

#include "core/meta/meta_converter.h"

#include "core/meta/conversion.h"

namespace slotcore::meta {

MetaConverter::Converted MetaConverter::convert(const Document& document, const Symbols& symbols,
                                                const Use& use) {
  for (;;) {
    Conversion conversion(*this, document, symbols);
    if (conversion.run(use)) return conversion.result();
  }
}

void MetaConverter::sweep() {
  std::lock_guard guard(mutex_);
  tensors_.sweep();
  storages_.sweep();
  versions_.sweep();
}

MetaConverter::Sizes MetaConverter::sizes() const {
  std::lock_guard guard(mutex_);
  return {tensors_.size(), storages_.size()};
}

}  // namespace slotcore::meta
