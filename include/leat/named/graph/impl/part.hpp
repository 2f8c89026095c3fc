#pragma once
// Makes a graph's nodes of operators that typed expressions also have: TensorFlow's inputs and attributes, and the constants that become
// inputs.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/infer.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/graph/leaves.hpp>
#include <leat/named/graph/convert.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/named/graph/part.hpp>

#include <algorithm>

namespace leat {

LEAT_FUNCTION named_part::named_part()
    : serial_([] {
        static std::atomic<std::uint64_t> last{0};
        return ++last;
      }()) {}
LEAT_FUNCTION named_part::~named_part() = default;

LEAT_FUNCTION named_part& graph::named() {
  if (names_.held == nullptr) {
    if (!nodes.empty()) throw failed_precondition("this graph was begun without names");
    names_.held = new named_part;
  }
  return static_cast<named_part&>(*names_.held);
}
LEAT_FUNCTION const named_part& graph::named() const {
  if (names_.held == nullptr) throw failed_precondition("a graph without names");
  return static_cast<const named_part&>(*names_.held);
}

// Checks that operands of one group have one dtype. Messages are TensorFlow's.
LEAT_FUNCTION void named_part::check_types(const op_info& op, detail::list_view<field> fields, std::span<const output> operands,
                                           std::string_view name) const {
  std::size_t at = 0;
  std::size_t first = operands.size();
  std::string_view first_name;
  for (const field& f : fields) {
    if (!leat::is_operand(f.kind)) continue;
    const std::size_t end = f.kind == field_kind::operands ? operands.size() : at + 1;
    for (; at < end && at < operands.size(); ++at) {
      if (f.value != 0) continue;
      if (first == operands.size()) {
        first = at;
        first_name = f.name;
      } else if (operands[at].type() != operands[first].type()) {
        throw invalid_argument("Input '" + std::string(f.name) + "' of '" + std::string(op.type) + "' Op has type " +
                               leat::dtype_text(operands[at]) + " that does not match type " +
                               leat::dtype_text(operands[first]) + " of argument '" + std::string(first_name) + "'." +
                               place(name));
      }
    }
  }
}

// The axes of a reduction over all axes: a constant, or nodes that compute them at run time if the rank is unknown (or 0, which TensorFlow
// treats the same).
LEAT_FUNCTION output named_part::all_axes(graph& g, const output& operand) {
  const int rank = operand.extent().rank;
  std::vector<std::int32_t> axes;
  for (int i = 0; i < rank; ++i) axes.push_back(i);
  if (rank > 0) return make_constant(g, tensor_literal(axes), "Const");
  output count;
  if (rank == 0) count = make_constant(g, std::int32_t{0}, "Rank");
  else count = raw(g, "Rank", std::array{operand}, {{"T", operand.type()}}, {{dtype::int32, {}}}).result();
  const std::string outer = names.scope();
  const std::string scope = names.open_scope("range");
  names.set_scope(scope);
  const output start = make_constant(g, std::int32_t{0}, "start");
  const output delta = make_constant(g, std::int32_t{1}, "delta");
  names.set_scope(outer);
  shape extent;
  extent.push(rank == 0 ? 0 : unknown_dimension);
  const output inputs[]{start, count, delta};
  return {g, append(g, {.op = &operator_or_opaque("Range"),
                        .name = scope,
                        .inputs = inputs,
                        .attributes = {{"Tidx", dtype::int32}},
                        .results = {{dtype::int32, extent}},
                        .complete = false})};
}

namespace detail {
// The values that determine a node's attributes, as integers. If there are more than fit, the attributes are not cached.
class attributes_key {
 public:
  explicit attributes_key(const op_info& op) { put(op.code); }
  void put(std::int64_t value) {
    if (size_ == most) {
      fits_ = false;
      return;
    }
    hash_ += static_cast<std::uint64_t>(value) * (factor_ += 0xbf58476d1ce4e5ba);  // the products do not depend on each other
    values_[size_++] = value;
  }
  void put(const shape& s) {
    put(s.rank);
    for (int k = 0; k < s.rank; ++k) put(s[k]);
  }
  // The length, then eight characters per integer.
  void put(std::string_view text) {
    put(static_cast<std::int64_t>(text.size()));
    if (text.size() > sizeof(values_)) fits_ = false;
    std::int64_t word = 0;
    std::size_t at = 0;
    for (; at + 8 <= text.size() && fits_; at += 8) {
      std::memcpy(&word, text.data() + at, 8);
      put(word);
    }
    if (at == text.size() || !fits_) return;
    word = 0;
    std::memcpy(&word, text.data() + at, text.size() - at);
    put(word);
  }
  bool fits() const { return fits_; }
  std::uint64_t hash() const { return hash_ ^ hash_ >> 32 ^ hash_ >> 40; }
  bool is(const std::vector<std::int64_t>& other) const {
    if (other.size() != size_) return false;
    const std::int64_t* const its = other.data();
    std::int64_t differs = 0;
    for (std::size_t k = 0; k < size_; ++k) differs |= its[k] ^ values_[k];
    return differs == 0;
  }
  void copy_to(std::vector<std::int64_t>& other) const { other.assign(values_, values_ + size_); }

