#pragma once
// Implementation of graph_iterator.hpp: the operators, their kernels, and the table of datasets by token.

#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/data/dataset_function.hpp>
#include <leat/data/graph_dataset.hpp>
#include <leat/data/graph_iterator.hpp>
#include <leat/io/library.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/runtime/kernels/control.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <atomic>
#include <iostream>
#include <map>
#include <mutex>

namespace leat::data::detail {

/// The datasets of all graphs, by token. Each exists as long as its graph.
struct dataset_table {
  std::mutex guard;
  std::map<std::string, std::weak_ptr<const source_maker>, std::less<>> by_token;
};
inline dataset_table& datasets_by_token() {
  static dataset_table table;
  return table;
}
// Registers a dataset. The graph owns it under its token, together with its host functions.
LEAT_FUNCTION std::string enter_dataset(graph& g, source_maker maker) {
  static std::atomic<std::int64_t> counter{0};
  const std::string token = "dataset_" + std::to_string(counter.fetch_add(1));
  auto kept = std::make_shared<const source_maker>(std::move(maker));
  {
    auto& table = datasets_by_token();
    const std::lock_guard lock(table.guard);
    std::erase_if(table.by_token, [](const auto& entry) { return entry.second.expired(); });
    table.by_token[token] = kept;
  }
  g.named().host_functions.emplace(token, [kept](std::span<const tensor_literal>) -> std::vector<tensor_literal> {
    throw failed_precondition("a dataset is no function");
  });
  return token;
}
LEAT_FUNCTION std::shared_ptr<const source_maker> find_dataset(const std::string& token) {
  auto& table = datasets_by_token();
  const std::lock_guard lock(table.guard);
  const auto at = table.by_token.find(token);
  auto found = at == table.by_token.end() ? nullptr : at->second.lock();
  if (!found)
    throw failed_precondition("the dataset '" + token + "' is not known to this program: it belongs to the one that built the graph");
  return found;
}

/// A program's own dataset in a graph. Only its program knows the elements.
class host_dataset final : public graph_dataset {
 public:
  explicit host_dataset(std::shared_ptr<const source_maker> its_maker) : graph_dataset("HostDataset", {}), maker_(std::move(its_maker)) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }
  source_maker maker(pipeline_place) const override { return *maker_; }

 private:
  struct pass final : pass_of<host_dataset> {
    pass(pipeline& p, const host_dataset& of) : pass_of(p, of), from((*of.maker_)()) {}
    std::unique_ptr<value_source> from;
    bool advance(components& to) override { return from->next(pipeline_.step(), to); }
  };
  const std::shared_ptr<const source_maker> maker_;
};

// Logs the message of starting an iterator, if there is one.
inline void note_beginning(kernel_context& c, const std::string& note) {
  if (note.empty()) return;
  session_state& s = c.step.session;
  const std::lock_guard lock(s.log_guard);
  (s.log != nullptr ? *s.log : std::cerr) << note << std::flush;
}

inline std::shared_ptr<iterator_resource> iterator_of(kernel_context& c, const std::string& name) {
  return c.step.session.resources.find_or_make<iterator_resource>(c.node.text("container"), std::string(iterator_prefix) + name,
                                                                  [&] { return std::make_shared<iterator_resource>(name); });
}
inline std::string shared_or_own_name(const kernel_context& c) {
  const std::string shared = c.node.text("shared_name");
  return shared.empty() ? c.node.name() : shared;
}
inline iterator_resource& held_iterator(kernel_context& c, int input) {
  auto* found = dynamic_cast<iterator_resource*>(c.input(input).held().get());
  if (found == nullptr) throw invalid_argument("the handle is none of an iterator");
  return *found;
}

// The dataset of an iterator that starts by itself: one of the program, by its token, or what a function of the graph's library returns.
LEAT_FUNCTION source_maker maker_of_factory(kernel_context& c) {
  const auto recipe = recipe_of(c, "dataset_factory");
  const node_def call{.name = {}, .op = recipe->function.name, .inputs = {}, .device = {}, .attributes = {}};
  if (io::needed_functions(recipe->library, {&call, 1}).empty()) return *find_dataset(recipe->function.name);
  dataset_function factory(recipe, place_of(c));
  const components made = factory.call(c.step, {});
  return dataset_in(made[0])->maker(place_of(c));
}

