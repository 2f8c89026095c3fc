#pragma once
// Plans a run for given fetches and feeds: the needed nodes, their order, the edges between them and, for loops, the frame of each node. A
// plan is made once per signature and kept by the session.
//
// Order. Independent nodes run in the order of creation, but writes of variables come after the nodes that are ready and do not write, and
// nodes that may block come last. A node that uses a variable and does not depend on a write to it reads the value from the start of the
// run; one that depends on a write reads the value at the time it runs, wherever the reading node was created. Two unordered writes to one
// variable are refused. If several threads run a plan without control flow, nodes that touch the same variable keep this order (`then`), so
// results are the same for any number of threads.

#include <leat/runtime/kernels/complex_twins.hpp>
#include <leat/runtime/kernels/narrow.hpp>
#include <leat/runtime/kernels/node_program.hpp>
#include <leat/runtime/plan/plan_order.hpp>

#include <algorithm>
#include <set>
#include <unordered_map>

namespace leat::runtime {

class run_planner {
 public:
  /// `kernels` returns the session's kernel node for a node of the graph.
  template <class Kernels>
  run_planner(graph& g, Kernels kernels) : g_(g), nodes_(g.named()), kernel_of_(std::move(kernels)) {}

  run_plan make(std::span<const output> fetches, std::span<const int> targets, std::span<const output> feeds) {
    feeds_ = feeds;
    collect(fetches, targets);
    connect();
    for (const output& f : fetches) plan_.fetches.push_back(source_of(f));
    for (std::size_t k = 0; k < feeds.size(); ++k) {
      const auto at = feed_nodes_.find(key(feeds[k]));
      plan_.feeds.push_back(at == feed_nodes_.end() ? -1 : at->second);
    }
    plan_.enter_fetches();
    find_writers();
    if (plan_.has_control_flow) {
      find_frames();
    } else {
      find_order(plan_);
      keep_order_of_ordered();
      check_writes();
      find_last_uses(plan_);
    }
    find_reads();
    if (!plan_.has_control_flow) {
      keep_order_of_touches();
      find_overlaps(plan_);
    }
    return std::move(plan_);
  }

  /// Checks that a run can execute a node, as far as this follows from its operator and the dtypes of its results.
  /// Errors, which name the node: unimplemented if there is no kernel, and for dtypes that no array has.
  void check(int index) { static_cast<void>(kernel_for(index, *kernel_of_(index))); }

 private:
  using tensor_key = std::pair<int, int>;
  static tensor_key key(const output& o) { return {o.index(), o.port()}; }
  bool is_fed(const output& o) const { return has_fed_[static_cast<std::size_t>(o.index())] != 0 && feed_nodes_.contains(key(o)); }
  plan_node& at(int i) { return plan_.nodes[static_cast<std::size_t>(i)]; }

  int inputs_of(int index) const { return nodes_.input_count(g_, index); }

  void collect(std::span<const output> fetches, std::span<const int> targets) {
    std::vector<int> open;
    const auto size = static_cast<std::size_t>(g_.size());
    place_.assign(size, -1);
    has_fed_.assign(size, 0);
    for (const output& f : feeds_) {
      has_fed_[static_cast<std::size_t>(f.index())] = 1;
      if (!feed_nodes_.emplace(key(f), static_cast<int>(feed_nodes_.size())).second)
        throw invalid_argument("The tensor '" + f.name() + "' is fed twice");
    }
    std::size_t needed = feeds_.size();
    const auto want = [&](int index) {
      if (place_[static_cast<std::size_t>(index)] != -1) return;
      place_[static_cast<std::size_t>(index)] = -2;
      open.push_back(index);
      ++needed;
    };
    for (const output& f : fetches)
      if (!is_fed(f)) want(f.index());
    for (int t : targets) want(t);
    while (!open.empty()) {
      const int index = open.back();
      open.pop_back();
      for (int k = 0, inputs = inputs_of(index); k < inputs; ++k)
        if (const output in = nodes_.input(g_, index, k); !is_fed(in)) want(in.index());
      const node& row = g_.at(index);
      for (int k = 0; k < row.control_count; ++k) {
        const int from = g_.control(row, k);
        // A fed placeholder waits for nothing.
        if (g_.at(from).op->kind == op_kind::placeholder && is_fed(output(g_, from))) continue;
        want(from);
      }
    }
    // Feeds first, then the nodes in order of creation.
    plan_.nodes.reserve(needed);
    for (const output& f : feeds_) {
      plan_node& n = plan_.nodes.emplace_back();
      n.kind = flow::feed;
      n.fed = f.type();
      n.results = 1;
    }
    for (int i = 0; i < g_.size(); ++i) {
      int& place = place_[static_cast<std::size_t>(i)];
      if (place != -2) continue;
      place = static_cast<int>(plan_.nodes.size());
      plan_node& n = plan_.nodes.emplace_back();
      n.node = kernel_of_(i);
      const op_info& op = *g_.at(i).op;
      const operator_run& how = run_of(op);
      n.run = kernel_for(i, *n.node);
      n.kind = op.what.control;
      n.waits = op.what.waits;
      n.work = op.what.work;
      n.is_constant = op.kind == op_kind::constant;
      n.writes = !op.what.written.among(inputs_of(i)).empty();
      n.constant_enter = n.kind == flow::enter && n.node->flag("is_constant");
      const node_record& record = nodes_.record(i);
      n.results = record.results;
      if (how.has_own_kernel || n.run != how.run) {
        const auto further = record.further();
        for (int k = 0; k < n.results; ++k) {
          const auto at = static_cast<std::size_t>(k);
          n.result_types.push_back(k == 0 ? g_.at(i).result.type : at <= further.size() ? further[at - 1].type : dtype::invalid);
        }
      }
      plan_.has_control_flow = plan_.has_control_flow || n.kind != flow::plain;
      plan_.has_effects = plan_.has_effects || (!n.writes && op.what.acts());
      if (op.what.state == state_role::is_initialized) asks_for_values_.push_back(place);
      has_ordered_ = has_ordered_ || op.what.ordered;
    }
  }