 private:
  static constexpr std::size_t most = 32;
  std::int64_t values_[most];
  std::size_t size_ = 0;
  std::uint64_t hash_ = 0, factor_ = 0x9e3779b97f4a7c15;
  bool fits_ = true;
};
}  // namespace detail

template <class Make>
named_part::known_attributes& named_part::attributes_for(const detail::attributes_key& key, Make make) {
  if (known_attributes_.empty()) known_attributes_.resize(most_known_attributes);
  known_attributes& place = known_attributes_[key.hash() % most_known_attributes];
  if (!key.is(place.key)) {
    known_attributes made = make();  // before the entry is replaced, because it may throw
    key.copy_to(made.key);
    place = std::move(made);
  }
  return place;
}

LEAT_FUNCTION output named_part::build(graph& g, const op_info& op, std::span<const output> given, std::span<const std::int64_t> numbers,
                                       std::string_view name, std::span<const number_argument> arguments, std::vector<int> waits) {
  check_graph(g, given);
  if (op.code == code_of_type("MatMul") && (given[0].extent().rank > 2 || given[1].extent().rank > 2))
    return leat::detail::stacked_product(g, given, numbers, name);
  if (op.code == code_of_type("Abs") && is_complex(given[0].type())) return leat::detail::magnitude(g, value_of(given[0]), name);
  if (given.size() == 2 && is_handle(given[0]))
    if (const output made = leat::detail::call_by_handle(g, op, given, numbers, name); static_cast<bool>(made)) return made;
  const auto fields = form_of(op, static_cast<int>(given.size()));
  leat::detail::short_list<output, 8> inputs;
  leat::detail::short_list<tensor_info, 4> infos;
  int stands_with = -1;
  bool writes_numbers = false, has_further_results = false, reads_handles = false;
  {
    std::size_t at = 0;
    for (const field& f : fields) {
      if (!leat::is_operand(f.kind)) {
        writes_numbers = writes_numbers || is_number_input(f.kind);
        has_further_results = has_further_results || f.kind == field_kind::result;
        continue;
      }
      const std::size_t end = f.kind == field_kind::operands ? given.size() : at + 1;
      for (; at < end && at < given.size(); ++at) {
        const bool reads = f.kind != field_kind::reference && is_handle(given[at]);
        reads_handles = reads_handles || reads;
        inputs.push_back(f.kind == field_kind::reference || reads ? given[at] : value_of(given[at]));
        if (f.kind == field_kind::reference && g.at(given[at].index()).op->kind != op_kind::placeholder) stands_with = given[at].index();
      }
    }
    if (inputs.size() != given.size())
      throw invalid_argument(std::string(op.type) + ": " + std::to_string(given.size()) + " operands, which is not what it takes");
  }
  bool is_one_type = true, names_inputs = false;
  for (const output& o : inputs) {
    if (o.port() == 0) infos.push_back(g.at(o.index()).result);
    else infos.push_back({o.type(), o.extent()});
    is_one_type = is_one_type && infos.back().type == infos[0].type;
    names_inputs = names_inputs || record(o.index()).unnamed;
  }

  // The axes of a reduction over all axes are made before the operator and outside of its scope.
  std::vector<number_input> written;
  if (writes_numbers) written = inputs_from_numbers(fields, numbers, infos, dtype::float32);
  output everything;
  for (const auto& w : written)
    if (w.all_axes && arguments.empty()) everything = all_axes(g, inputs[0]);

  // The node's name is the scope of the nodes that are made for it. While these are made, the table of names holds this string, and
  // `its_name` holds the scope around it.
  std::string its_name = std::move(scope_);
  const std::uint64_t name_hash = names.put_scope(its_name, name.empty() ? op.call_name : name);
  if (!is_one_type) check_types(op, fields, inputs, its_name);
  struct inner_scope {
    named_part& nodes;
    std::string& name;
    bool is_entered = false;
    void exchange() {
      nodes.names.swap_scope(name);
      is_entered = !is_entered;
    }
    ~inner_scope() {
      if (is_entered) exchange();
      nodes.scope_ = std::move(name);  // its memory is reused
    }
  } inner{*this, its_name};
  const bool makes_inputs = writes_numbers || names_inputs || reads_handles || !arguments.empty();
  if (makes_inputs) inner.exchange();
  if (reads_handles) {
    std::size_t at = 0;
    for (const field& f : fields) {
      if (!leat::is_operand(f.kind)) continue;
      for (const std::size_t end = f.kind == field_kind::operands ? inputs.size() : at + 1; at < end && at < inputs.size(); ++at)
        if (f.kind != field_kind::reference && is_handle(inputs[at])) inputs[at] = read_handle(g, inputs[at]);
    }
  }
  if (names_inputs)
    for (std::size_t k = 0; k < inputs.size(); ++k) give_name(g, inputs[k], operand_name(fields, static_cast<int>(k)));

  // Numeric attributes given as inputs are known if these inputs are constants.
  std::vector<std::int64_t> read_numbers;
  std::span<const std::int64_t> known = numbers;
  bool complete = true;
  std::vector<tensor_proto> contents;
  attribute_map attributes;
  if (!infos.empty()) {
    detail::attributes_key key(op);
    key.put(infos[0].extent.rank);
    key.put(static_cast<std::int64_t>(infos.size()));
    for (const tensor_info& t : infos) key.put(static_cast<std::int64_t>(t.type));
    for (const std::int64_t n : numbers) key.put(n);
    const auto make = [&] { return known_attributes{{}, attributes_from_numbers(fields, numbers, infos), {}}; };
    attributes = key.fits() ? attributes_for(key, make).attributes.copy() : make().attributes.copy();
  }
  if (!arguments.empty()) {
    number_values values;
    contents.reserve(arguments.size());
    for (const auto& a : arguments) {
      if (const auto* literal = std::get_if<tensor_literal>(&a)) {
        contents.push_back(literal->proto());
        values.push_back(&contents.back());
      } else {
        const auto& o = std::get<output>(a);
        values.push_back(o.port() == 0 ? contents_of(g, o.index()) : nullptr);
        if (values.back() == nullptr)
          if (const auto numbers_known = leat::detail::whole_numbers(o)) {
            contents.push_back(numbers_known->proto());
            values.back() = &contents.back();
          }
      }
    }
    const auto* literal = std::get_if<tensor_literal>(&arguments.front());
    const dtype numbers_type = literal != nullptr ? static_cast<dtype>(literal->type()) : std::get<output>(arguments.front()).type();
    for (const field& f : fields)
      if (f.kind == field_kind::fixed_type) attributes[f.name] = numbers_type;
    auto read = numbers_from(fields, attributes, values, infos);
    complete = read.has_value();
    if (read) known = read_numbers = std::move(*read);
  }
  inference got;
  bool has_complex = op.code == code_of_type("Cast") && !known.empty() && is_complex(static_cast<dtype>(known[0]));
  for (const tensor_info& t : infos) has_complex = has_complex || is_complex(t.type);
  if (complete) got = has_complex ? infer_any_result(op, fields, {infos.data(), infos.size()}, known) : infer_result(op, infos, known);
  else got = {result_type(fields, attributes, infos), op.keeps_shape ? infos[0].extent : leat::detail::partial_shape(op, arguments)};
  if (!got.problem.empty()) {
    std::string text = std::string(op.type) + ": " + std::string(got.problem);
    for (std::size_t i = 0; i < inputs.size(); ++i) text += (i == 0 ? ": " : " and ") + leat::describe(inputs[i]);
    throw invalid_argument(text + place(makes_inputs ? names.scope() : its_name));
  }

  const auto operand_count = inputs.size();
  if (arguments.empty()) {
    if (!written.empty() && got.type != dtype::float32) written = inputs_from_numbers(fields, numbers, infos, got.type);
    for (const auto& w : written) inputs.push_back(w.all_axes ? everything : make_constant(g, w.value, w.name));
  } else {
    std::size_t k = 0;
    std::vector<std::string_view> number_names;
    for (const field& f : fields)
      if (is_number_input(f.kind)) number_names.push_back(f.name);
    for (const auto& a : arguments) {
      const auto number_name = k < number_names.size() ? number_names[k] : std::string_view("y");
      ++k;
      if (const auto* literal = std::get_if<tensor_literal>(&a)) {
        inputs.push_back(make_constant(g, *literal, number_name));
      } else {
        inputs.push_back(value_of(std::get<output>(a)));
        give_name(g, inputs.back(), number_name);
      }
    }
    check_graph(g, inputs);
  }
  // Nodes that bring the inputs into a branch or loop are made in this scope; a device function is called in the scope around it.
  if (inner.is_entered != (context != nullptr)) inner.exchange();
  node_request request{.op = &op,
                       .name = inner.is_entered ? names.scope() : its_name,
                       .name_hash = name_hash,
                       .inputs = {inputs.data(), inputs.size()},
                       .number_inputs = static_cast<int>(inputs.size() - operand_count),
                       .numbers = known,
                       .attributes = std::move(attributes),
                       .controls = std::move(waits),
                       .complete = complete,
                       .stands_with = stands_with};
  if (op.kind != op_kind::group) request.results.emplace_back(got.type, got.extent);
  if (has_further_results || op.results != nullptr)
    add_further_results(request.results, op, fields, {infos.data(), infos.size()}, complete ? &known : nullptr);
  return {g, append(g, std::move(request))};
}

LEAT_FUNCTION output named_part::make_leaf(graph& g, const op_info& op, const tensor_info& result, std::string_view name,
                                           std::span<const std::int64_t> numbers) {
  if (op.kind == op_kind::placeholder) {
    detail::attributes_key key(op);
    key.put(static_cast<std::int64_t>(result.type));
    key.put(result.extent);
    known_attributes& its = attributes_for(
        key, [&] { return known_attributes{{}, attribute_map{{"dtype", result.type}, {"shape", to_proto(result.extent)}}, {}}; });
    const std::uint64_t hash = names.put_node_name(name_, name.empty() ? "Placeholder" : name);
    return {g, append(g, {.op = &op, .name = name_, .name_hash = hash, .attributes = its.attributes.copy(), .results = {result}})};
  }
  if (op.kind == op_kind::constant && !numbers.empty())
    return make_constant(g, {result.type, result.extent, kept_number{numbers[0]}}, name.empty() ? "Const" : name);
  throw unimplemented("a leaf of type " + std::string(op.type) + " in a graph with names: to_graph builds graphs of typed expressions");
}

LEAT_FUNCTION output named_part::make_number(graph& g, const tensor_info& result, double value) {
  const bool fraction = !is_differentiable(result.type) && value != static_cast<double>(static_cast<std::int64_t>(value));
  return make_literal(g, {fraction ? dtype::float32 : result.type, result.extent, value});
}

LEAT_FUNCTION graph_operation named_part::raw(graph& g, std::string_view type, std::span<const output> inputs, attribute_map attributes,
                                              std::vector<tensor_info> results, std::string_view name, std::vector<int> waits) {
  const op_info& op = operator_or_opaque(type);
  const std::string outer = names.scope();
  const std::string scope = names.open_scope(name.empty() ? type : name);
  names.set_scope(scope);
  std::vector<output> all(inputs.begin(), inputs.end());
  const struct restore {
    name_table& names;
    const std::string& outer;
    ~restore() { names.set_scope(outer); }
  } back{names, outer};
  for (std::size_t k = 0; k < all.size(); ++k) give_name(g, all[k], k == 0 ? "x" : "y");
  check_graph(g, all);
  return {g, append(g, {.op = &op,
                        .name = scope,
                        .inputs = all,
                        .attributes = std::move(attributes),
                        .controls = std::move(waits),
                        .results = std::move(results)})};
}

LEAT_FUNCTION const op_info& named_part::operator_or_opaque(std::string_view type) {
  if (const op_info* known = find_operator(type)) return *known;
  if (const operator_definition* defined = find_definition(type)) return defined->info;
  const auto at = opaque_.find(type);
  if (at != opaque_.end()) return at->second->info;
  auto made = std::make_unique<opaque_operator>();
  made->type = std::string(type);
  made->info.type = made->type;
  made->info.call_name = made->type;
  made->info.kind = op_kind::kernel;
  made->info.code = code_of_type(type) | 0x40000000;
  made->info.what = {.is = nature::effect};
  const op_info& info = made->info;
  opaque_.emplace(made->type, std::move(made));
  return info;
}

LEAT_FUNCTION void named_part::settle_names(graph& g) {
  const std::lock_guard lock(settling_);
  for (int index : unnamed_)
    if (record(index).unnamed) name_node(g, index, names.node_name("Const"));
  unnamed_.clear();
}

LEAT_FUNCTION const tensor_proto* named_part::contents_of(const graph& g, int index) const {
  if (g.at(index).op->kind != op_kind::constant) return nullptr;
  const auto* value = record(index).attributes.find("value");
  return value != nullptr ? value->get_if<tensor_proto>() : nullptr;
}

LEAT_FUNCTION void named_part::check_graph(const graph& g, std::span<const output> operands) const {
  for (const output& o : operands) {
    if (!static_cast<bool>(o)) throw invalid_argument("an operand that is no node of a graph");
    if (&o.owner() != &g)
      throw invalid_argument(leat::describe(o) + " must be from the same graph as " + leat::describe(operands.front()) + ".");
  }
}

LEAT_FUNCTION std::string named_part::place(std::string_view name) const {
  std::string text = " (node '" + std::string(name) + "'";
  if (position.line != 0) text += std::string(", made at ") + position.file + ":" + std::to_string(position.line);
  return text + ")";
}

LEAT_FUNCTION output named_part::append_constant(graph& g, const tensor_literal& value, std::string_view name, std::uint64_t name_hash) {
  const auto make = [&] {
    attribute_map attributes;
    attributes.reserve(2);
    attributes.append("dtype") = value.type();
    tensor_proto contents = value.proto();
    const auto number = detail::scalar_bits(contents);
    attributes.append("value") = std::move(contents);
    return known_attributes{{}, std::move(attributes), number};
  };
  // Small constants with equal values share their attributes, whichever call made them: graphs repeat sizes, axes, zeros and ones.
  detail::attributes_key key(info_of<constant_op>);
  key.put(static_cast<std::int64_t>(value.type()));
  key.put(value.extent());
  key.put(value.bytes());
  known_attributes own;
  known_attributes& its = value.type() != data_type::string && key.fits() ? attributes_for(key, make) : own = make();
  const std::optional<std::int64_t> number = its.number;  // a copy, because a node that is made meanwhile may replace the cache entry
  return {g, append(g, {.op = &info_of<constant_op>,
                        .name = name,
                        .name_hash = name_hash,
                        .numbers = {number.has_value() ? &*number : nullptr, number.has_value() ? std::size_t{1} : 0},
                        .attributes = its.attributes.copy(),
                        .results = {{static_cast<dtype>(value.type()), value.extent()}},
                        .complete = number.has_value()})};
}

LEAT_FUNCTION output named_part::make(graph& g, const op_info& op, std::span<const output> operands, std::span<const std::int64_t> numbers,
                                      std::span<const int> waits) {
  return build(g, op, operands, numbers, {}, {}, {waits.begin(), waits.end()});
}

LEAT_FUNCTION output named_part::make_literal(graph& g, const tensor_literal& value) {
  const output made = append_constant(g, value, {}, 0);
  record(made.index()).unnamed = true;
  unnamed_.push_back(made.index());
  return made;
}

LEAT_FUNCTION bool named_part::is_handle(const output& o) const {
  return o.port() == 0 && is_operator<handle_variable_op>(*o.owner().at(o.index()).op);
}
LEAT_FUNCTION output named_part::read_handle(graph& g, const output& handle, std::vector<int> waits) {
  return raw(g, "ReadVariableOp", std::array{handle}, {{"dtype", handle.type()}}, {{handle.type(), handle.extent()}}, {}, std::move(waits))
      .result();
}

LEAT_FUNCTION output named_part::value_of(const output& o) const {
  if (is_handle(o)) return o.owner().named().read_handle(o.owner(), o);
  const int read = record(o.index()).read;
  return read < 0 || o.port() != 0 ? o : output(o.owner(), read);
}

LEAT_FUNCTION void named_part::give_name(graph& g, const output& o, std::string_view name) {
  if (&o.owner() != &g || !record(o.index()).unnamed) return;
  names.put_node_name(name_, name);
  name_node(g, o.index(), name_);
}

}  // namespace leat
