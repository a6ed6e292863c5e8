// Conversion: one attempt to convert a document, in the steps of Note [No strong reference under
// the mutex]: look up, lock, decide what hits, give sizes symbols, build the
// rest, put in.
#pragma once

#include <deque>

#include "core/meta/meta_converter.h"
#include "core/meta/sizes/input_symbols.h"

namespace slotcore::meta {

class Conversion {
 public:
  Conversion(MetaConverter& converter, const Document& document, const Symbols& symbols)
      : converter_(converter), document_(document), symbols_(symbols) {}
  // Drops what was built if it was not put in: circles of `.grad` as well.
  ~Conversion();
  Conversion(const Conversion&) = delete;
  Conversion& operator=(const Conversion&) = delete;

  // False if another thread has changed the tables meanwhile: then nothing was put in.
  [[nodiscard]] bool run(const MetaConverter::Use& use);
  MetaConverter::Converted result() const;

 private:
  // A row of the document with its entry, as far as it has one, and its fake.
  template <class Fake, class Memo>
  struct Item {
    std::optional<typename MemoTable<Fake, Memo>::Entry> entry;
    intrusive_ptr<Fake> fake;
    uint64_t number = 0;
    bool is_hit = false;
  };
  using StorageItem = Item<StorageImpl, StorageMemo>;
  struct VersionItem : Item<VersionCounter, VersionMemo> {
    uint32_t version = 0;
  };
  using TensorItem = Item<TensorImpl, TensorMemo>;

  void look_up();
  void lock();
  void decide();
  void decide_tensors();
  std::string key_of(const MetaStorageDesc& row) const;
  std::string key_of(const MetaTensorDesc& row) const;
  void make_symbols();
  void take_expressions();
  void build();
  void build_tensor(size_t place);
  void build_grads();
  [[nodiscard]] bool put_in();

  bool refers_as_before(size_t place) const;
  bool leads_to(TensorRef ref, uint64_t number) const;
  SymInt size_at(const SizePlace& place, int64_t number) const;
  // The sizes of a row, which are symbols if the conversion has an environment.
  SymLayout layout_of(size_t place) const;
  // The bytes of the tensor that fills a storage; nullopt if no tensor does.
  std::optional<SymInt> whole_of(size_t storage) const;
  Place place_of(const MetaStorageDesc& row) const;
  StorageItem& storage_of(const MetaTensorDesc& row);
  VersionItem& version_of(const MetaTensorDesc& row);
  uint64_t number_of(TensorRef ref) const;

  MetaConverter& converter_;
  const Document& document_;
  const Symbols& symbols_;
  std::optional<InputSymbols> inputs_;
  std::unordered_map<size_t, SymLayout> sym_layouts_;  // of rows that do not hit
  std::unordered_map<size_t, SymInt> sym_nbytes_;
  uint64_t changes_ = 0;
  bool is_put_in_ = false;
  std::deque<StorageItem> storages_;
  std::deque<TensorItem> tensors_;
  std::unordered_map<int64_t, VersionItem> versions_;
};

}  // namespace slotcore::meta