// An iterator's next element, which must be of the dtypes and shapes that the node states.
inline components next_element(kernel_context& c) {
  components element;
  held_iterator(c, 0).next(c.step, element);
  check_element(element, spec_of(c.node));
  return element;
}
inline void set_element(kernel_context& c, components element) {
  for (std::size_t k = 0; k < element.size(); ++k) c.set(static_cast<int>(k), std::move(element[k]));
}

// Results have the shapes that the attribute states.
inline void shapes_of_element(shape_context& c) {
  const attribute_value* held = c.attribute("output_shapes");
  const auto* list = held != nullptr ? held->get_list<tensor_shape_proto>() : nullptr;
  for (int k = 0; list != nullptr && k < c.result_count() && static_cast<std::size_t>(k) < list->size(); ++k)
    c.set(k, to_shape((*list)[static_cast<std::size_t>(k)]));
}

}  // namespace leat::data::detail

namespace leat::detail {

LEAT_FILL(fill_iterator_definitions) {
  using namespace data::detail;
  const std::string structure = "output_types: list(type) >= 1; output_shapes: list(shape) >= 1";
  const std::string place = "; container: string = \"\"; shared_name: string = \"\"";
  constexpr facts any_dtype{.is = nature::effect, .narrow = narrow_rule::any};
  define_operator("HostDataset() -> (handle: variant); token: string; " + structure, any_dtype, shapes::numbers);
  for (const char* type : {"IteratorV2", "Iterator"})
    define_operator(type + std::string("() -> (handle: resource); ") + structure + place, any_dtype, shapes::numbers);
  define_operator("OneShotIterator() -> (handle: resource); dataset_factory: func; " + structure + place, any_dtype, shapes::numbers);
  define_operator("MakeIterator(dataset: variant, iterator: resource) -> ()", any_dtype);
  // A dataset may block, for a disk or another thread.
  for (const char* type : {"IteratorGetNext", "IteratorGetNextSync"})
    define_operator(type + std::string("(iterator: resource) -> (components: list(output_types)); output_shapes: list(shape) >= 1"),
                    {.is = nature::effect, .narrow = narrow_rule::any, .waits = true}, shapes_of_element);
  define_operator("IteratorToStringHandle(resource_handle: resource) -> (string_handle: string)", shapes::numbers);
  for (const char* type : {"IteratorFromStringHandleV2", "IteratorFromStringHandle"})
    define_operator(
        type + std::string("(string_handle: string) -> (resource_handle: resource); output_types: list(type) = []; output_shapes: "
                           "list(shape) = []"),
        any_dtype, shapes::numbers);
}

LEAT_FILL(fill_iterator_kernels) {
  using namespace data::detail;
  register_kernel("HostDataset", [](kernel_context& c) {
    c.set(0, tensor_value::handle(std::make_shared<host_dataset>(find_dataset(c.node.text("token")))));
  });
  register_kernels({"IteratorV2", "Iterator"},
                   [](kernel_context& c) { c.set(0, tensor_value::handle(iterator_of(c, shared_or_own_name(c)))); });
  register_kernel("OneShotIterator", [](kernel_context& c) {
    auto made = iterator_of(c, shared_or_own_name(c));
    if (!made->has_begun()) note_beginning(c, made->begin_once(maker_of_factory(c)));
    c.set(0, tensor_value::handle(std::move(made)));
  });
  register_kernel("MakeIterator", [](kernel_context& c) {
    const auto from = dataset_in(c.input(0));
    note_beginning(c, held_iterator(c, 1).begin(from->maker(place_of(c))));
  });
  register_kernels({"IteratorGetNext", "IteratorGetNextSync"}, [](kernel_context& c) { set_element(c, next_element(c)); });
  register_kernel("IteratorToStringHandle", [](kernel_context& c) { c.set(0, tensor_value(held_iterator(c, 0).name)); });
  register_kernels({"IteratorFromStringHandleV2", "IteratorFromStringHandle"}, [](kernel_context& c) {
    const std::string name = c.input(0).texts().at(0);
    c.set(0, tensor_value::handle(c.step.session.resources.find_or_make<iterator_resource>(
                 "", std::string(iterator_prefix) + name, [&]() -> std::shared_ptr<iterator_resource> {
                   throw not_found("the string '" + name + "' stands for no iterator of this session");
                 })));
  });
}

}  // namespace leat::detail

namespace leat::data::detail {

inline attribute_map structure_attributes(const iterator_structure& of) {
  leat::detail::compile_fill(leat::detail::fill_iterator_kernels);  // needed if another source file runs the graph
  std::vector<tensor_shape_proto> shapes;
  for (const shape& s : of.shapes) shapes.push_back(to_proto(s));
  return {{"output_types", of.types}, {"output_shapes", shapes}};
}

}  // namespace leat::data::detail

