#pragma once
// Implementation of layer_summary.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/core/list.hpp>
#include <leat/train/layer_summary.hpp>

#include <algorithm>
#include <array>

namespace leat::detail {

LEAT_FUNCTION list<parameter_row> parameters_of(const graph& g) {
  list<parameter_row> all;
  for (int i = 0; i < g.size(); ++i)
    if (const node& n = g.at(i); n.op->kind == op_kind::variable && g.attribute(n, 1) != 0 && is_floating(n.result.type))
      all.push_back({std::string(n.name), n.result});
  return all;
}

LEAT_FUNCTION list<layer_row> layers_of(list_view<parameter_row> parameters) {
  list<layer_row> rows;
  for (const parameter_row& p : parameters) {
    const std::size_t slash = p.name.rfind('/');
    const std::string layer = slash == std::string::npos ? p.name : p.name.substr(0, slash);
    std::string sizes = "[";
    for (int k = 0; k < p.info.extent.rank; ++k) sizes += (k == 0 ? "" : ", ") + std::to_string(p.info.extent[k]);
    sizes += "]";
    auto row = std::find_if(rows.begin(), rows.end(), [&](const layer_row& r) { return r.layer == layer; });
    if (row == rows.end()) row = rows.insert(rows.end(), {layer, {}, 0});
    row->shape += (row->shape.empty() ? "" : " ") + sizes;
    row->parameters += p.info.extent.elements();
  }
  return rows;
}

LEAT_FUNCTION std::int64_t count_of(list_view<parameter_row> parameters) {
  std::int64_t count = 0;
  for (const parameter_row& p : parameters) count += p.info.extent.elements();
  return count;
}
LEAT_FUNCTION std::int64_t bytes_of(list_view<parameter_row> parameters) {
  std::int64_t bytes = 0;
  for (const parameter_row& p : parameters) bytes += p.info.extent.elements() * size_of(p.info.type);
  return bytes;
}

// Formats 235146 as "235,146".
LEAT_FUNCTION std::string with_commas(std::int64_t n) {
  std::string text = std::to_string(n);
  for (auto at = static_cast<std::int64_t>(text.size()) - 3; at > (n < 0 ? 1 : 0); at -= 3) text.insert(static_cast<std::size_t>(at), ",");
  return text;
}

LEAT_FUNCTION std::string table_text(list_view<layer_row> rows, std::int64_t bytes) {
  list<std::array<std::string, 3>> cells{{"layer", "shape", "parameters"}};
  std::int64_t count = 0;
  for (const layer_row& r : rows) {
    cells.push_back({r.layer, r.shape, with_commas(r.parameters)});
    count += r.parameters;
  }
  std::size_t width[3]{};
  for (const auto& row : cells)
    for (std::size_t k = 0; k < 3; ++k) width[k] = std::max(width[k], row[k].size());
  std::string text;
  for (const auto& row : cells)
    text += row[0] + std::string(width[0] - row[0].size() + 2, ' ') + row[1] + std::string(width[1] - row[1].size() + 2, ' ') +
            std::string(width[2] - row[2].size(), ' ') + row[2] + "\n";
  return text + with_commas(count) + " parameters, " + with_commas(bytes) + " bytes\n";
}

}  // namespace leat::detail