  // How the nodes of an operator run; looked up by the operator's name once.
  struct operator_run {
    const operator_kernel* run = nullptr;  // null if there is no kernel
    bool has_own_kernel = false;
  };
  const operator_run& run_of(const op_info& op) {
    if (last_run_.first == &op) return *last_run_.second;
    const auto [at, fresh] = runs_.try_emplace(&op);
    operator_run& f = at->second;
    last_run_ = {&op, &f};
    if (!fresh) return f;
    f.run = find_kernel(op.type);
    f.has_own_kernel = f.run != nullptr;
    static const operator_kernel definition = run_definition;
    const bool is_defined = op.infer != nullptr ? op.kind != op_kind::variable && op.kind != op_kind::assign && op.kind != op_kind::group
                                                : leat::detail::is_rewritten(op.type);
    if (f.run == nullptr && is_defined) f.run = &definition;
    return f;
  }
  // The function that runs a node. Errors: see `check`.
  const operator_kernel* kernel_for(int index, const kernel_node& n) {
    if (!nodes_.refusals.empty())
      if (const auto at = nodes_.refusals.find(index); at != nodes_.refusals.end()) std::rethrow_exception(at->second);
    const op_info& op = *g_.at(index).op;
    const operator_run& how = run_of(op);
    if (how.run == nullptr)
      throw unimplemented("No kernel for the operator '" + std::string(op.type) + "'" + std::string(remedy_of(op.type)) + node_text(n));
    const auto check_type = [&](dtype type) {
      if (!is_carried_only(type)) return;
      throw unimplemented(
          "no kernel for dtype " + dtype_name(type) +
          ": runs compute with real and complex numbers, integers and bool; fetch what does not need this node, or convert the "
          "graph" +
          node_text(n));
    };
    const node_record& record = nodes_.record(index);
    const dtype first = g_.at(index).result.type;
    check_type(first);
    for (const tensor_info& more : record.further()) check_type(more.type);
    const auto gives = [&](int k) { return k == 0 ? first : record.further()[static_cast<std::size_t>(k - 1)].type; };
    const auto takes = [&](int k) { return nodes_.input(g_, index, k).type(); };
    const int results = 1 + static_cast<int>(record.further().size());
    switch (narrow_way_of(op, record.attributes, results, gives, inputs_of(index), takes)) {
      case narrow_way::none: return how.run;
      case narrow_way::bits: plan_.has_narrow = true; return how.run;
      case narrow_way::twin: plan_.has_narrow = true; return &kernel_of_twin<narrow::run_as_twin<narrow::widening>>();
      case narrow_way::complex_own: plan_.has_narrow = true; return find_complex_kernel(op.type);
      case narrow_way::complex_bits: plan_.has_narrow = true; return &kernel_of_twin<run_by_bits>();
      case narrow_way::complex_parts: plan_.has_narrow = true; return &kernel_of_twin<run_by_parts>();
      case narrow_way::refused: break;
    }
    for (int k = 0; k < results + inputs_of(index); ++k)
      if (const dtype type = k < results ? gives(k) : takes(k - results); is_complex(type))
        throw unimplemented("no kernel of " + std::string(op.type) + " for dtype " + dtype_name(type) + node_text(n));
    throw unimplemented("no kernel of " + std::string(op.type) + " for its dtypes; cast to a wider one" + node_text(n));
  }
  template <void (*Run)(kernel_context&)>
  static const operator_kernel& kernel_of_twin() {
    static const operator_kernel kernel = Run;
    return kernel;
  }
  // Advice for operators that have no kernel for a reason of their own.
  static std::string_view remedy_of(std::string_view type) {
    constexpr std::string_view functions =
        ": what it computes stands in functions, as TensorFlow 2 saves models; freeze the model there "
        "(convert_variables_to_constants_v2), or save it by tf.compat.v1";
    constexpr std::string_view savers = ": include <leat/checkpoint.hpp>, and name session_options::file_root";
    constexpr std::string_view records = ": include <leat/data/kernels.hpp>";
    constexpr std::pair<std::string_view, std::string_view> remedies[]{{"StatefulPartitionedCall", functions},
                                                                       {"PartitionedCall", functions},
                                                                       {"SaveV2", savers},
                                                                       {"RestoreV2", savers},
                                                                       {"MergeV2Checkpoints", savers},
                                                                       {"ParseExample", records},
                                                                       {"ParseExampleV2", records},
                                                                       {"ParseSingleExample", records},
                                                                       {"TextLineReaderV2", records},
                                                                       {"TFRecordReaderV2", records},
                                                                       {"WholeFileReaderV2", records},
                                                                       {"IdentityReaderV2", records},
                                                                       {"ReadFile", records},
                                                                       {"WriteFile", records},
                                                                       {"MatchingFiles", records},
                                                                       {"InitializeTableFromTextFileV2", records},
                                                                       {"DecodePng", records},
                                                                       {"DecodeBmp", records},
                                                                       {"DecodeGif", records},
                                                                       {"DecodeJpeg", records},
                                                                       {"DecodeImage", records},
                                                                       {"EncodePng", records},
                                                                       {"EncodeJpeg", records}};
    for (const auto& [of, remedy] : remedies)
      if (of == type) return remedy;
    return {};
  }

