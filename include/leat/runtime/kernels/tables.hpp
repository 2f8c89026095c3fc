#pragma once
// Kernels of tables (lookup_table.hpp). Source: TensorFlow `HashTableV2`, `MutableHashTableV2`, `InitializeTableV2`, `LookupTableFindV2`,
// `LookupTableInsertV2`, `LookupTableRemoveV2`, `LookupTableImportV2`, `LookupTableExportV2`, `LookupTableSizeV2`, and their forms of older
// graphs.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/control.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/lookup_table.hpp>

namespace leat::runtime {

inline std::string type_word(dtype type) { return type == dtype::float32 ? "float" : type == dtype::float64 ? "double" : dtype_name(type); }
template <bool IsMutable>
void run_table(kernel_context& c) {
  const dtype keys = c.node.type_of("key_dtype"), values = c.node.type_of("value_dtype");
  const std::string shared = c.node.text("shared_name");
  const std::string& name = shared.empty() ? c.node.name() : shared;
  auto table = c.step.session.resources.find_or_make<lookup_table>(
      c.node.text("container"), "table " + name, [&] { return std::make_shared<lookup_table>(name, keys, values, IsMutable); });
  if (table->keys() != keys || table->values() != values || table->is_mutable() != IsMutable)
    throw invalid_argument("Conflicting key/value dtypes " + type_word(keys) + "->" + type_word(values) + " with " +
                           type_word(table->keys()) + "-" + type_word(table->values()) + " for table " + name);
  c.set(0, tensor_value::handle(std::move(table)));
}

/// Checks the dtypes of a node's keys and values. Errors: invalid_argument, in TensorFlow's words.
inline void check_signature(const lookup_table& table, dtype keys, dtype values, const std::string& results) {
  if (table.keys() == keys && table.values() == values) return;
  const auto words = [&](dtype k, dtype v) {
    return "resource, " + type_word(k) + ", " + type_word(v) + "->" + (results.empty() ? std::string{} : type_word(v));
  };
  throw invalid_argument("Signature mismatch, have: " + words(keys, values) + " expected: " + words(table.keys(), table.values()));
}
/// The table of input 0, for keys and values in inputs 1 and 2 of one shape.
inline lookup_table& table_for_entries(kernel_context& c) {
  auto& table = held_as<lookup_table>(c.input(0));
  check_signature(table, c.type(1), c.type(2), "");
  return table;
}
inline void run_initialize_table(kernel_context& c) {
  auto& table = table_for_entries(c);
  if (c.extent(1).rank != 1) throw invalid_argument("Keys must be a vector, but received shape" + brackets(c.extent(1)));
  if (c.input(1).elements() != c.input(2).elements())
    throw invalid_argument("Keys and values must have the same size " + std::to_string(c.input(1).elements()) + " vs " +
                           std::to_string(c.input(2).elements()));
  if (c.input(1).elements() == 0) throw invalid_argument("keys and values cannot be empty tensors.");
  table.initialize(c.input(1), c.input(2));
}
inline lookup_table& table_for_equal_shapes(kernel_context& c) {
  auto& table = table_for_entries(c);
  if (!(c.extent(1) == c.extent(2)))
    throw invalid_argument("Expected shape " + brackets(c.extent(1)) + " for value, got " + brackets(c.extent(2)));
  return table;
}
inline void run_find_in_table(kernel_context& c) {
  const auto& table = held_as<lookup_table>(c.input(0));
  check_signature(table, c.type(1), c.type(2), "value");
  const shape &keys = c.extent(1), &otherwise = c.extent(2);
  if (otherwise.rank != 0 && !(otherwise == keys))
    throw invalid_argument("Expected shape [] or " + brackets(keys) + " for default value, got " + brackets(otherwise));
  c.set(0, table.find(c.input(1), c.input(2)));
}
inline void run_export_table(kernel_context& c) {
  const auto& table = held_as<lookup_table>(c.input(0));
  const dtype keys = c.node.type_of("Tkeys", table.keys()), values = c.node.type_of("Tvalues", table.values());
  check_signature(table, keys, values, "");
  auto [all_keys, all_values] = table.all();
  c.set(0, std::move(all_keys));
  c.set(1, std::move(all_values));
}

LEAT_FILL(fill_table_kernels) {
  for (const char* version : {"", "V2"}) {
    const std::string v = version;
    register_kernel("HashTable" + v, run_table<false>);
    register_kernel("MutableHashTable" + v, run_table<true>);
    register_kernel("InitializeTable" + v, run_initialize_table);
    register_kernel("LookupTableFind" + v, run_find_in_table);
    register_kernel("LookupTableInsert" + v, [](kernel_context& c) { table_for_equal_shapes(c).insert(c.input(1), c.input(2)); });
    register_kernel("LookupTableImport" + v, [](kernel_context& c) { table_for_equal_shapes(c).import(c.input(1), c.input(2)); });
    register_kernel("LookupTableExport" + v, run_export_table);
    register_kernel("LookupTableSize" + v, [](kernel_context& c) { c.set(0, tensor_value(held_as<lookup_table>(c.input(0)).size())); });
  }
  register_kernel("LookupTableRemoveV2", [](kernel_context& c) {
    auto& table = held_as<lookup_table>(c.input(0));
    check_signature(table, c.type(1), table.values(), "");
    table.remove(c.input(1));
  });
}

}  // namespace leat::runtime
