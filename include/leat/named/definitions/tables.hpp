#pragma once
// Definitions of tables, which map keys to values and which a session keeps between runs.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_table_definitions) {
  constexpr facts works{.is = nature::effect, .stops_gradient = true};
  // In older graphs handles are references to strings.
  for (const bool old : {false, true}) {
    const std::string v = old ? "" : "V2";
    const std::string handle = old ? "table_handle: &string" : "table_handle: resource";
    const std::string made =
        "() -> (" + handle +
        "); container: string = \"\"; shared_name: string = \"\"; use_node_name_sharing: bool = false; key_dtype: type; "
        "value_dtype: type";
    for (const char* kind : {"", "Mutable"})
      define_operator(kind + ("HashTable" + v) + made, {.is = nature::effect, .work = work_kind::none, .stops_gradient = true},
                      shapes::numbers);
    const std::string entries = "(" + handle + ", keys: Tkey, values: Tval) -> ()";
    define_operator("InitializeTable" + v + entries, works);
    define_operator(
        "InitializeTableFromTextFile" + v + "(" + handle +
            ", filename: string) -> (); key_index: int >= -2; value_index: int >= -2; vocab_size: int >= -1 = -1; delimiter: string = "
            "\"\t\"; offset: int = 0",
        works, [](shape_context& c) { shapes::want_rank(c, 1, 0); });
    define_operator("LookupTableFind" + v + "(" + handle + ", keys: Tin, default_value: Tout) -> (values: Tout)", works, shapes::like<1>);
    define_operator("LookupTableInsert" + v + "(" + handle + ", keys: Tin, values: Tout) -> ()", works);
    define_operator("LookupTableImport" + v + "(" + handle + ", keys: Tin, values: Tout) -> ()", works);
    define_operator("LookupTableExport" + v + "(" + handle + ") -> (keys: Tkeys, values: Tvalues)", works,
                    [](shape_context& c) { c.set_all(shapes::vector_of(-1)); });
    define_operator("LookupTableSize" + v + "(" + handle + ") -> (size: int64)", works, shapes::numbers);
  }
  define_operator("LookupTableRemoveV2(table_handle: resource, keys: Tin) -> ()", works);
}

}  // namespace leat::detail