  plan_source source_of(const output& o) const {
    if (has_fed_[static_cast<std::size_t>(o.index())] != 0)
      if (const auto fed = feed_nodes_.find(key(o)); fed != feed_nodes_.end()) return {fed->second, 0};
    return {place_[static_cast<std::size_t>(o.index())], o.port()};
  }

  void connect() {
    for (int i = 0; i < g_.size(); ++i) {
      const int p = place_[static_cast<std::size_t>(i)];
      if (p < 0) continue;
      for (int k = 0, inputs = inputs_of(i); k < inputs; ++k) {
        const plan_source from = source_of(nodes_.input(g_, i, k));
        at(p).inputs.push_back({from});
        at(from.node).out.push_back({from.port, p, k});
      }
      const node& row = g_.at(i);
      for (int k = 0; k < row.control_count; ++k) {
        const int from = place_[static_cast<std::size_t>(g_.control(row, k))];
        if (from < 0) continue;
        at(p).controls.push_back(from);
        at(from).out.push_back({-1, p, 0});
      }
    }
    for (auto& n : plan_.nodes) {
      n.first_result = plan_.results;
      plan_.results += n.results;
    }
  }

  // The variable that an input refers to, or -1. Memoized for all nodes on the path, so that long paths are walked once.
  int variable_behind(plan_source s) {
    variables_behind_.resize(plan_.nodes.size(), not_known);
    std::vector<int> way;
    int found = -1;
    while (true) {
      const plan_node& n = at(s.node);
      if (n.node == nullptr) break;
      if (found = variables_behind_[static_cast<std::size_t>(s.node)]; found != not_known) break;
      found = -1;
      way.push_back(s.node);
      if (way.size() > plan_.nodes.size()) break;  // a cycle of references has no variable
      const op_info& op = op_of(n);
      if (op.what.makes_variable()) {
        found = s.node;
        break;
      }
      if (!op.what.forwards_reference && written_by(n).empty()) break;
      s = n.inputs[0];
    }
    for (const int node : way) variables_behind_[static_cast<std::size_t>(node)] = found;
    return found;
  }
  // The source of an input, skipping the Identity nodes on its path.
  plan_source before_identities(plan_source s) {
    identities_of_.resize(plan_.nodes.size(), {not_known, 0});
    std::vector<int> way;
    while (at(s.node).node != nullptr && is_operator<identity_op>(op_of(at(s.node)))) {
      if (const plan_source known = identities_of_[static_cast<std::size_t>(s.node)]; known.node != not_known) {
        s = known;
        break;
      }
      way.push_back(s.node);
      s = at(s.node).inputs[0];
    }
    for (const int node : way) identities_of_[static_cast<std::size_t>(node)] = s;
    return s;
  }
  const op_info& op_of(const plan_node& n) const { return *g_.at(n.node->index).op; }
  input_set written_by(const plan_node& n) const { return op_of(n).what.written.among(static_cast<int>(n.inputs.size())); }
  void find_writers() {
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      const plan_node& n = plan_.nodes[i];
      if (!n.writes) continue;
      for (int k : written_by(n))
        if (const int v = variable_behind(n.inputs[static_cast<std::size_t>(k)]); v >= 0) writers_[v].push_back(static_cast<int>(i));
    }
  }

