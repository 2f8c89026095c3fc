#pragma once
// Implementation of partition.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/named/graph/part.hpp>
#include <leat/named/placement/partition.hpp>
#include <leat/named/placement/place.hpp>
#include <leat/proto/data_type.hpp>
#include <leat/proto/producer.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>

namespace leat::detail {

class partitioner {
 public:
  partitioner(graph& g, const partition_request& request, std::span<const int> places, std::span<const std::string> devices)
      : g_(g), nodes_(g.named()), request_(request), places_(places), devices_(devices), needed_(static_cast<std::size_t>(g.size()), 0) {}

  partitioned_graph run() {
    find_needed();
    check_loops();
    part_of_.assign(devices_.size(), -1);
    std::vector<int> order;
    for (int i = 0; i < g_.size(); ++i)
      if (needed_[at(i)] != 0) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](int a, int b) { return std::pair(nodes_.record(a).order, a) < std::pair(nodes_.record(b).order, b); });
    keep_orders();
    find_copied(order);
    for (const int i : order)
      if (copied_[at(i)] != copies::only) add_node(i);
    for (const int i : request_.targets) part(places_[at(i)]).targets.push_back(nodes_.record(i).name);
    for (std::size_t k = 0; k < request_.fetches.size(); ++k) {
      const output& f = request_.fetches[k];
      if (const int fed = feed_of(f); fed >= 0) made_.passed.emplace_back(static_cast<int>(k), fed);
      else part(places_[at(f.index())]).fetches.push_back({static_cast<int>(k), nodes_.result_name(f.index(), f.port())});
    }
    for (graph_part& p : made_.parts) {
      p.def.versions = versions_to_write(p.def.nodes, nodes_.versions);
      p.def.library = library_for(nodes_, p.def.nodes);
    }
    return std::move(made_);
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  int feed_of(const output& o) const {
    for (std::size_t k = 0; k < request_.feeds.size(); ++k)
      if (request_.feeds[k].index() == o.index() && request_.feeds[k].port() == o.port()) return static_cast<int>(k);
    return -1;
  }

