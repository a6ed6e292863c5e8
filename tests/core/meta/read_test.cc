// Hostile and unusual texts (M6): an error with the JSON pointer of what is wrong.

#include <utility>

#include "tests/core/meta/tensors.h"

namespace slotcore::meta {
namespace {

const char kStorages[] = R"("storages":[{"id":0,"nbytes":8}])";
const char kFields[] =
    R"("id":0,"dtype":"float32","size":[2],"stride":[1],"storage":0,"version_group":0)";

std::string document(const std::string& storages, const std::string& tensors,
                     const std::string& roots = "[0]") {
  return R"({"format":"slotfuzz-meta","version":2,)" + storages + R"(,"tensors":[)" + tensors +
         R"(],"roots":)" + roots + "}";
}

std::string plain_row() { return std::string("{") + kFields + "}"; }

std::string plain() { return document(kStorages, plain_row()); }

// A document of one tensor with more fields.
std::string with(const std::string& fields) {
  return document(kStorages, std::string("{") + kFields + "," + fields + "}");
}

std::string of_storage(const std::string& row) {
  return document("\"storages\":[" + row + "]", plain_row());
}

std::string pointer_of(const std::string& text) {
  try {
    loads(text);
  } catch (const DescError& error) {
    return error.pointer();
  }
  return "accepted";
}

using Cases = std::vector<std::pair<std::string, std::string>>;

void expect_pointers(const Cases& cases) {
  for (const auto& [text, pointer] : cases)
    EXPECT_EQ(pointer_of(text), pointer) << text.substr(0, 300);
}

TEST(Read, form_does_not_matter) {
  EXPECT_EQ(dumps(*loads(plain())), plain());
  EXPECT_EQ(dumps(*loads(" " + with("\n\"is_leaf\" : true, \"version\":0") + "\n")), plain());
  std::string other = std::string(R"({"roots":[0],"tensors":[{)") + kFields + "}]," + kStorages +
                      R"(,"version":2,"format":"slotfuzz-meta"})";
  EXPECT_EQ(dumps(*loads(other)), plain());
}

TEST(Read, rows_are_renumbered_from_the_roots) {
  std::string second =
      R"(,{"id":1,"dtype":"bool","size":[],"stride":[],"storage":0,"version_group":7})";
  std::string text = document(kStorages, plain_row() + second, "[1,0]");
  std::string written = dumps(*loads(text));
  EXPECT_NE(written, text);
  EXPECT_LT(written.find("bool"), written.find("float32"));
  EXPECT_EQ(dumps(*loads(written)), written);
}

TEST(Read, an_error_names_the_field_of_the_document) {
  const std::string begin = R"({"format":"slotfuzz-meta",)";
  expect_pointers({
      {"", ""},
      {"[", ""},
      {"7", ""},
      {"null", ""},
      {std::string(1'000'000, '['), ""},
      {"\xEF\xBB\xBF" + plain(), ""},
      {plain() + "x", ""},
      {plain() + plain(), ""},
      {R"({"format":"other"})", "/format"},
      {R"({"format":1})", "/format"},
      {begin + R"("version":3})", "/version"},
      {begin + R"("version":0})", "/version"},
      {begin + R"("version":1.0})", "/version"},
      {begin + R"("format":"slotfuzz-meta"})", "/format"},
      {R"({"storages":{}})", "/storages"},
      {R"({"storages":3})", "/storages"},
      {R"({"more":1})", ""},
      {"{}", ""},
      {document(kStorages, plain_row(), "[]"), "/roots"},
      {document(kStorages, plain_row(), "[1]"), "/roots/0"},
      {document(kStorages, plain_row(), "[0,-1]"), "/roots/1"},
      {document(kStorages, plain_row(), "[0,null]"), "/roots/1"},
      {document(kStorages, plain_row(), "[0,[0]]"), "/roots/1"},
      {document(kStorages, plain_row(), "[0,1.5]"), "/roots/1"},
  });
}

TEST(Read, an_error_names_the_field_of_a_storage) {
  expect_pointers({
      {of_storage("3"), "/storages/0"},
      {of_storage("[]"), "/storages/0"},
      {of_storage(R"({"id":0})"), "/storages/0"},
      {of_storage(R"({"id":1,"nbytes":0})"), "/storages/0/id"},
      {of_storage(R"({"id":0,"nbytes":-1})"), "/storages/0/nbytes"},
      {of_storage(R"({"id":0,"nbytes":1e2})"), "/storages/0/nbytes"},
      {of_storage(R"({"id":0,"nbytes":[1]})"), "/storages/0/nbytes"},
      {of_storage(R"({"id":0,"nbytes":18446744073709551616})"), "/storages/0/nbytes"},
      {of_storage(R"({"id":0,"nbytes":9223372036854775808})"), "/storages/0/nbytes"},
      {of_storage(R"({"id":0,"nbytes":2,"data":"0"})"), "/storages/0/data"},
      {of_storage(R"({"id":0,"nbytes":1,"data":"0G"})"), "/storages/0/data"},
      {of_storage(R"({"id":0,"nbytes":1,"data":"00","device":"meta"})"), "/storages/0/data"},
      {of_storage(R"({"id":0,"nbytes":1,"device":"cuda"})"), "/storages/0/device"},
      {of_storage(R"({"id":0,"nbytes":0},{"id":1,"nbytes":0})"), "/storages/1"},
  });
}

TEST(Read, an_error_names_the_field_of_a_tensor) {
  expect_pointers({
      {with(R"("dtype":"bool")"), "/tensors/0/dtype"},
      {with(R"("strange":1)"), "/tensors/0"},
      {with(R"("base":0)"), "/tensors/0/base"},
      {with(R"("grad":0)"), "/tensors/0/grad"},
      {with(R"("grad":5)"), "/tensors/0/grad"},
      {with(R"("grad":null)"), "/tensors/0/grad"},
      {with(R"("is_leaf":false)"), "/tensors/0/is_leaf"},
      {with(R"("is_leaf":0)"), "/tensors/0/is_leaf"},
      {with(R"("is_conj":true)"), "/tensors/0/is_conj"},
      {with(R"("creation_meta":"no_grad_mode")"), "/tensors/0/creation_meta"},
      {with(R"("creation_meta":"odd")"), "/tensors/0/creation_meta"},
      {with(R"("version":4294967296)"), "/tensors/0/version"},
      {with(R"("storage_offset":9223372036854775807)"), "/tensors/0/size"},
      {document(kStorages, R"({"id":0,"size":[1,1,1,1,1,1,1,1,1]})"), "/tensors/0/size/8"},
      {document(kStorages, R"({"id":0,"size":[[1]]})"), "/tensors/0/size/0"},
      {document(kStorages, R"({"id":0,"size":[true]})"), "/tensors/0/size/0"},
      {document(kStorages, R"({"id":0,"size":3})"), "/tensors/0/size"},
      {document(kStorages, R"({"id":[0]})"), "/tensors/0/id"},
  });
}

TEST(Read, rows_fit_together) {
  auto pointer = [&](const std::string& first, const std::string& fields) {
    return pointer_of(
        document(R"("storages":[{"id":0,"nbytes":8},{"id":1,"nbytes":0,"device":"meta"}])",
                 std::string("{") + kFields + first +
                     R"(},{"id":1,"dtype":"float32","size":[2],"stride":[1],)" + fields + "}",
                 "[0,1]"));
  };
  EXPECT_EQ(pointer("", R"("storage":1,"version_group":0)"), "accepted");
  EXPECT_EQ(pointer("", R"("storage":1,"version_group":0,"version":2)"), "/tensors/1/version");
  EXPECT_EQ(pointer("", R"("storage":1,"version_group":0,"base":0)"), "/tensors/1/base");
  EXPECT_EQ(pointer("", R"("storage":0,"version_group":1,"base":0)"), "/tensors/1/version_group");
  EXPECT_EQ(pointer(R"(,"base":1)", R"("storage":0,"version_group":0,"base":0)"),
            "/tensors/0/base");
  EXPECT_EQ(pointer(R"(,"grad":1)", R"("storage":1,"version_group":1)"), "/tensors/0/grad");
  EXPECT_EQ(pointer("", R"("storage":7,"version_group":1)"), "/tensors/1/storage");
}

// A tensor whose size is a symbol, with one part replaced.
std::string symbolic(const std::string& part = "", const std::string& by = "") {
  std::string text =
      R"({"format":"slotfuzz-meta","version":2,"storages":[{"id":0,"nbytes":"4*s0"}],)"
      R"("tensors":[{"id":0,"dtype":"float32","size":["s0"],"stride":[1],"storage":0,)"
      R"("version_group":0}],"shape_env":"slotfuzz-shape-env 1\nsymbol 4 0 dynamic\n)"
      R"(input s0 t0.size(0)\n","roots":[0]})";
  return text.replace(text.find(part), part.size(), by);
}