namespace leat {

LEAT_FUNCTION std::vector<output> graph_iterator::get_next(std::string_view name, const std::source_location& where) const {
  graph& g = reference_.owner();
  const source_scope line(g, where);
  const graph_operation made = call_operator(g, "IteratorGetNext", {reference_}, data::detail::structure_attributes(structure_),
                                             name.empty() ? std::string_view("IteratorGetNext") : name);
  std::vector<output> components;
  for (std::size_t k = 0; k < structure_.types.size(); ++k) {
    components.push_back(made.result(static_cast<int>(k)));
    set_shape(components.back(), structure_.shapes[k]);
  }
  return components;
}

LEAT_FUNCTION const graph_operation& graph_iterator::initializer() const {
  if (initializer_.empty())
    throw failed_precondition("the iterator '" + reference_.operation().name() +
                              "' has no initializer of its own: make_initializer(dataset) makes one");
  return initializer_[0];
}

LEAT_FUNCTION output graph_iterator::string_handle(std::string_view name, const std::source_location& where) const {
  graph& g = reference_.owner();
  const source_scope line(g, where);
  return call_operator(g, "IteratorToStringHandle", {reference_}, {}, name.empty() ? std::string_view("IteratorToStringHandle") : name)
      .result();
}

LEAT_FUNCTION graph_iterator graph_iterator::from_structure(data::iterator_structure structure, std::string_view shared_name,
                                                            const std::source_location& where) {
  graph& g = default_graph();
  const source_scope line(g, where);
  auto attributes = data::detail::structure_attributes(structure);
  attributes["shared_name"] = std::string(shared_name);
  graph_iterator made;
  made.reference_ = call_operator(g, "IteratorV2", {}, std::move(attributes), "IteratorV2").result();
  made.structure_ = std::move(structure);
  return made;
}

LEAT_FUNCTION graph_iterator graph_iterator::from_string_handle(const output& handle, data::iterator_structure structure,
                                                                const std::source_location& where) {
  graph& g = handle.owner();
  const source_scope line(g, where);
  graph_iterator made;
  made.reference_ =
      call_operator(g, "IteratorFromStringHandleV2", {handle}, data::detail::structure_attributes(structure), "IteratorFromStringHandleV2")
          .result();
  made.structure_ = std::move(structure);
  return made;
}

LEAT_FUNCTION graph_iterator graph_iterator::one_shot(data::iterator_structure structure, data::source_maker maker,
                                                      const std::source_location& where) {
  graph& g = default_graph();
  const source_scope line(g, where);
  auto attributes = data::detail::structure_attributes(structure);
  attributes["dataset_factory"] = function_value{data::detail::enter_dataset(g, std::move(maker)), {}};
  graph_iterator made;
  made.reference_ = call_operator(g, "OneShotIterator", {}, std::move(attributes), "OneShotIterator").result();
  made.structure_ = std::move(structure);
  return made;
}

LEAT_FUNCTION graph_iterator graph_iterator::initializable(data::iterator_structure structure, data::source_maker maker,
                                                           std::string_view shared_name, const std::source_location& where) {
  graph_iterator made = from_structure(std::move(structure), shared_name, where);
  made.initializer_.push_back(made.initialize(made.structure_, std::move(maker), {}, where));
  return made;
}

LEAT_FUNCTION graph_operation graph_iterator::initialize(const data::iterator_structure& structure, data::source_maker maker,
                                                         std::string_view name, const std::source_location& where) const {
  if (structure.types != structure_.types)
    throw invalid_argument("the iterator '" + reference_.operation().name() + "' has components of other types than the dataset");
  for (std::size_t k = 0; k < structure.shapes.size(); ++k)
    if (structure.shapes[k].rank != structure_.shapes[k].rank)
      throw invalid_argument("component " + std::to_string(k) + " of the iterator '" + reference_.operation().name() +
                             "' has another rank than the dataset's");
  graph& g = reference_.owner();
  const source_scope line(g, where);
  auto attributes = data::detail::structure_attributes(structure);
  attributes["token"] = data::detail::enter_dataset(g, std::move(maker));
  const output from = call_operator(g, "HostDataset", {}, std::move(attributes), "HostDataset").result();
  return call_operator(g, "MakeIterator", {from, reference_}, {}, name.empty() ? std::string_view("MakeIterator") : name);
}

}  // namespace leat