  void find_needed() {
    for (const output& f : request_.feeds) fed_.emplace(f.index(), true);
    std::vector<int> open(request_.targets.begin(), request_.targets.end());
    for (const output& f : request_.fetches)
      if (!is_fed(f)) open.push_back(f.index());
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      if (std::exchange(needed_[at(i)], 1) != 0) continue;
      if (g_.at(i).op->what.control == flow::branch) has_branches_ = true;
      for (int k = 0; k < nodes_.input_count(g_, i); ++k)
        if (const output in = nodes_.input(g_, i, k); !is_fed(in)) open.push_back(in.index());
      for (int k = 0; k < g_.at(i).control_count; ++k)
        if (const int from = g_.control(g_.at(i), k); !is_fed_placeholder(from)) open.push_back(from);
    }
  }
  bool is_fed(const output& o) const { return fed_.contains(o.index()) && feed_of(o) >= 0; }
  // A fed placeholder has nothing to run, so that no node waits for it.
  bool is_fed_placeholder(int i) const { return g_.at(i).op->kind == op_kind::placeholder && is_fed(output(g_, i)); }

  // Determines the frame of each node, and checks that each loop is on one device. An Enter opens the frame of its result; an Exit's result
  // is in the enclosing frame. Every other node is in the frame of its inputs, because values from outside a loop come through an Enter.
  void check_loops() {
    std::vector<int>& frame = frame_;
    frame.assign(needed_.size(), 0);
    struct loop {
      int parent;
      int device;
      int first;  // a node in the loop
      std::string name;
    };
    std::vector<loop> loops{{-1, -1, -1, {}}};
    std::map<std::pair<int, std::string>, int> known;
    for (int i = 0; i < g_.size(); ++i) {
      if (needed_[at(i)] == 0) continue;
      int own = 0;
      const auto from = [&](int j) {
        if (j >= i || needed_[at(j)] == 0) return;  // a loop's back edge, or a node that is not needed because its result is fed
        own = std::max(own, is_exit(j) ? std::max(0, loops[at(frame[at(j)])].parent) : frame[at(j)]);
      };
      for (int k = 0; k < nodes_.input_count(g_, i); ++k)
        if (const output in = nodes_.input(g_, i, k); !is_fed(in)) from(in.index());
      for (int k = 0; k < g_.at(i).control_count; ++k) from(g_.control(g_.at(i), k));
      if (g_.at(i).op->what.control == flow::enter) {
        std::string name;
        if (const auto* a = nodes_.record(i).attributes.find("frame_name"))
          if (const auto* text = a->get_if<std::string>()) name = *text;
        const auto [entry, fresh] = known.try_emplace({own, name}, static_cast<int>(loops.size()));
        if (fresh) loops.push_back({own, places_[at(i)], i, name});
        own = entry->second;
      }
      frame[at(i)] = own;
      if (own == 0) continue;
      const loop& its = loops[at(own)];
      if (its.device != places_[at(i)])
        throw invalid_argument("the loop '" + its.name + "' lies on two devices: its node '" + nodes_.record(its.first).name + "' on " +
                               devices_[at(its.device)] + ", '" + nodes_.record(i).name + "' on " + devices_[at(places_[at(i)])] +
                               ". A loop runs on one device: make all of it within one device scope");
    }
    for (const loop& its : loops) parents_.push_back(its.parent);
  }

  // Preserves the order of accesses to variables. A part orders accesses only by paths within it, so that a path that leaves the device and
  // comes back becomes a control edge from the write to the later access. A use on another device after a write gets a value that is sent
  // after the write: in one graph a use sees what its dependencies have written, also through Identity nodes, which read when their users
  // run.
  void keep_orders() {
    std::set<int> used;
    for (int i = 0; i < g_.size(); ++i)
      if (needed_[at(i)] != 0) used.insert(places_[at(i)]);
    variable_.assign(needed_.size(), -1);
    if (used.size() < 2) return;
    std::vector<std::vector<int>> users(needed_.size());
    std::map<int, std::vector<int>> accesses;  // by variable
    struct source {
      int node;
      int variable;
    };
    std::vector<source> sources;
    for (int i = 0; i < g_.size(); ++i) {
      if (needed_[at(i)] == 0) continue;
      if (g_.at(i).op->what.makes_variable()) variable_[at(i)] = i;
      const auto references = reference_inputs(*g_.at(i).op, nodes_.input_count(g_, i));
      for (int k = 0; k < nodes_.input_count(g_, i); ++k) {
        const output in = nodes_.input(g_, i, k);
        if (is_fed(in)) continue;
        users[at(in.index())].push_back(i);
        const int its = variable_[at(in.index())];
        if (its < 0) continue;
        if (accesses[its].empty() || accesses[its].back() != i) accesses[its].push_back(i);
        const bool writes = std::find(references.begin(), references.end(), k) != references.end();
        if (writes) sources.push_back({i, its});
        if ((writes && is_reference_result(*g_.at(i).op, 0)) || is_operator<identity_op>(*g_.at(i).op)) variable_[at(i)] = its;
      }
      for (int k = 0; k < g_.at(i).control_count; ++k) users[at(g_.control(g_.at(i), k))].push_back(i);
    }
    std::vector<std::size_t> seen(needed_.size(), 0);
    std::vector<int> open;
    std::set<std::pair<int, int>> known;
    std::map<int, std::vector<int>> exits;  // by frame
    for (int i = 0; i < g_.size(); ++i)
      if (needed_[at(i)] != 0 && is_exit(i)) exits[frame_[at(i)]].push_back(i);
    for (std::size_t n = 0; n < sources.size(); ++n) {
      const auto [from, its] = sources[n];
      if (accesses[its].size() < 2) continue;
      open = {from};
      while (!open.empty()) {
        const int i = open.back();
        open.pop_back();
        for (const int user : users[at(i)]) {
          if (std::exchange(seen[at(user)], n + 1) == n + 1) continue;
          // If a write is in a branch that is not taken, or within a loop, later nodes wait for the end of the branch or loop.
          const auto goes_on_at = [&](int end) {
            if (known.emplace(end, its).second) sources.push_back({end, its});
          };
          if (g_.at(user).op->what.control == flow::next) {
            for (const int end : exits[frame_[at(user)]]) goes_on_at(end);
          } else if (ends_branch_or_loop(user)) {
            goes_on_at(user);
          } else {
            open.push_back(user);
          }
        }
      }
      // A source on another device is skipped: an edge from it would cross devices and hide the write from the part.
      if (places_[at(from)] != places_[at(its)]) continue;
      for (const int later : accesses[its]) {
        if (later == from || seen[at(later)] != n + 1) continue;
        if (places_[at(later)] != places_[at(its)]) {
          if (frame_behind(from) == 0) earlier_[{later, its}].push_back(from);
        } else if (frame_behind(from) == frame_before(later) && !is_direct(from, later)) {
          orders_[later].push_back(from);
        }
      }
    }
    for (auto& [user, before] : earlier_) std::sort(before.begin(), before.end());
  }
  bool ends_branch_or_loop(int i) const {
    if (is_exit(i)) return true;
    if (g_.at(i).op->what.control != flow::merge) return false;
    for (int k = 0; k < nodes_.input_count(g_, i); ++k)
      if (g_.at(nodes_.input(g_, i, k).index()).op->what.control == flow::next) return false;
    return true;
  }
  bool is_exit(int i) const { return g_.at(i).op->what.control == flow::exit; }
  // The frames of a node's result (`frame_behind`) and of its inputs (`frame_before`).
  int frame_behind(int i) const { return is_exit(i) ? std::max(0, parents_[at(frame_[at(i)])]) : frame_[at(i)]; }
  int frame_before(int i) const {
    return g_.at(i).op->what.control == flow::enter ? std::max(0, parents_[at(frame_[at(i)])]) : frame_[at(i)];
  }
  bool is_direct(int from, int to) const {
    for (int k = 0; k < nodes_.input_count(g_, to); ++k)
      if (nodes_.input(g_, to, k).index() == from) return true;
    for (int k = 0; k < g_.at(to).control_count; ++k)
      if (g_.control(g_.at(to), k) == from) return true;
    return false;
  }

  // Finds constants that are copied to devices with users, which costs nothing in a step. Large ones are sent, as other tensors are.
  void find_copied(const std::vector<int>& order) {
    constexpr std::int64_t most = 1 << 14;  // elements
    copied_.assign(static_cast<std::size_t>(g_.size()), copies::none);
    for (const int i : order) {
      const node& n = g_.at(i);
      if (n.op->kind == op_kind::constant && n.control_count == 0 && n.result.extent.is_static() && n.result.extent.elements() <= most)
        copied_[at(i)] = copies::only;
    }
    const auto is_used = [&](int i) {
      if (copied_[at(i)] == copies::only) copied_[at(i)] = copies::too;
    };
    for (const int i : order) {
      for (int k = 0; k < nodes_.input_count(g_, i); ++k)
        if (const int from = nodes_.input(g_, i, k).index(); places_[at(from)] == places_[at(i)]) is_used(from);
      for (int k = 0; k < g_.at(i).control_count; ++k) is_used(g_.control(g_.at(i), k));
    }
    for (const int i : request_.targets) is_used(i);
    for (const output& f : request_.fetches) is_used(f.index());
  }
  std::string copied(int i, int device) {
    std::string& name = received_[{i, 0, device, {}}];
    if (!name.empty()) return name;
    node_def def = to_node_def(g_, i);
    name = def.name = new_name(def.name + "/copy");
    def.device = devices_[at(device)];
    def.attributes.erase("_class");
    part(device).def.nodes.push_back(std::move(def));
    return name;
  }

  graph_part& part(int device) {
    int& p = part_of_[at(device)];
    if (p < 0) {
      p = static_cast<int>(made_.parts.size());
      made_.parts.emplace_back().device = device;
    }
    return made_.parts[at(p)];
  }

  void add_node(int i) {
    const int device = places_[at(i)];
    node_def def = to_node_def(g_, i);
    def.device = devices_[at(device)];
    const int inputs = nodes_.input_count(g_, i);
    for (int k = 0; k < inputs; ++k) {
      const output in = nodes_.input(g_, i, k);
      if (const int fed = is_fed(in) ? feed_of(in) : -1; fed >= 0) def.inputs[at(k)] = placeholder(device, fed);
      else if (const std::vector<int>* const before = writes_before(i, in))
        def.inputs[at(k)] = received(at_variable(in), device, i, *before);
      else if (places_[at(in.index())] != device)
        def.inputs[at(k)] = copied_[at(in.index())] != copies::none ? copied(in.index(), device) : received(in, device, i, {});
    }
    std::erase_if(def.inputs, [&](const std::string& in) {
      return in.starts_with('^') && is_fed_placeholder(nodes_.find(std::string_view(in).substr(1)));
    });
    for (std::size_t k = at(inputs); k < def.inputs.size(); ++k) {
      const int from = nodes_.find(std::string_view(def.inputs[k]).substr(1));
      if (places_[at(from)] != device) def.inputs[k] = "^" + signal(from, device);
    }
    if (const auto more = orders_.find(i); more != orders_.end())
      for (const int before : more->second) def.inputs.push_back("^" + nodes_.record(before).name);
    // Colocation groups may have members on other devices, and have no meaning in a part, where all nodes are on one device.
    def.attributes.erase("_class");
    part(device).def.nodes.push_back(std::move(def));
  }

  // A name that no node of the graph has.
  std::string new_name(const std::string& base) {
    std::string name;
    do name = base + "/_" + std::to_string(names_++);
    while (nodes_.find(name) >= 0);
    return name;
  }

  std::string placeholder(int device, int fed) {
    std::string& name = placeholders_[{device, fed}];
    if (!name.empty()) return name;
    const output& tensor = request_.feeds[at(fed)];
    name = new_name(nodes_.record(tensor.index()).name + "/fed");
    node_def def{.name = name, .op = "Placeholder", .device = devices_[at(device)]};
    def.attributes["dtype"] = base_of(to_data_type(tensor.type()));
    def.attributes["shape"] = to_proto(tensor.extent());
    graph_part& p = part(device);
    p.def.nodes.push_back(std::move(def));
    p.feeds.push_back({fed, name});
    return name;
  }

  // The writes that come before a use of a variable on another device; null if there are none.
  const std::vector<int>* writes_before(int user, const output& in) const {
    const auto found = earlier_.find({user, variable_[at(in.index())]});
    return found == earlier_.end() ? nullptr : &found->second;
  }
  // The tensor on the variable's device that an Identity on another device reads.
  output at_variable(output in) const {
    const int device = places_[at(variable_[at(in.index())])];
    while (places_[at(in.index())] != device) in = nodes_.input(g_, in.index(), 0);
    return in;
  }

  // The name of the node that receives a tensor on a device; it is sent after `writes`.
  std::string received(const output& tensor, int device, int user, const std::vector<int>& writes) {
    std::string& name = received_[{tensor.index(), tensor.port(), device, writes}];
    if (!name.empty()) return name;
    const data_type type = base_of(to_data_type(tensor.type()));
    if (type == data_type::resource)
      throw invalid_argument("the handle '" + nodes_.result_name(tensor.index(), tensor.port()) + "' is on " +
                             devices_[at(places_[at(tensor.index())])] + ", and '" + nodes_.record(user).name + "', which takes it, on " +
                             devices_[at(device)] + ": a handle cannot be sent; put both on one device");
    name = transfer(nodes_.result_name(tensor.index(), tensor.port()), tensor.index(), type, device,
                    tensor.port() == 0 ? nodes_.record(tensor.index()).name : nodes_.result_name(tensor.index(), tensor.port()), writes);
    return name;
  }
  // The name of the node that receives, on a device, the signal that the node `from` has run.
  std::string signal(int from, int device) {
    std::string& name = signals_[{from, device}];
    if (!name.empty()) return name;
    const std::string& giver = nodes_.record(from).name;
    node_def nothing{.name = new_name(giver + "/done"), .op = "Const", .inputs = {"^" + giver}, .device = devices_[at(places_[at(from)])]};
    nothing.attributes["dtype"] = data_type::uint8;
    tensor_proto none;
    none.dtype = data_type::uint8;
    none.shape = {0};
    nothing.attributes["value"] = none;
    const std::string its = nothing.name;
    part(places_[at(from)]).def.nodes.push_back(std::move(nothing));
    name = transfer("^" + giver, from, data_type::uint8, device, its);
    return name;
  }
  std::string transfer(const std::string& tensor, int from, data_type type, int device, const std::string& input,
                       const std::vector<int>& writes = {}) {
    const int giver = places_[at(from)];
    const int number = static_cast<int>(made_.edges.size());
    made_.edges.push_back({number, giver, device, tensor});
    const std::string& base = nodes_.record(from).name;
    node_def send{.name = new_name(base + "/send"), .op = "_Send", .inputs = {input}, .device = devices_[at(giver)]};
    for (const int w : writes)
      if (w != from) send.inputs.push_back("^" + nodes_.record(w).name);
    node_def receive{.name = new_name(base + "/receive"), .op = "_Recv", .device = devices_[at(device)]};
    send.attributes["T"] = type;
    receive.attributes["tensor_type"] = type;
    for (node_def* n : {&send, &receive}) {
      n->attributes["tensor_name"] = "edge_" + std::to_string(number) + "_" + base;
      n->attributes["send_device"] = devices_[at(giver)];
      n->attributes["send_device_incarnation"] = std::int64_t{0};
      n->attributes["recv_device"] = devices_[at(device)];
      n->attributes["client_terminated"] = false;
      n->attributes["_edge"] = std::int64_t{number};
      n->attributes["_may_be_dead"] = has_branches_;
    }
    graph_part& p = part(giver);
    p.targets.push_back(send.name);
    p.sends.push_back(number);
    p.def.nodes.push_back(std::move(send));
    graph_part& taker = part(device);
    taker.receives.push_back(number);
    std::string name = receive.name;
    taker.def.nodes.push_back(std::move(receive));
    return name;
  }

  graph& g_;
  named_part& nodes_;
  const partition_request& request_;
  std::span<const int> places_;
  std::span<const std::string> devices_;
  std::vector<char> needed_;
  std::unordered_map<int, bool> fed_;  // nodes with a fed result
  enum class copies : char { none, too, only };
  std::vector<copies> copied_;  // by constant: whether users on other devices get copies, and whether there are no other users
  bool has_branches_ = false;
  int names_ = 0;
  partitioned_graph made_;
  std::vector<int> frame_, parents_;                         // frame of each node; enclosing frame of each frame
  std::vector<int> variable_;                                // the variable that a node is or refers to, also through Identity nodes
  std::map<int, std::vector<int>> orders_;                   // earlier writes for which a node must wait
  std::map<std::pair<int, int>, std::vector<int>> earlier_;  // by user and variable: earlier writes, for a use on another device
  std::vector<int> part_of_;                                 // by device
  std::map<std::pair<int, int>, std::string> placeholders_;
  std::map<std::tuple<int, int, int, std::vector<int>>, std::string> received_;
  std::map<std::pair<int, int>, std::string> signals_;
};

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION partitioned_graph partition(graph& g, const partition_request& request, std::span<const int> places,
                                          std::span<const std::string> devices) {
  if (places.size() != static_cast<std::size_t>(g.size())) throw invalid_argument("partition: a device for each node");
  for (const int p : places)
    if (p < 0 || static_cast<std::size_t>(p) >= devices.size()) throw invalid_argument("partition: a device that there is not");
  return detail::partitioner(g, request, places, devices).run();
}

}  // namespace leat