TEST(Read, sizes_may_be_expressions) {
  auto document = loads(symbolic());
  EXPECT_EQ(document->tensors[0].size[0], 4);
  EXPECT_EQ(document->storages[0].nbytes.value, 16);
  EXPECT_EQ(dumps(*document), symbolic());
  std::string quoted = symbolic("t0.size(0)", R"(t[\"\\\"].size(0))");
  EXPECT_EQ(dumps(*loads(quoted)), quoted);
}

TEST(Read, an_error_names_the_expression) {
  const std::string env = R"("shape_env":"slotfuzz-shape-env 1\nsymbol 4 0 dynamic\n)"
                          R"(input s0 t0.size(0)\n",)";
  expect_pointers({
      {symbolic("4*s0", "4*s1"), "/storages/0/nbytes"},
      {symbolic("4*s0", "-4*s0"), "/storages/0/nbytes"},
      {symbolic("4*s0", "4611686018427387904*s0"), "/storages/0/nbytes"},
      {symbolic("4*s0", "s0*4"), "/storages/0/nbytes"},
      {symbolic("4*s0", "16"), "/storages/0/nbytes"},
      {symbolic("4*s0", ""), "/storages/0/nbytes"},
      {symbolic("4*s0", "((s0) // (0))"), "/storages/0/nbytes"},
      {symbolic("[\"s0\"]", "[\"u0\"]"), "/tensors/0/size/0"},
      {symbolic("[\"s0\"]", "\"s0\""), "/tensors/0/size"},
      {symbolic("[\"s0\"]", "[\"-1*s0\"]"), "/tensors/0/size"},
      {symbolic("\"version_group\":0", "\"version_group\":\"s0\""), "/tensors/0/version_group"},
      {symbolic("symbol 4", "symbol -4"), "/shape_env"},
      {symbolic("symbol 4 0 dynamic", "symbol unbacked"), "/shape_env"},
      {symbolic("\"version\":2", "\"version\":1"), "/shape_env"},
      {symbolic(env, "\"shape_env\":3,"), "/shape_env"},
      {symbolic(env, ""), "/storages/0/nbytes"},
      {document(kStorages, plain_row(), "[0]," + env + "\"roots\":[0]"), "/roots"},
      {R"({"shape_env":"","format":"slotfuzz-meta","version":2,)" + std::string(kStorages) +
           ",\"tensors\":[" + plain_row() + "],\"roots\":[0]}",
       "/shape_env"},
  });
}

// 2^62 s1 + 4 replaces s0.
TEST(Read, a_replacement_that_overflows_is_an_error) {
  std::string text =
      symbolic(R"(symbol 4 0 dynamic\ninput s0 t0.size(0)\n)",
               R"(symbol 4 0 dynamic\nsymbol 0 0 dynamic\ninput s0 t0.size(0)\n)"
               R"(input s1 t1.size(0)\nguard s0 + -4611686018427387904*s1 + -4 == 0\n)");
  EXPECT_EQ(pointer_of(text), "/storages/0/nbytes");
}

TEST(Read, a_text_of_version_1_is_read) {
  std::string text = plain();
  text.replace(text.find("\"version\":2"), 11, "\"version\":1");
  EXPECT_EQ(dumps(*loads(text)), plain());
}

TEST(Read, every_prefix_is_an_error) {
  std::string text = with(R"("version":3)");
  for (size_t length = 0; length < text.size(); length++)
    EXPECT_NE(pointer_of(text.substr(0, length)), "accepted") << length;
}

}  // namespace
}  // namespace slotcore::meta
