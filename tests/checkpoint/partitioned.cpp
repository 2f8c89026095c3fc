#include <leat/checkpoint/saver.hpp>
#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/collections.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/file.hpp>
#include <leat/io/saved_model.hpp>
#include <leat/io/tensor_bundle.hpp>
#include <leat/io/tensor_parts.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <fstream>
#include <numeric>

using namespace leat;
using leat_test::message_of;
using leat_test::says;
using leat_test::scratch_folder;

namespace {

std::vector<float> counted(std::size_t n) {
  std::vector<float> values(n);
  std::iota(values.begin(), values.end(), 0.0f);
  return values;
}
const shape table_shape = shape_value{7, 3};
operand_value table() { return operand_value(tensor_literal(table_shape, counted(21))); }

std::vector<float> floats(graph_session& s, const output& o) {
  const tensor_value v = s.run(o);
  const auto all = v.values<float>();
  return {all.begin(), all.end()};
}

// A model with a table in parts, or whole for 0 parts, and its optimizer's slots.
struct model {
  graph g;
  std::vector<output> parts;
  output value;
  named_optimizer optimizer = adam(0.1f);
  graph_operation train;
  std::unique_ptr<graph_session> session;
  explicit model(int count, int axis = 0) {
    const auto here = g.as_default();
    if (count == 0) {
      parts = {get_variable("net/table", {.initializer = table()})};
      value = value_of(parts[0]);
    } else {
      const auto w = get_variable("net/table", {.initializer = table(), .partitioner = fixed_size_partitioner(count, axis)});
      parts = w.parts();
      value = w;
    }
    train = optimizer.minimize(reduce_sum(square(value), all_axes));
    session = std::make_unique<graph_session>(g);
    session->run(global_variables_initializer());
  }
  std::vector<float> slot_values() {
    const auto here = g.as_default();
    if (parts.size() == 1) return floats(*session, optimizer.slot(parts[0], "m"));
    std::vector<output> slots;
    for (const output& p : parts) slots.push_back(optimizer.slot(p, "m"));
    return floats(*session, concat(slots, parts[0].extent()[0] == table_shape[0] ? 1 : 0));
  }
};

void flip(const std::string& file, std::size_t at) {
  std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
  f.seekg(static_cast<std::streamoff>(at));
  const char c = static_cast<char>(f.get());
  f.seekp(static_cast<std::streamoff>(at));
  f.put(static_cast<char>(c ^ 1));
}

}  // namespace

TEST_CASE("a partitioned variable is one tensor of a checkpoint, and restored into any parts") {
  for (const auto format : {checkpoint_format::leat, checkpoint_format::tensorflow}) {
    CAPTURE(format == checkpoint_format::leat);
    const scratch_folder scratch("partitioned");
    const std::pair<int, int> ways[]{{0, 0}, {1, 0}, {3, 0}, {7, 0}, {2, 1}, {3, 1}};
    for (const auto& [count, axis] : ways) {
      CAPTURE(count);
      CAPTURE(axis);
      model from(count, axis);
      from.session->run(from.train);
      from.session->run(from.train);
      saver save({.format = format});
      const std::string path = save(*from.session, (scratch.path / "model").string(), 10 * count + axis);
      const checkpoint_reader reader(path);
      CHECK(reader.names() == std::vector<std::string>{"beta1_power", "beta2_power", "net/table", "net/table/Adam", "net/table/Adam_1"});
      CHECK(reader.value("net/table").extent() == table_shape);
      for (const auto& [into, along] : ways)
        for (const bool mapped : {false, true}) {
          CAPTURE(into);
          CAPTURE(along);
          CAPTURE(mapped);
          model to(into, along);
          const auto report = saver().restore(*to.session, path, {.exact = true, .mapped = mapped});
          CHECK(report.restored == reader.names());
          CHECK(floats(*to.session, to.value) == floats(*from.session, from.value));
          CHECK(to.slot_values() == from.slot_values());
          to.session->run(to.train);  // may write where the values lie
        }
    }
  }
}