  // Sets `mark` for all nodes that depend on a node.
  void mark_users(int node, std::vector<int>& marks, int mark) const {
    std::vector<int> open{node};
    while (!open.empty()) {
      const plan_node& n = plan_.nodes[static_cast<std::size_t>(open.back())];
      open.pop_back();
      for (const plan_edge& e : n.out)
        if (std::exchange(marks[static_cast<std::size_t>(e.node)], mark) != mark) open.push_back(e.node);
    }
  }
  // Decides for each use of a written variable which of its values the use sees.
  void find_reads() {
    for (plan_node& n : plan_.nodes)
      if (n.writes)
        for (int k : written_by(n)) n.inputs[static_cast<std::size_t>(k)].late = true;
    for (const int i : asks_for_values_) at(i).inputs[0].late = true;
    if (writers_.empty()) return;
    std::vector<int> marks(plan_.nodes.size(), 0);
    std::vector<int> after(plan_.nodes.size(), 0);
    int mark = 0, round = 0;
    const auto is_marked = [&](int node) { return marks[static_cast<std::size_t>(node)] == mark; };
    for (const auto& [variable, these] : writers_) {
      ++mark;
      for (int w : these) mark_users(w, marks, mark);
      plan_node& v = at(variable);
      v.snapshot = see(variable, is_marked) || !plan_.fetches_of[static_cast<std::size_t>(variable)].empty();
      if (these.size() == 1) continue;
      if (chains_.contains(variable)) {
        see_writes_of_chain(these);
        continue;
      }
      for (int w : these) {  // the result of a write, used while another write follows
        if (is_unused(w)) continue;
        mark_users(w, after, ++round);
        ++mark;
        bool any = false;
        for (int other : these)
          if (after[static_cast<std::size_t>(other)] == round) {
            mark_users(other, marks, mark);
            any = true;
          }
        if (any) at(w).snapshot = see(w, is_marked);
      }
    }
  }
  // Whether no node uses a result of this one; others may still have it as a control input.
  bool is_unused(int node) {
    return std::all_of(at(node).out.begin(), at(node).out.end(), [](const plan_edge& e) { return e.port < 0; });
  }
  // Decides the same for the results of writes that form a chain, each depending on the previous one: a use follows a write if it depends
  // on the next one.
  void see_writes_of_chain(const std::vector<int>& writes) {
    if (std::all_of(writes.begin(), writes.end(), [&](int w) { return is_unused(w); })) return;
    std::vector<int> before(plan_.nodes.size(), 0);  // number of the writes that each node depends on
    std::vector<char> is_write(plan_.nodes.size(), 0);
    for (const int w : writes) is_write[static_cast<std::size_t>(w)] = 1;
    for (int i = writes.front(); i < static_cast<int>(plan_.nodes.size()); ++i) {
      int& most = before[static_cast<std::size_t>(i)];
      const auto follow = [&](int node) {
        const auto from = static_cast<std::size_t>(node);
        most = std::max(most, before[from] + is_write[from]);
      };
      for (const plan_source& s : at(i).inputs) follow(s.node);
      for (const int c : at(i).controls) follow(c);
    }
    for (int k = 0; k + 1 < static_cast<int>(writes.size()); ++k) {
      const int w = writes[static_cast<std::size_t>(k)];
      at(w).snapshot = see(w, [&](int node) { return before[static_cast<std::size_t>(node)] > k + 1; });
    }
  }
  // Marks each use of a node's result, including uses through reads, as late or not; returns whether some are not late.
  template <class IsLate>
  bool see(int source, IsLate is_late) {
    bool early = false;
    std::vector<int> open{source};
    while (!open.empty()) {
      const int node = open.back();
      open.pop_back();
      for (const plan_edge& e : at(node).out) {
        if (e.port < 0) continue;
        plan_node& user = at(e.node);
        const auto k = static_cast<std::size_t>(e.input);
        if (user.inputs[k].late) continue;
        const bool is_marked = is_late(e.node);
        if (is_operator<identity_op>(op_of(user)) || op_of(user).what.forwards_reference) {
          open.push_back(e.node);
          early = early || !plan_.fetches_of[static_cast<std::size_t>(e.node)].empty();
        } else {
          early = early || !is_marked;
        }
        if (is_marked) user.inputs[k].late = true;
      }
    }
    return early;
  }
  void check_writes() {
    if (writers_.empty()) return;
    std::vector<int> met(plan_.nodes.size(), 0);
    int search = 0;
    for (const auto& [variable, these] : writers_) {
      // The order of additions does not matter if the intermediate value is never read.
      const auto is_unseen_sum = [&](int index) {
        return op_of(at(index)).what.adds && plan_.fetches_of[static_cast<std::size_t>(index)].empty() && is_unused(index);
      };
      if (std::all_of(these.begin(), these.end(), is_unseen_sum)) continue;
      bool is_chain = true;  // each write so far depends on the previous one, hence on all
      for (std::size_t j = 1; j < these.size(); ++j) {
        if (is_chain && these[j] != these[j - 1] && depends(these[j], these[j - 1], met, ++search)) continue;
        is_chain = false;
        std::vector<bool> before(plan_.nodes.size(), false);
        std::vector<int> open{these[j]};
        while (!open.empty()) {
          const plan_node& n = at(open.back());
          open.pop_back();
          const auto visit = [&](int from) {
            if (!before[static_cast<std::size_t>(from)]) open.push_back(from);
            before[static_cast<std::size_t>(from)] = true;
          };
          for (const auto& s : n.inputs) visit(s.node);
          for (int c : n.controls) visit(c);
        }
        for (std::size_t i = 0; i < j; ++i) {
          if (before[static_cast<std::size_t>(these[i])] || these[i] == these[j]) continue;
          const plan_node &a = at(these[i]), &b = at(these[j]);
          if (is_unseen_sum(these[i]) && is_unseen_sum(these[j])) continue;
          throw invalid_argument("two writes to variable '" + at(variable).node->name() +
                                 "' in one step without an order; order them with control_dependencies" + node_text(*a.node) +
                                 node_text(*b.node));
        }
      }
      if (is_chain) chains_.insert(variable);
    }
  }
  // Whether a node depends on an earlier one. `met` holds for each node the number of the last search that visited it. Only without control
  // flow.
  bool depends(int node, int on, std::vector<int>& met, int search) {
    std::vector<int> open{node};
    while (!open.empty() && open.back() != on) {
      const plan_node& n = at(open.back());
      open.pop_back();
      const auto meet = [&](int from) {
        if (from >= on && std::exchange(met[static_cast<std::size_t>(from)], search) != search) open.push_back(from);
      };
      for (const auto& s : n.inputs) meet(s.node);
      for (const int c : n.controls) meet(c);
    }
    return !open.empty();
  }

