#pragma once
// Graphs as text, a line for each node, for tests of many small ones:
//
//   c = Const int32[2]{3,4}
//   y = Reshape(x:0, c, ^z) T=float32 axis=-1 keep=true name="text" shape=[?,2] types=(float32,int32) list=(1,2)
//
// `{...}` has all elements, or fewer: then the last stands for the others. Attributes that an operator can find out need not be told.

#include <leat/proto/graph_def.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <cctype>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace leat_test {

class graph_text {
 public:
  explicit graph_text(std::string_view text) : text_(text) {}

  leat::graph_def parse() {
    leat::graph_def g;
    for (skip(true); at_ < text_.size(); skip(true)) g.nodes.push_back(node());
    return g;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw std::runtime_error("graph as text: " + what + " at \"" + std::string(text_.substr(at_, 30)) + "\"");
  }
  void skip(bool lines = false) {
    while (at_ < text_.size() && (text_[at_] == ' ' || (lines && text_[at_] == '\n'))) ++at_;
  }
  bool take(char c) {
    skip();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("expected ") + c);
  }
  bool ends() {
    skip();
    return at_ == text_.size() || text_[at_] == '\n';
  }
  std::string word(std::string_view more = "") {
    skip();
    const auto begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  std::string_view("_/.-").find(text_[at_]) != text_.npos || more.find(text_[at_]) != more.npos))
      ++at_;
    if (at_ == begin) fail("expected a word");
    return std::string(text_.substr(begin, at_ - begin));
  }
  static leat::data_type type_named(const std::string& name) {
    using enum leat::data_type;
    if (name == "float32") return float32;
    if (name == "float64") return float64;
    if (name == "int32") return int32;
    if (name == "int64") return int64;
    if (name == "uint8") return uint8;
    if (name == "bool") return boolean;
    if (name == "string") return string;
    if (name == "resource") return resource;
    if (name == "variant") return variant;
    if (name == "half") return half;
    if (name == "bfloat16") return bfloat16;
    if (name == "int8") return int8;
    if (name == "int16") return int16;
    if (name == "uint16") return uint16;
    if (name == "uint64") return uint64;
    if (name == "complex64") return complex64;
    if (name == "complex128") return complex128;
    if (name == "int4") return int4;
    if (name == "uint32") return uint32;
    return invalid;
  }
  static bool is_number(const std::string& w) { return std::isdigit(static_cast<unsigned char>(w[0])) != 0 || w[0] == '-'; }

  leat::tensor_shape_proto dims() {
    leat::tensor_shape_proto s;
    expect('[');
    while (!take(']')) {
      if (take('?')) s.dims.push_back({-1, {}});
      else s.dims.push_back({std::stoll(word()), {}});
      take(',');
    }
    return s;
  }
  std::string quoted() {
    expect('"');
    const auto end = text_.find('"', at_);
    if (end == text_.npos) fail("a text without its end");
    std::string all(text_.substr(at_, end - at_));
    at_ = end + 1;
    return all;
  }
  leat::tensor_proto tensor(leat::data_type type) {
    leat::tensor_proto t;
    t.dtype = type;
    t.shape = dims();
    expect('{');
    const auto put = [&](auto v) { t.bytes.append(reinterpret_cast<const char*>(&v), sizeof(v)); };
    while (!take('}')) {
      skip();
      t.field = leat::field_of(type);
      if (type == leat::data_type::string) {
        t.strings.push_back(quoted());
      } else {
        const std::string w = word("+");
        // A complex number is two words, its real part first.
        if (type == leat::data_type::float32 || type == leat::data_type::complex64) put(std::strtof(w.c_str(), nullptr));
        else if (type == leat::data_type::float64 || type == leat::data_type::complex128) put(std::strtod(w.c_str(), nullptr));
        else if (type == leat::data_type::int64) put(static_cast<std::int64_t>(std::stoll(w)));
        else if (type == leat::data_type::boolean) put(static_cast<std::uint8_t>(w == "true" ? 1 : 0));
        else put(static_cast<std::int32_t>(std::stoll(w)));
      }
      take(',');
    }
    return t;
  }
  leat::attribute_value value() {
    skip();
    if (at_ < text_.size() && text_[at_] == '"') return quoted();
    if (at_ < text_.size() && text_[at_] == '[') return dims();
    if (take('(')) {
      std::vector<std::int64_t> numbers;
      std::vector<leat::data_type> types;
      std::vector<leat::tensor_shape_proto> shapes;
      while (!take(')')) {
        skip();
        if (text_[at_] == '[') shapes.push_back(dims());
        else if (const std::string w = word(); is_number(w)) numbers.push_back(std::stoll(w));
        else types.push_back(type_named(w));
        take(',');
      }
      if (!numbers.empty()) return numbers;
      if (!shapes.empty()) return shapes;
      if (!types.empty()) return types;
      return leat::attribute_list{};
    }
    const std::string w = word("+");
    if (w == "true" || w == "false") return w == "true";
    if (is_number(w)) return w.find('.') == w.npos ? leat::attribute_value(std::stoll(w)) : leat::attribute_value(std::stof(w));
    const leat::data_type type = type_named(w);
    if (type == leat::data_type::invalid) fail("no value: " + w);
    if (at_ < text_.size() && text_[at_] == '[') return tensor(type);
    return type;
  }

  leat::node_def node() {
    leat::node_def n;
    n.name = word();
    expect('=');
    n.op = word();
    if (take('(')) {
      while (!take(')')) {
        n.inputs.push_back(word(":^"));
        take(',');
      }
    }
    if (n.op == "Const" && !ends()) {
      const std::string type = word();
      if (at_ < text_.size() && text_[at_] == '[') {
        auto t = tensor(type_named(type));
        n.attributes["dtype"] = t.dtype;
        n.attributes["value"] = std::move(t);
      } else {
        at_ -= type.size();
      }
    }
    while (!ends()) {
      const std::string name = word();
      expect('=');
      n.attributes[name] = value();
    }
    return n;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace leat_test