TEST_CASE("the whole and its slices in a list of variables") {
  const scratch_folder scratch("partitioned_list");
  const std::string prefix = (scratch.path / "model").string();
  graph g;
  const auto here = g.as_default();
  const auto w = get_variable("w", {.initializer = table(), .partitioner = fixed_size_partitioner(3)});
  const auto plain = variable({1.0f, 2.0f}, "plain");
  graph_session s(g);
  s.run(global_variables_initializer());
  using list = std::vector<saved_variable>;
  const auto names_of = [&](list variables, int step) {
    saver save({.var_list = std::move(variables)});
    return checkpoint_reader(save(s, prefix, step)).names();
  };
  CHECK(names_of({w, plain}, 1) == std::vector<std::string>{"plain", "w"});
  CHECK(names_of({{"old/w", w}}, 2) == std::vector<std::string>{"old/w"});
  CHECK(names_of({{"old/w", "w"}, {"again", w}}, 3) == std::vector<std::string>{"again", "old/w"});
  CHECK(names_of({w[2], w[0], w[1]}, 4) == std::vector<std::string>{"w"});
  CHECK(names_of({{"first", w[0]}}, 5) == std::vector<std::string>{"first"});
  CHECK(checkpoint_reader(prefix + "-5").value("first").extent() == w[0].extent());
  for (const int step : {1, 4}) CHECK(checkpoint_reader(prefix + "-" + std::to_string(step)).value("w").values<float>()[20] == 20);
  CHECK(says(message_of<invalid_argument>([&] { names_of({w[0], w[2]}, 6); }),
             "the partitioned variable 'w' [7,3] is saved whole, but has "
             "parts of 15 elements or more, where it has 21"));
  CHECK(says(message_of<invalid_argument>([&] { names_of({w, {"w", plain}}, 6); }), "two variables are saved under the name 'w'"));
  CHECK(says(message_of<not_found>([&] { names_of({"wv"}, 6); }), "'wv'"));

  // One slice can be restored alone, and from another name.
  s.run(group(assign(w, zeros_of(table_shape))));
  saver some({.var_list = {{"old/w", w}}});
  some.restore(s, prefix + "-2");
  CHECK(floats(s, w) == counted(21));
  s.run(group(assign(w, zeros_of(table_shape))));
  saver({.var_list = {w[1]}}).restore(s, prefix + "-1");
  const auto values = floats(s, w);
  CHECK(values[8] == 0);
  CHECK(values[9] == 9);
  CHECK(values[14] == 14);
  CHECK(values[15] == 0);

  graph other;
  const auto there = other.as_default();
  get_variable("w", {7, 4}, {.partitioner = fixed_size_partitioner(2)});
  graph_session t(other);
  CHECK(says(message_of<invalid_argument>([&] { saver().restore(t, prefix + "-1"); }),
             "'w' is float32 [7,3] in the checkpoint, but the variable float32 [7,4]"));
}

TEST_CASE("a graph from a file knows its slices, and restores them") {
  const scratch_folder scratch("partitioned_import");
  const std::string prefix = (scratch.path / "model").string();
  model from(3);
  from.session->run(from.train);
  saver save({.format = checkpoint_format::tensorflow});
  save(*from.session, prefix);
  const meta_graph_def meta = io::read_binary<meta_graph_def>(io::read_file(prefix + ".meta"));
  graph g;
  const auto here = g.as_default();
  import_graph(g, meta.graph, {.name = ""});
  io::import_collections(g, meta.collections);
  graph_session s(g);
  const auto report = saver().restore(s, prefix);
  CHECK(report.restored.size() == 5);
  CHECK(s.value(get_tensor_by_name(g, "net/table/part_2:0")).values<float>()[5] == floats(*from.session, from.value)[20]);
}

