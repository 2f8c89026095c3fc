#pragma once
// Implementation of place.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/named/graph/part.hpp>
#include <leat/named/placement/place.hpp>
#include <leat/proto/data_type.hpp>

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace leat::detail {

/// Groups a graph's colocated nodes, and combines the device constraints of each group.
class placer {
 public:
  placer(graph& g, const placement_options& options) : g_(g), options_(options), groups_(static_cast<std::size_t>(g.size())) {
    std::iota(groups_.begin(), groups_.end(), 0);
    sizes_.assign(groups_.size(), 1);
    wanted_.resize(groups_.size());
    asker_.resize(groups_.size());
    for (const std::string& d : options.devices) specs_.push_back(parse_device(d));
    if (specs_.empty()) throw invalid_argument("place: there are no devices");
  }

  std::vector<int> run(std::vector<int> placed) {
    const named_part& nodes = g_.named();
    const auto known = placed.size();
    for (int i = 0; i < g_.size(); ++i) {
      const node_record& r = nodes.record(i);
      asker_[at(i)] = i;
      if (!r.device.empty()) wanted_[at(i)] = parsed(r);
    }
    for (int i = 0; i < g_.size(); ++i) {
      for (const std::string& group : nodes.classes_of(i)) {
        join(i, first_of_.try_emplace(group, i).first->second);
        if (const int with = nodes.find(std::string_view(group).substr(5)); with >= 0) join(i, with);  // after "loc:@"
      }
      for (const int k : reference_inputs(*g_.at(i).op, nodes.input_count(g_, i))) {
        const output from = nodes.input(g_, i, k);
        if (is_reference(from)) join(i, from.index());
      }
    }
    std::vector<int> of_group(groups_.size(), -1);
    for (std::size_t i = 0; i < known; ++i) of_group[at(find(static_cast<int>(i)))] = placed[i];
    placed.resize(groups_.size(), -1);
    std::vector<std::vector<int>> users(groups_.size());
    for (int i = 0; i < g_.size(); ++i) {
      for (int k = 0; k < nodes.input_count(g_, i); ++k) users[at(nodes.input(g_, i, k).index())].push_back(i);
      for (int k = 0; k < g_.at(i).control_count; ++k) users[at(g_.control(g_.at(i), k))].push_back(i);
    }
    std::vector<int> later;
    for (int i = 0; i < g_.size(); ++i) {
      if (static_cast<std::size_t>(i) < known) continue;
      int& device = of_group[at(find(i))];
      if (device < 0 && follows_users(i, users[at(i)])) {
        later.push_back(i);
        continue;
      }
      if (device < 0) {
        const std::vector<int> fit = fitting(i);
        device = fit.front();
        if (looks_at_shape(i))
          if (const int there = placed[at(nodes.input(g_, i, 0).index())]; std::find(fit.begin(), fit.end(), there) != fit.end())
            device = there;
      }
      placed[at(i)] = device;
    }
    for (const int i : later) {
      const std::vector<int> fit = fitting(i);
      int device = fit.front();
      const int there = placed[at(users[at(i)].front())];
      const bool together = std::all_of(users[at(i)].begin(), users[at(i)].end(), [&](int u) { return placed[at(u)] == there; });
      if (together && std::find(fit.begin(), fit.end(), there) != fit.end()) device = there;
      placed[at(i)] = device;
    }
    return placed;
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  int find(int i) {
    while (groups_[at(i)] != i) i = groups_[at(i)] = groups_[at(groups_[at(i)])];
    return i;
  }
  bool is_reference(const output& o) const {
    return o.port() == 0 && (is_reference_result(*g_.at(o.index()).op, 0) || to_data_type(o.type()) == data_type::resource);
  }
  device_spec parsed(const node_record& r) const {
    const auto refuse = [&](std::string_view why) {
      throw invalid_argument("Malformed device specification '" + std::string(r.device) + "' in node '" + r.name + "': " +
                             std::string(why));
    };
    device_spec spec;
    try {
      spec = parse_device(r.device);
    } catch (const invalid_argument& e) {
      refuse(e.what());
    }
    for (const auto& number : {spec.replica, spec.task, spec.index})
      if (number.value_or(0) < 0) refuse("no device has the number " + std::to_string(*number));
    return spec;
  }
  std::string place_of(int i) const {
    const node_record& r = g_.named().record(i);
    return r.made_at.line == 0 ? std::string{} : std::string(" It was made at ") + r.made_at.file + ":" + std::to_string(r.made_at.line);
  }

  // Merges the groups of two nodes; the result has the constraints of both.
  void join(int a, int b) {
    const int x = find(a), y = find(b);
    if (x == y) return;
    device_spec &mine = wanted_[at(x)], &other = wanted_[at(y)];
    const auto merged = [&](auto& to, const auto& from, bool may_differ) {
      if (!from) return;
      if (!to) to = from;
      else if (*to != *from && may_differ) to.reset();
      else if (*to != *from) refuse_pair(asker_[at(x)], asker_[at(y)], a, b);
    };
    const bool soft = options_.allow_soft_placement;
    merged(mine.job, other.job, false);
    merged(mine.replica, other.replica, false);
    merged(mine.task, other.task, false);
    merged(mine.type, other.type, soft);
    merged(mine.index, other.index, soft);
    if (!g_.named().record(asker_[at(y)]).device.empty() && g_.named().record(asker_[at(x)]).device.empty()) asker_[at(x)] = asker_[at(y)];
    groups_[at(y)] = x;
    sizes_[at(x)] += sizes_[at(y)];
  }
  [[noreturn]] void refuse_pair(int first, int second, int a, int b) const {
    const named_part& nodes = g_.named();
    throw invalid_argument("Cannot colocate nodes '" + nodes.record(a).name + "' and '" + nodes.record(b).name +
                           "' because no device type supports both of those nodes and the other nodes colocated with them: '" +
                           nodes.record(first).name + "' asks for " + std::string(nodes.record(first).device) + ", '" +
                           nodes.record(second).name + "' for " + std::string(nodes.record(second).device) + "." + place_of(a));
  }

  static bool fits(const device_spec& wanted, const device_spec& device, bool soft) {
    if (wanted.job && wanted.job != device.job) return false;
    if (wanted.replica && wanted.replica != device.replica) return false;
    if (wanted.task && wanted.task != device.task) return false;
    return soft || ((!wanted.type || wanted.type == device.type) && (!wanted.index || wanted.index == device.index));
  }
  // The devices on which a node may be placed, the session's own first.
  std::vector<int> fitting(int i) {
    const device_spec& wanted = wanted_[at(find(i))];
    const auto list = [&](bool soft) {
      std::vector<int> fit;
      if (fits(wanted, specs_[at(options_.own)], soft)) fit.push_back(options_.own);
      for (std::size_t d = 0; d < specs_.size(); ++d)
        if (static_cast<int>(d) != options_.own && fits(wanted, specs_[d], soft)) fit.push_back(static_cast<int>(d));
      return fit;
    };
    std::vector<int> fit = list(false);
    if (fit.empty() && options_.allow_soft_placement) fit = list(true);
    if (fit.empty()) refuse(i, wanted);
    return fit;
  }
  [[noreturn]] void refuse(int i, const device_spec& wanted) const {
    const named_part& nodes = g_.named();
    const node_record& r = nodes.record(i);
    std::string available;
    for (const std::string& d : options_.devices) available += (available.empty() ? "" : ", ") + d;
    std::string text = "Cannot assign a device for operation " + r.name + ": node " + r.name + " was explicitly assigned to " +
                       (r.device.empty() ? wanted.text() : std::string(r.device)) + " but available devices are [ " + available +
                       " ]. Make sure the device specification refers to a valid device.";
    const device_spec& here = specs_.front();
    const bool other_process = (wanted.job && wanted.job != here.job) || (wanted.replica && wanted.replica != here.replica) ||
                               (wanted.task && wanted.task != here.task);
    if (options_.devices.size() == 1 && here.job == "localhost" && other_process)
      text += " A session on other jobs or tasks needs a `target`, the address of a server among them; this one has none.";
    throw invalid_argument(text + place_of(i));
  }

  // Whether a node is placed where its users are: it has no inputs, one result that is not a reference, and is not colocated.
  bool follows_users(int i, const std::vector<int>& users) const {
    const named_part& nodes = g_.named();
    return nodes.input_count(g_, i) == 0 && nodes.record(i).results == 1 && !users.empty() && !is_reference({g_, i, 0}) &&
           groups_[at(i)] == i && sizes_[at(i)] == 1;
  }
  bool looks_at_shape(int i) const { return g_.at(i).op->what.depends_on == looks_at::shape && g_.named().input_count(g_, i) > 0; }

  graph& g_;
  const placement_options& options_;
  std::vector<int> groups_;  // union-find: another node of the same group; the first node of a group refers to itself
  std::vector<int> sizes_;
  std::unordered_map<std::string, int> first_of_;  // by name of the colocation group: its first node
  std::vector<device_spec> wanted_;                // by a group's first node: the requested device
  std::vector<int> asker_;                         // by a group's first node: the node that requested the device, for messages
  std::vector<device_spec> specs_;                 // by device: its parsed name
};

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION std::vector<int> place(graph& g, const placement_options& options, std::vector<int> placed) {
  if (options.own < 0 || options.own >= static_cast<int>(options.devices.size()))
    throw invalid_argument("place: the session's own device is number " + std::to_string(options.own) + " of " +
                           std::to_string(options.devices.size()));
  return detail::placer(g, options).run(std::move(placed));
}

}  // namespace leat