  // The storage name of the variable that an input still refers to when its node runs; empty if there is none.
  std::string touched(const plan_node& n, std::size_t input) {
    const int v = variable_behind(before_identities(n.inputs[input]));
    if (v < 0) return {};
    const kernel_node& variable = *at(v).node;
    const std::string shared = variable.text("shared_name");
    return variable.text("container") + "/" + (shared.empty() ? variable.name() : shared);
  }
  void hold(int first, int second) {
    if (first < 0 || first == second) return;
    at(first).then.push_back(second);
    ++at(second).held_by;
  }
  void keep_order_of_ordered() {
    if (!has_ordered_) return;
    int last = -1;
    for (int i : plan_.order)
      if (at(i).node != nullptr && op_of(at(i)).what.ordered) hold(std::exchange(last, i), i);
  }
  // Keeps the nodes that write a variable, or read it when they run, in the order of a single-threaded run. Nodes that depend on a node
  // that may block are left out, because that node may wait for a node that comes later.
  void keep_order_of_touches() {
    struct touches {
      int write = -1;
      std::vector<int> reads;
    };
    std::map<std::string, touches> last;
    if (writers_.empty()) return;
    std::vector<int> has_waited(plan_.nodes.size(), 0);
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i)
      if (plan_.nodes[i].waits) {
        has_waited[i] = 1;
        mark_users(static_cast<int>(i), has_waited, 1);
      }
    for (int i : plan_.order) {
      plan_node& n = at(i);
      if (n.node == nullptr || has_waited[static_cast<std::size_t>(i)] != 0) continue;
      const input_set written = written_by(n);
      for (std::size_t k = 0; k < n.inputs.size(); ++k) {
        if (!n.inputs[k].late) continue;
        const std::string name = touched(n, k);
        if (name.empty()) continue;
        touches& t = last[name];
        if (!written.contains(k)) {
          hold(t.write, i);
          t.reads.push_back(i);
        } else {
          if (t.reads.empty()) hold(t.write, i);
          for (int r : t.reads) hold(r, i);
          t = {i, {}};
        }
      }
    }
  }

  void find_frames() {
    plan_.frames.push_back({});
    std::map<std::pair<int, std::string>, int> known;
    const auto frame_behind = [&](const plan_node& source) {
      if (source.kind == flow::enter) return source.child;
      return source.kind == flow::exit ? plan_.frames[static_cast<std::size_t>(source.frame)].parent : source.frame;
    };
    const auto refuse = [&](const plan_node& n, int frame, int other, const plan_node* first, const plan_node& second) {
      const auto name = [&](int f) { return plan_.frames[static_cast<std::size_t>(f)].name; };
      throw invalid_argument("has inputs from different frames: one is in frame '" + name(frame) + "', another in frame '" + name(other) +
                             "'" + node_text(*n.node) + (first != nullptr && first->node != nullptr ? node_text(*first->node) : "") +
                             (second.node != nullptr ? node_text(*second.node) : ""));
    };
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i) {
      plan_node& n = plan_.nodes[i];
      int frame = -1;
      int first = -1;
      const auto meet = [&](int from) {
        if (from >= static_cast<int>(i)) return;  // a loop's back edge
        const int its = frame_behind(at(from));
        if (frame < 0) {
          frame = its;
          first = from;
        } else if (frame != its) {
          refuse(n, frame, its, &at(first), at(from));
        }
      };
      for (const auto& s : n.inputs) meet(s.node);
      for (int c : n.controls) meet(c);
      n.frame = std::max(frame, 0);
      if (n.kind == flow::exit && n.frame == 0) throw invalid_argument("an Exit outside of any loop" + node_text(*n.node));
      if (n.kind == flow::enter) {
        const std::string name = n.node->text("frame_name");
        const auto [at, fresh] = known.try_emplace({n.frame, name}, static_cast<int>(plan_.frames.size()));
        const auto parallel = std::clamp<std::int64_t>(n.node->integer("parallel_iterations", 10), 1, 1 << 20);
        if (fresh) plan_.frames.push_back({name, n.frame, 0, 0, 0, static_cast<int>(parallel)});
        n.child = at->second;
        ++plan_.frames[static_cast<std::size_t>(n.child)].enters;
      }
    }
    for (std::size_t i = 0; i < plan_.nodes.size(); ++i)  // back edges: only now is the frame of their source known
      for (const auto& s : plan_.nodes[i].inputs)
        if (s.node >= static_cast<int>(i) && frame_behind(at(s.node)) != plan_.nodes[i].frame)
          refuse(plan_.nodes[i], plan_.nodes[i].frame, frame_behind(at(s.node)), nullptr, at(s.node));
    number_places(plan_);
  }

  graph& g_;
  named_part& nodes_;
  std::function<kernel_node*(int)> kernel_of_;
  std::span<const output> feeds_;
  std::vector<int> place_;
  std::vector<char> has_fed_;  // indexed by node of the graph: whether one of its results is fed
  std::unordered_map<const op_info*, operator_run> runs_;
  std::pair<const op_info*, const operator_run*> last_run_{};
  std::vector<int> asks_for_values_;
  bool has_ordered_ = false;
  std::map<tensor_key, int> feed_nodes_;
  std::map<int, std::vector<int>> writers_;  // indexed by variable
  static constexpr int not_known = -2;
  std::set<int> chains_;               // variables whose writes form a chain of dependencies
  std::vector<int> variables_behind_;  // indexed by node
  std::vector<plan_source> identities_of_;
  run_plan plan_;
};

}  // namespace leat::runtime
