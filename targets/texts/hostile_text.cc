// Finds fields by their quoted names. A text without fields gets one.

#include "targets/texts/hostile_text.h"

#include <iterator>
#include <string_view>

namespace slotfuzz {
namespace {

constexpr std::string_view kFields[] = {
    "format", "version", "storages", "tensors", "shape_env", "roots",
#define STORAGE_FIELD(type, name, ...) #name,
#define TENSOR_FIELD(type, name, ...) #name,
#include "core/meta/fields.def"
};

// Values of each type, beside the limits of numbers, and what is of no type.
constexpr std::string_view kValues[] = {"0",
                                        "1",
                                        "2",
                                        "-1",
                                        "7",
                                        "9223372036854775807",
                                        "9223372036854775808",
                                        "1e2",
                                        "1.0",
                                        "-0",
                                        "4294967295",
                                        "4294967296",
                                        "4611686018427387904",
                                        "true",
                                        "false",
                                        "null",
                                        "[]",
                                        "[0]",
                                        "[1,1]",
                                        "[0,1]",
                                        "[[0]]",
                                        "{}",
                                        "\"\"",
                                        "\"bool\"",
                                        "\"float32\"",
                                        "\"complex64\"",
                                        "\"cpu\"",
                                        "\"meta\"",
                                        "\"default\"",
                                        "\"no_grad_mode\"",
                                        "\"00\"",
                                        "\"slotfuzz-meta\"",
                                        "\"s0\"",
                                        "\"4*s0\"",
                                        "\"s0*s1 + -1\"",
                                        "\"u0\"",
                                        "[\"s0\"]",
                                        "[\"s1\",\"s0\"]",
                                        "[1,1,1,1,1,1,1,1,1]",
                                        "{\"id\":0}"};

size_t below(std::minstd_rand& random, size_t limit) { return limit == 0 ? 0 : random() % limit; }

template <size_t N>
std::string_view any_of(const std::string_view (&values)[N], std::minstd_rand& random) {
  return values[below(random, N)];
}

// Where a field's name begins, and where its value begins and ends. The value ends before the comma
// or bracket that ends it.
struct Field {
  size_t name = std::string::npos, value = 0, end = 0;
};

size_t end_of_value(const std::string& text, size_t at) {
  int depth = 0;
  for (bool is_quoted = false; at < text.size(); at++) {
    char one = text[at];
    if (one == '"') is_quoted = !is_quoted;
    if (is_quoted) continue;
    if (one == '[' || one == '{') depth++;
    bool closes = one == ']' || one == '}';
    if ((closes && depth-- == 0) || (one == ',' && depth == 0)) return at;
  }
  return at;
}

Field find_field(const std::string& text, std::minstd_rand& random) {
  for (int tries = 0; tries < 8; tries++) {
    std::string name = "\"" + std::string(any_of(kFields, random)) + "\":";
    size_t at = text.find(name, below(random, text.size()));
    if (at == std::string::npos) at = text.find(name);
    if (at != std::string::npos)
      return {at, at + name.size(), end_of_value(text, at + name.size())};
  }
  return {};
}

void change_number(std::string& text, std::minstd_rand& random) {
  size_t at = text.find_first_of("0123456789", below(random, text.size()));
  if (at != std::string::npos) text[at] = static_cast<char>('0' + (text[at] - '0' + 1) % 10);
}

void double_row(std::string& text, std::minstd_rand& random) {
  size_t begin = text.find("{\"id\":", below(random, text.size()));
  if (begin == std::string::npos) return;
  size_t end = end_of_value(text, begin);
  text.insert(end, "," + text.substr(begin, end - begin));
}

void insert_field(std::string& text, std::minstd_rand& random) {
  size_t at = text.find('{', below(random, text.size()));
  std::string field = "\"" + std::string(any_of(kFields, random)) +
                      "\":" + std::string(any_of(kValues, random)) + ",";
  text.insert(at == std::string::npos ? 0 : at + 1, field);
}

}  // namespace

std::string edited_text(std::string text, std::minstd_rand& random) {
  enum Edit : size_t { kNumber, kRow, kInsert, kReplace, kDrop, kDouble, kWrap, kEdits };
  auto edit = static_cast<Edit>(below(random, kEdits));
  Field field = edit < kReplace ? Field{} : find_field(text, random);
  bool has_field = field.name != std::string::npos;
  if (edit == kNumber) {
    change_number(text, random);
  } else if (edit == kRow) {
    double_row(text, random);
  } else if (edit == kInsert || !has_field) {
    insert_field(text, random);
  } else if (edit == kReplace) {
    text.replace(field.value, field.end - field.value, any_of(kValues, random));
  } else if (edit == kDrop) {
    bool has_comma = field.end < text.size() && text[field.end] == ',';
    text.erase(field.name, field.end + (has_comma ? 1 : 0) - field.name);
  } else if (edit == kDouble) {
    text.insert(field.name, text.substr(field.name, field.end - field.name) + ",");
  } else {
    text.insert(field.end, "]").insert(field.value, "[");
  }
  return text;
}

}  // namespace slotfuzz
