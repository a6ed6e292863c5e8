// Each impl that owns its wrapper, or borrows bytes of an object, has one row for that.

#include "core/python/autograd/owned_rows.h"

#include <unordered_set>

namespace slotcore::python {

void add_links(ReferenceRows& rows, PyObject* self, const std::vector<autograd::OwnedLink>& links) {
  std::unordered_set<intrusive_ptr_target*> met;
  for (const autograd::OwnedLink& one : links) {
    const void* owner = one.owner == nullptr ? static_cast<const void*>(self) : one.owner;
    if (one.object != nullptr) {
      rows.add_object(owner, one.link, one.object, one.is_in_cycle);
      continue;
    }
    rows.add_impl(owner, one.link, one.impl, one.name.c_str(), one.is_in_cycle);
    if (!met.insert(one.impl).second) continue;
    rows.add_wrapper_of(one.impl);
    rows.add_exporter_of(one.impl);
  }
}

}  // namespace slotcore::python