TEST_CASE("TensorFlow's files of slices: what they hold, and damage") {
  const scratch_folder scratch("partitioned_files");
  const std::string prefix = (scratch.path / "model").string();
  model from(3);
  saver save({.format = checkpoint_format::tensorflow});
  save(*from.session, prefix);
  const io::bundle_index index = io::read_bundle_index(io::read_file(prefix + ".index"));
  const io::bundle_entry& whole = index.entries.at("net/table");
  CHECK(whole.shape == std::vector<std::int64_t>{7, 3});
  CHECK(whole.slices == std::vector<io::bundle_slice>{{{0, 0}, {3, 3}}, {{3, 0}, {2, 3}}, {{5, 0}, {2, 3}}});
  CHECK(index.parts.size() == 9);
  const io::bundle_entry& second = index.parts.at(io::bundle_part_name("net/table", whole.slices[1]));
  CHECK(second.shape == std::vector<std::int64_t>{2, 3});
  CHECK(second.size == 24);
  CHECK(io::read_bundle_index(io::write_bundle_index(index)) == index);

  const auto refused = [&](const auto& change) {
    io::bundle_index wrong = index;
    change(wrong, wrong.entries.at("net/table"));
    io::write_file(prefix + ".index", io::write_bundle_index(wrong));
    return message_of<error>([&] { checkpoint_reader(prefix).value("net/table"); });
  };
  CHECK(says(refused([](auto&, auto& e) { e.slices.pop_back(); }), "\"net/table\" is saved in parts: parts of 15 elements"));
  CHECK(says(refused([](auto&, auto& e) { e.slices[1] = e.slices[0]; }), "parts of 24 elements"));
  CHECK(says(refused([](auto&, auto& e) { e.slices[1].starts[0] = 4; }), "is not there"));
  CHECK(says(refused([](auto&, auto& e) { e.slices[1].lengths[0] = 5; }), "a slice from 3 of length 5 along an axis of 7"));
  CHECK(says(refused([](auto&, auto& e) {
               e.slices[1].starts.pop_back();
               e.slices[1].lengths.pop_back();
             }),
             "another rank"));
  CHECK(says(refused([](auto& i, auto& e) { i.parts.at(io::bundle_part_name("net/table", e.slices[1])).shape = {3, 2}; }),
             "another dtype or shape than its slice"));
  CHECK(says(refused([](auto& i, auto& e) { i.parts.at(io::bundle_part_name("net/table", e.slices[1])).offset = 1 << 20; }),
             "are not all in the file"));
  io::write_file(prefix + ".index", io::write_bundle_index(index));
  flip(prefix + ".data-00000-of-00001", static_cast<std::size_t>(second.offset) + 3);
  CHECK(says(message_of<data_loss>([&] { checkpoint_reader(prefix).value("net/table"); }), "tensor \"net/table\" at byte"));

  // A slice may say that it takes a whole axis, and lie in any shard.
  io::bundle_index written{.shards = 1, .entries = {}, .parts = {}};
  written.entries["v"] = {.dtype = data_type::int32, .shape = {2, 2}, .slices = {{{0, 0}, {-1, 1}}, {{0, 1}, {-1, 1}}}};
  const std::vector<std::int32_t> columns[]{{1, 3}, {2, 4}};
  std::string data;
  for (std::size_t k = 0; k < 2; ++k) {
    const auto bytes = std::as_bytes(std::span(columns[k]));
    written.parts[io::bundle_part_name("v", written.entries["v"].slices[k])] = {
        .dtype = data_type::int32, .shape = {2, 1}, .offset = data.size(), .size = 8, .crc32c = io::crc32c(bytes)};
    data.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  io::write_file(prefix + ".index", io::write_bundle_index(written));
  io::write_file(prefix + ".data-00000-of-00001", data);
  const tensor_value v = checkpoint_reader(prefix).value("v");
  CHECK(std::vector<std::int32_t>(v.values<std::int32_t>().begin(), v.values<std::int32_t>().end()) ==
        std::vector<std::int32_t>{1, 2, 3, 4});
}

TEST_CASE("tensors of a SavedModel folder that lie over each other") {
  const scratch_folder scratch("overlapping_saved_model");
  const std::string prefix = (scratch.path / "variables").string();
  const std::vector<float> values{1, 2};
  const auto bytes = std::as_bytes(std::span(values));
  const io::bundle_entry entry{.dtype = data_type::float32, .shape = {2}, .size = 8, .crc32c = io::crc32c(bytes)};
  io::write_file(prefix + ".data-00000-of-00001", std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  io::write_file(prefix + ".index", io::write_bundle_index({.shards = 1, .entries = {{"a", entry}}}));
  const io::safetensors read = io::read_bundle(prefix);
  CHECK(read["a"].extent == shape_value{2});
  io::write_file(prefix + ".index", io::write_bundle_index({.shards = 1, .entries = {{"a", entry}, {"b", entry}}}));
  CHECK(says(message_of<data_loss>([&] { io::read_bundle(prefix); }), "tensor \"b\": lies over another"));
}

TEST_CASE("a SavedModel folder has slices as parts of the whole") {
  const scratch_folder scratch("partitioned_saved_model");
  const auto folder = scratch.path / "model";
  const std::string variables = (folder / "variables/variables").string();
  for (const int axis : {0, 1}) {
    model from(3, axis);
    from.session->run(from.train);
    const std::vector<float> expected = floats(*from.session, from.value);
    io::save_model(folder, *from.session,
                   {.signatures = {{"rows", {.outputs = {{"table", from.value}}}}}, .format = io::model_format::tensorflow});
    const io::bundle_index index = io::read_bundle_index(io::read_file(variables + ".index"));
    CHECK(index.entries.at("net/table").slices.size() == 3);
    CHECK_FALSE(index.entries.contains("net/table/part_0"));
    const io::safetensors tensors = io::read_bundle(variables);
    CHECK(tensors["net/table"].extent == table_shape);
    const io::saved_model loaded = io::load_model(folder);
    const auto rows = loaded.run("rows");
    CHECK(std::vector<float>(rows.at("table").values<float>().begin(), rows.at("table").values<float>().end()) == expected);
    const output slot = get_tensor_by_name(loaded.graph(), "net/table/part_1/Adam:0");
    const auto slot_there = loaded.session().value(slot).values<float>();
    const auto slot_here = from.session->value(from.optimizer.slot(from.parts[1], "m")).values<float>();
    CHECK(std::vector<float>(slot_there.begin(), slot_there.end()) == std::vector<float>(slot_here.begin(), slot_here.end()));

    // As the saver writes them, which is as TensorFlow does.
    saver save({.format = checkpoint_format::tensorflow});
    from.session->run(from.train);
    save(*from.session, variables, {}, {.write_state = false, .write_meta_graph = false});
    const io::saved_model again = io::load_model(folder);
    CHECK(floats(again.session(), get_tensor_by_name(again.graph(), from.value.name())) == floats(*from.session, from.value));

    // A damaged part, a part that is not there, and one beyond the file are told; nothing is asked for before that is looked at.
    const io::bundle_index good = io::read_bundle_index(io::read_file(variables + ".index"));
    const auto refused = [&](const auto& change) {
      io::bundle_index wrong = good;
      change(wrong, wrong.parts.at(io::bundle_part_name("net/table", wrong.entries.at("net/table").slices[1])));
      io::write_file(variables + ".index", io::write_bundle_index(wrong));
      return message_of<error>([&] { io::load_model(folder); });
    };
    CHECK(says(refused([](auto&, auto& part) { part.crc32c ^= 1; }), "tensor \"net/table\": its bytes have the checksum"));
    CHECK(says(refused([](auto&, auto& part) { part.offset = 1 << 20; }), "are not all in the file"));
    CHECK(says(refused([](auto& i, auto&) { i.entries.at("net/table").slices.pop_back(); }), "\"net/table\" is saved in parts: parts of"));
    CHECK(says(refused([](auto& i, auto&) {
                 auto& whole = i.entries.at("net/table");
                 whole.shape = {std::int64_t{1} << 40, 3};
                 whole.slices = {{{0, 0}, {std::int64_t{1} << 40, 3}}};
                 i.parts[io::bundle_part_name("net/table", whole.slices[0])] = {
                     .dtype = data_type::float32, .shape = whole.shape, .size = std::uint64_t{12} << 40};
               }),
               "are not all in the file"));
    io::write_file(variables + ".index", io::write_bundle_index(good));
  }
}

TEST_CASE("keys of slices are in TensorFlow's ordered code") {
  const auto key = [](std::string_view name, std::vector<std::int64_t> starts, std::vector<std::int64_t> lengths) {
    return io::bundle_part_name(name, {std::move(starts), std::move(lengths)});
  };
  // a zero; the name up to 00 01; the rank; start and length of each axis: 80 and the number for one byte, c0 00 and it for two, ...
  CHECK(key("w", {0, 0}, {2, -1}) == std::string("\0w\0\x01\x01\x02\x80\x82\x80\x7f", 10));
  CHECK(key("w", {63}, {64}) == std::string("\0w\0\x01\x01\x01\xbf\xc0\x40", 9));
  CHECK(key("w", {8191}, {8192}) == std::string("\0w\0\x01\x01\x01\xdf\xff\xe0\x20\x00", 11));
  CHECK(key("w", {1000}, {std::int64_t{1} << 40}) == std::string("\0w\0\x01\x01\x01\xc3\xe8\xfd\x00\x00\x00\x00\x00", 14));
  CHECK(key(std::string_view("a\0\xff", 3), {}, {}) == std::string("\0a\0\xff\xff\0\0\x01\0", 9));
  CHECK(key("w", {std::int64_t{1} << 55}, {std::int64_t{1} << 62}) ==
        std::string("\0w\0\x01\x01\x01\xff\x80\x80\0\0\0\0\0\0\xff\xc0\x40\0\0\0\0\0\0\0", 25));
}

TEST_CASE("blocks cover a tensor, or not") {
  using detail::tensor_block;
  const auto problem = [](const shape_value& whole, const std::vector<tensor_block>& blocks) {
    return detail::covering_problem(whole, blocks);
  };
  const auto block = [](std::vector<std::int64_t> at, const shape_value& extent) { return tensor_block{std::move(at), extent}; };
  CHECK(problem({4, 4}, {block({0, 0}, {2, 2}), block({0, 2}, {2, 2}), block({2, 0}, {2, 4})}).empty());
  CHECK(says(problem({4, 4}, {block({0, 0}, {2, 2}), block({1, 1}, {2, 2}), block({2, 0}, {2, 4})}), "overlap"));
  CHECK(says(problem({4}, {block({0}, {2}), block({1}, {2})}), "overlap"));
  CHECK(says(problem({4}, {block({0}, {2})}), "2 elements"));
  CHECK(says(problem({4}, {block({3}, {2})}), "beyond"));
  CHECK(says(problem({4}, {block({-1}, {4})}), "beyond"));
  CHECK(says(problem({4, 1}, {block({0}, {4})}), "rank"));
  CHECK(problem({0, 3}, {block({0, 0}, {0, 3})}).empty());
  CHECK(problem({}, {block({}, {})}).empty());
  CHECK(problem({3}, {block({0}, {3}), block({3}, {0}), block({1}, {0})}).empty());
}
