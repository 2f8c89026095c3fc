// Checkpoints that the tasks of a cluster write themselves, each its own variables.

#include <leat/checkpoint.hpp>
#include <leat/cluster.hpp>
#include <leat/cluster/shard_message.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/graphs.hpp>

#include "cluster/support/free_address.hpp"
#include "cluster/support/local_network.hpp"
#include "support/messages.hpp"
#include "support/processes.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <optional>
#include <set>

using namespace leat;
using namespace leat_test;
namespace files = std::filesystem;

namespace {

// Variables on two tasks, of several dtypes, and a table in slices on both.
struct two_task_model {
  graph g;
  output a, b, names, count;
  std::optional<partitioned_variable> table;
  graph_operation init, next;
  explicit two_task_model(int slices = 3, const std::string& kept_in = {}, bool is_on_cluster = true) {
    const auto here = g.as_default();
    const container apart(kept_in);
    const auto at = [&](int task) { return is_on_cluster ? "/job:ps/task:" + std::to_string(task) : std::string(); };
    {
      const device d(at(0));
      a = variable(std::vector<float>{1, 2, 3}, "a");
      count = variable(std::int64_t{7}, "count");
    }
    {
      const device d(at(1));
      b = variable(std::vector<double>{0.5, 1.5}, "b");
      names = variable(constant(tensor_literal(data_type::string, shape{1, {3}}, {"x", "", "long name"})), "names");
    }
    {
      std::optional<device> d;
      if (is_on_cluster) d.emplace(replica_device_setter({.ps_tasks = 2, .worker_device = "/job:ps/task:0"}));
      std::vector<float> first(7 * 3);
      std::iota(first.begin(), first.end(), 0.0f);
      table = get_variable(
          "table", {.initializer = operand_value(tensor_literal(shape_value{7, 3}, first)), .partitioner = fixed_size_partitioner(slices)});
    }
    init = global_variables_initializer();
    next = assign_add(a, constant(tensor_literal(shape_value{3}, std::vector<float>{1, 1, 1}))).operation();
  }
};

std::set<std::string> names_in(const files::path& folder) {
  std::set<std::string> names;
  for (const auto& entry : files::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}
std::size_t count_in(const files::path& folder, std::string_view ending) {
  const auto names = names_in(folder);
  return static_cast<std::size_t>(std::count_if(names.begin(), names.end(), [&](const auto& n) { return n.ends_with(ending); }));
}

std::vector<float> table_of(const checkpoint_reader& r) { return r.value("table").as<std::vector<float>>(); }

}  // namespace

TEST_CASE("each task writes its own; the checkpoint is one") {
  for (const bool over_network : {false, true}) {
    CAPTURE(over_network);
    const scratch_folder folder("sharded");
    const cluster_spec c{{"ps", {free_address(), free_address()}}};
    const server first(c, {.job_name = "ps", .task_index = 0, .use_shared_memory = !over_network});
    const server second(c, {.job_name = "ps", .task_index = 1, .use_shared_memory = !over_network});
    const std::string address = c.task_address("ps", 0);
    two_task_model m;
    graph_session s(m.g, {.target = over_network ? "tcp://127.0.0.1" + address.substr(address.find(':')) : first.target(),
                          .operation_timeout_in_ms = 10'000});
    s.run(m.init);
    saver save({.max_to_keep = 2, .sharded = true});
    saver whole;
    const std::string path = save(s, (folder.path / "model").string(), 1);
    CHECK(count_in(folder.path, ".safetensors") == 2);
    CHECK(count_in(folder.path, ".part") == 0);
    const std::string other = whole(s, (folder.path / "whole").string(), 1, {.write_state = false});

    const checkpoint_reader sharded(path), plain(other);
    CHECK(sharded.names() == plain.names());
    CHECK(sharded.manifest().more_files.size() == 1);
    CHECK(sharded.manifest().tensors.at("table").parts.size() == 3);
    CHECK(sharded.value("names").as<std::vector<std::string>>() == std::vector<std::string>{"x", "", "long name"});
    CHECK(sharded.value("b").as<std::vector<double>>() == std::vector<double>{0.5, 1.5});
    CHECK(sharded.value("count").as<std::int64_t>() == 7);
    CHECK(sharded.mapped("a").as<std::vector<float>>() == std::vector<float>{1, 2, 3});
    std::vector<float> first_table(7 * 3);
    std::iota(first_table.begin(), first_table.end(), 0.0f);
    CHECK(table_of(sharded) == first_table);
    CHECK(table_of(plain) == first_table);

    // Older ones go, with all of their files; saving anew under one name replaces both.
    s.run(m.next);
    save(s, (folder.path / "model").string(), 2);
    save(s, (folder.path / "model").string(), 2);
    s.run(m.next);
    const std::string last = save(s, (folder.path / "model").string(), 3);
    CHECK(save.last_checkpoints().size() == 2);
    CHECK(count_in(folder.path, ".safetensors") == 2 * 2 + 1);
    CHECK_FALSE(checkpoint_exists(path));
    CHECK(latest_checkpoint(folder.path.string()).str() == last);

    // Into the same, and into a session in this process with other slices.
    s.run(m.init);
    CHECK(save.restore(s, last).restored.size() == 5);
    CHECK(s.value(m.a).as<std::vector<float>>() == std::vector<float>{3, 4, 5});
    two_task_model here(2, "", false);
    graph_session alone(here.g);
    saver load(here.g, {.sharded = true});
    load.restore(alone, last);
    CHECK(alone.value(here.a).as<std::vector<float>>() == std::vector<float>{3, 4, 5});
    CHECK(alone.run(here.table->as_tensor()).as<std::vector<float>>() == first_table);
    // Without tasks it saves as otherwise.
    load.save(alone, (folder.path / "alone").string());
    CHECK(checkpoint_reader((folder.path / "alone").string()).manifest().more_files.empty());

    // A file of one task is altered, then gone.
    const checkpoint_reader now(last);
    const auto shard = folder.path / now.manifest().more_files[0].name;
    const auto size = files::file_size(shard);
    {
      std::fstream f(shard, std::ios::in | std::ios::out | std::ios::binary);
      f.seekp(-1, std::ios::end);
      f.put('\x55');
    }
    CHECK_THROWS_AS(save.restore(s, last), data_loss);
    files::resize_file(shard, size - 1);
    CHECK(says(message_of<data_loss>([&] { checkpoint_reader again(last); }), shard.filename().string(), "cut off"));
    files::remove(shard);
    CHECK(says(message_of<data_loss>([&] { checkpoint_reader again(last); }), shard.filename().string()));
  }
}

TEST_CASE("a task that cannot write is named, and the last checkpoint is as it was") {
  const scratch_folder folder("sharded_faults");
  local_cluster c({{"ps", 2}});
  two_task_model m;
  for (int k = 0; k < 2; ++k) {
    graph_session s(m.g, {.target = local_cluster::target(0), .operation_timeout_in_ms = 5'000});
    const std::string prefix = (folder.path / ("model" + std::to_string(k))).string();
    saver save({.sharded = true});
    CHECK(says(message_of<failed_precondition>([&] {
                 graph_session t(m.g, {.target = local_cluster::target(0)});
                 t.reset();
                 save(t, prefix);
               }),
               "without a value"));
    c.sessions = k;
    s.run(m.init);
    const std::string good = save(s, prefix, 1);
    s.run(m.next);
    const auto before = names_in(folder.path);
    const auto unchanged = [&] {
      CHECK(names_in(folder.path) == before);
      CHECK(latest_checkpoint(folder.path.string()).str() == good);
      CHECK(checkpoint_reader(good).value("a").as<std::vector<float>>() == std::vector<float>{1, 2, 3});
    };
    constexpr const char* second = "/job:ps/replica:0/task:1/device:CPU:0";
    using cluster::method;

    // It has another folder under the path.
    c.network->on_call = [](int task, method what, transport::message& asked) {
      if (task != 1 || what != method::write_shard) return;
      auto json = nlohmann::json::parse(asked.parts[0].text());
      json["path"] = "/elsewhere" + json["path"].get<std::string>();
      asked.parts[0] = transport::frame::of(json.dump());
    };
    CHECK(says(message_of<not_found>([&] { save(s, prefix, 2); }), second, "does not see the file", "under the client's path"));
    unchanged();
    // It is asked for a file that is none of a save.
    c.network->on_call = [&](int task, method what, transport::message& asked) {
      if (task != 1 || what != method::write_shard) return;
      auto json = nlohmann::json::parse(asked.parts[0].text());
      json["path"] = (folder.path / "checkpoint").string();
      asked.parts[0] = transport::frame::of(json.dump());
    };
    CHECK(says(message_of<failed_precondition>([&] { save(s, prefix, 2); }), second, "no temporary file"));
    unchanged();
    c.network->on_call = nullptr;
    // It says that it has written what is not there.
    c.network->on_answer = [](int task, method what, transport::message& answer) {
      if (task != 1 || what != method::write_shard) return;
      auto written = cluster::written_shards_in(answer.parts[0].text());
      ++written[0].bytes;
      answer.parts[0] = transport::frame::of(cluster::json_of(written));
    };
    CHECK(says(message_of<data_loss>([&] { save(s, prefix, 2); }), second, "is its folder that of this process?"));
    unchanged();
    c.network->on_answer = [](int task, method what, transport::message& answer) {
      if (task == 1 && what == method::write_shard) answer.parts[0] = transport::frame::copy_of(std::string_view("nonsense"));
    };
    CHECK_THROWS_AS(save(s, prefix, 2), data_loss);
    unchanged();
    c.network->on_answer = nullptr;
    // It cannot be reached.
    c.network->is_cut[1] = true;
    CHECK_THROWS_AS(save(s, prefix, 2), unavailable);
    unchanged();
    c.network->is_cut[1] = false;
    // Its disk is full: no file may be longer than 100 bytes.
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{};
    ::getrlimit(RLIMIT_FSIZE, &limit);
    const rlimit small{100, limit.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
    const std::string said = message_of<resource_exhausted>([&] { save(s, prefix, 2, {.write_meta_graph = false}); });
    ::setrlimit(RLIMIT_FSIZE, &limit);
    std::signal(SIGXFSZ, handler);
    CHECK(says(said, "/job:ps/replica:0/task:", "cannot save its variables"));
    unchanged();
    CHECK(checkpoint_reader(save(s, prefix, 2)).value("a").as<std::vector<float>>() == std::vector<float>{2, 3, 4});
  }
}

TEST_CASE("each task reads its own; all are set or none") {
  const scratch_folder folder("sharded_reading");
  using cluster::method;
  constexpr const char* second = "/job:ps/replica:0/task:1/device:CPU:0";
  local_cluster c({{"ps", 2}});
  for (int k = 0; k < 2; ++k) {
    CAPTURE(k);
    c.sessions = k;
    two_task_model m(3, "reading" + std::to_string(k));
    graph_session s(m.g, {.target = local_cluster::target(0), .operation_timeout_in_ms = 5'000});
    saver save({.sharded = true});
    s.run(m.init);
    const std::string path = save(s, (folder.path / ("model" + std::to_string(k))).string(), 1);
    int read = 0, written = 0;
    c.network->on_message = [&](method what, const transport::message&) {
      read += what == method::read_shard;
      written += what == method::write_variable || what == method::write_node;
    };
    const auto a_now = [&] { return s.value(m.a).as<std::vector<float>>(); };
    const std::vector<float> saved{1, 2, 3}, later{2, 3, 4};
    s.run(m.next);
    REQUIRE(a_now() == later);
    CHECK(save.restore(s, path).restored.size() == 5);
    CHECK(read == 1);  // the other task is the master's own
    CHECK(written == 0);
    CHECK(a_now() == saved);
    CHECK(s.value(m.names).as<std::vector<std::string>>() == std::vector<std::string>{"x", "", "long name"});
    std::vector<float> first_table(7 * 3);
    std::iota(first_table.begin(), first_table.end(), 0.0f);
    CHECK(s.run(m.table->as_tensor()).as<std::vector<float>>() == first_table);

    // Variables that have no value yet; slices that were saved otherwise; a whole checkpoint; part of one.
    two_task_model other(2, "reading into" + std::to_string(k));
    graph_session t(other.g, {.target = local_cluster::target(1), .operation_timeout_in_ms = 5'000});
    saver into(other.g, {.sharded = true});
    read = 0;
    CHECK(into.restore(t, path).restored.size() == 5);
    CHECK(read == 1);
    CHECK(t.run(other.table->as_tensor()).as<std::vector<float>>() == first_table);
    CHECK(t.value(other.count).as<std::int64_t>() == 7);
    const std::string whole = saver(m.g)(s, (folder.path / ("whole" + std::to_string(k))).string(), 1, {.write_state = false});
    s.run(m.next);
    CHECK(save.restore(s, whole).restored.size() == 5);
    CHECK(a_now() == saved);

    // A step goes on from it: what was read is the session's own.
    s.run(m.next);
    CHECK(a_now() == later);

    // The other task sees no such checkpoint: the client reads it for both.
    const auto elsewhere = [&](auto change) {
      c.network->on_call = [change](int task, method what, transport::message& asked) {
        if (task != 1 || what != method::read_shard) return;
        auto json = nlohmann::json::parse(asked.parts[0].text());
        change(json);
        asked.parts[0] = transport::frame::of(json.dump());
      };
    };
    elsewhere([](nlohmann::json& order) { order["prefix"] = "/elsewhere"; });
    written = 0;
    save.restore(s, path);
    CHECK(written > 0);
    CHECK(a_now() == saved);
    elsewhere([](nlohmann::json& order) { order["manifest_crc"] = 1; });
    s.run(m.next);
    save.restore(s, path);
    CHECK(a_now() == saved);

    // What is wrong at one task leaves all as it was.
    const auto refused = [&](auto kind, const char* words) {
      s.run(m.next);
      const auto before = a_now();
      CHECK(says(message_of<decltype(kind)>([&] { save.restore(s, path); }), words));
      CHECK(a_now() == before);
    };
    for (const auto& [offset, extent] : std::vector<std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>>{
             {{6, 0}, {2, 3}}, {{-1, 0}, {2, 3}}, {{0, 0}, {std::int64_t{1} << 62, 3}}, {{0}, {2}}, {{}, {}}, {{0, 0, 0}, {1, 1, 1}}}) {
      elsewhere([&](nlohmann::json& order) {
        for (auto& v : order["variables"])
          if (v[4].get<bool>()) v[5] = offset, v[6] = extent;
      });
      refused(invalid_argument(""), "does not lie within it");
    }
    elsewhere([](nlohmann::json& order) { order["variables"][0][3] = "a"; });
    refused(invalid_argument(""), "the variable '");
    elsewhere([](nlohmann::json& order) { order["variables"][0].erase(6); });
    refused(data_loss(""), "a message of shards");
    elsewhere([](nlohmann::json& order) { order["incarnation"] = 1; });
    refused(aborted(""), second);
    c.network->on_call = nullptr;
    c.network->is_cut[1] = true;
    s.run(m.next);
    CHECK_THROWS_AS(save.restore(s, path), unavailable);
    c.network->is_cut[1] = false;
    // What was read aside is for one adoption.
    c.network->on_call = [&](int task, method what, transport::message& asked) {
      if (task == 1 && what == method::adopt_shard) {
        const auto words = cluster::words_of(asked, 0, 2);
        asked.parts.clear();
        cluster::put_words(asked, {words[0], words[1] + 1});
      }
    };
    CHECK(says(message_of<failed_precondition>([&] { save.restore(s, path); }), second, "has read no checkpoint for this session"));
    c.network->on_call = nullptr;
    const checkpoint_reader now(path);
    {
      std::fstream f(folder.path / now.manifest().more_files[0].name, std::ios::in | std::ios::out | std::ios::binary);
      f.seekp(-1, std::ios::end);
      f.put('\x55');
    }
    refused(data_loss(""), "cannot restore its variables");
    c.network->on_message = nullptr;
  }
}

TEST_CASE("what goes together with sharded") {
  CHECK(says(message_of<invalid_argument>([] { saver s({.format = checkpoint_format::tensorflow, .sharded = true}); }), "leat's format"));
  CHECK(says(message_of<invalid_argument>([] { saver s({.in_background = true, .sharded = true}); }), ".in_background"));
}

// The process of the test below: saves a checkpoint, and is killed in the middle of the next.
TEST_CASE("save and be killed" * doctest::skip()) {
  const char* const prefix = std::getenv("LEAT_SHARDED_PREFIX");
  if (prefix == nullptr) return;
  local_cluster c({{"ps", 2}});
  two_task_model m;
  graph_session s(m.g, {.target = local_cluster::target(0), .operation_timeout_in_ms = 5'000});
  s.run(m.init);
  saver save({.sharded = true});
  save(s, prefix, 1);
  s.run(m.next);
  c.network->on_answer = [](int, cluster::method what, transport::message&) {
    if (what == cluster::method::write_shard) ::raise(SIGKILL);
  };
  save(s, prefix, 2);
}

TEST_CASE("a saver that is killed half-way leaves the last checkpoint, and files that the next one removes") {
  const scratch_folder folder("sharded_killed");
  const std::string prefix = (folder.path / "model").string();
  ::setenv("LEAT_SHARDED_PREFIX", prefix.c_str(), 1);
  {
    process killed({"/proc/self/exe", "--test-case=save and be killed", "--no-skip"});
    ::unsetenv("LEAT_SHARDED_PREFIX");
    killed.wait();
  }
  CHECK(count_in(folder.path, ".part") >= 2);
  CHECK(latest_checkpoint(folder.path.string()).str() == prefix + "-1");
  CHECK(checkpoint_reader(prefix + "-1").value("a").as<std::vector<float>>() == std::vector<float>{1, 2, 3});
  local_cluster c({{"ps", 2}});
  two_task_model m;
  graph_session s(m.g, {.target = local_cluster::target(1), .operation_timeout_in_ms = 5'000});
  saver save({.sharded = true});
  save.restore(s, prefix + "-1");
  save(s, prefix, 3);
  CHECK(count_in(folder.path, ".part") == 0);
  CHECK(count_in(folder.path, ".safetensors") == 4);
}
