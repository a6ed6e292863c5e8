// The list of scenarios.

#include "targets/c10/scenario.h"

namespace slotfuzz::c10_subject {

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {claim_kind(), weak_claim_kind(), counts_kind(),
                                        disarm_kind(), load_kind()};
  return all;
}

}  // namespace slotfuzz::c10_subject
