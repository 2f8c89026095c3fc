#include <leat/data/files.hpp>

#include "support/hex.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>

using namespace leat;

namespace {

struct folder {
  std::filesystem::path path = std::filesystem::temp_directory_path() / ("leat_data_files_" + std::to_string(::getpid()));
  folder() { std::filesystem::create_directories(path); }
  ~folder() { std::filesystem::remove_all(path); }
  std::filesystem::path operator/(const std::string& name) const { return path / name; }
};
template <class Data>
auto all(const Data& data) {
  std::vector<typename Data::element_type> list;
  for (auto& element : data) list.push_back(element);
  return list;
}
// From every position what is left is what a restored iterator gives.
template <class Data>
void resumes(const Data& data) {
  CAPTURE(data.description());
  const auto whole = all(data);
  for (std::size_t at = 0; at <= whole.size(); ++at) {
    auto stopped = data.iterate();
    for (std::size_t k = 0; k < at; ++k) stopped.next();
    auto resumed = data.iterate();
    resumed.restore_state(stopped.save_state());
    std::vector<typename Data::element_type> rest;
    while (resumed.next()) rest.push_back(resumed.element());
    CHECK(rest == decltype(rest)(whole.begin() + static_cast<std::ptrdiff_t>(at), whole.end()));
  }
}

}  // namespace

TEST_CASE("rows of tables") {
  const folder here;
  io::write_file(here / "a.csv", "x,y,label\n0.5,1,3\n1.5,2,4\n\n2.5,3,5\n");
  io::write_file(here / "b.csv", "x,y,label\r\n3.5,\"4\",6");
  io::write_file(here / "none.csv", "x,y,label\n");
  const auto data = dataset::csv<std::array<float, 2>, std::int64_t>({here / "a.csv", here / "none.csv", here / "b.csv"});
  CHECK(data.description() == "csv(a.csv of 35 bytes, none.csv of 10 bytes, b.csv of 20 bytes) (float32[2], int64)");
  for (auto& [points, labels] : data.batch(4)) {
    CHECK(points == xt::xtensor<float, 2>{{0.5f, 1}, {1.5f, 2}, {2.5f, 3}, {3.5f, 4}});
    CHECK(labels == xt::xtensor<std::int64_t, 1>{3, 4, 5, 6});
  }
  resumes(data);
  resumes(data.shuffle(2, 1).repeat(3).batch(3));
  resumes(data.shuffle(10, 1).repeat(2).prefetch(2));
  CHECK(all(dataset::csv<float>(here / "a.csv", {.columns = {"y"}})) == std::vector<std::tuple<float>>{{1.0f}, {2.0f}, {3.0f}});
  CHECK_THROWS_AS(dataset::csv<float>(here / "missing.csv"), not_found);

  io::write_file(here / "c.csv", "x,y\n1,2\n3,four\n5,6\n");
  const auto wrong = dataset::csv<float, float>(here / "c.csv").prefetch(2);
  auto rows = wrong.iterate();
  CHECK(rows.next());
  CHECK(leat_test::message_of<data_loss>([&] { rows.next(); }) == (here / "c.csv").string() + ":3: column 2 (\"y\"): \"four\" is no float32");
  CHECK(rows.next());
  CHECK(std::get<0>(rows.element()) == 5);
  // A state belongs to files of these names and sizes.
  auto other = dataset::csv<float, float>(here / "c.csv").iterate();
  const std::string state = other.save_state();
  io::write_file(here / "c.csv", "x,y\n1,2\n");
  CHECK_THROWS_AS((dataset::csv<float, float>(here / "c.csv").iterate().restore_state(state)), invalid_argument);
}

TEST_CASE("lines of texts") {
  const folder here;
  io::write_file(here / "a.txt", "one\ntwo\r\n\nthree");
  io::write_file(here / "b.txt", "four\n");
  const auto data = dataset::text_lines({here / "a.txt", here / "b.txt"});
  CHECK(all(data) == std::vector<std::tuple<std::string>>{{"one"}, {"two"}, {""}, {"three"}, {"four"}});
  resumes(data.filter([](const std::string& line) { return !line.empty(); }).shuffle(2, 1));
  // Words of several files in turn.
  const auto mixed = dataset::from_tensor_slices(std::vector<std::string>{"a", "b"})
                         .interleave([&](const std::string& name) { return dataset::text_lines(here / (name + ".txt")); }, 2);
  CHECK(all(mixed) == std::vector<std::tuple<std::string>>{{"one"}, {"four"}, {"two"}, {""}, {"three"}});
}

TEST_CASE("records, and examples in them") {
  const folder here;
  for (const int file : {0, 1}) {
    io::record_writer writer(here / (std::to_string(file) + ".tfrecord"));
    for (int k = 0; k < 5; ++k) {
      const float x = static_cast<float>(10 * file + k);
      writer.write(io::write_example({{{"image", std::vector<float>{x, x + 0.5f}},
                                       {"label", std::vector<std::int64_t>{k}},
                                       {"name", std::vector<std::string>{"n" + std::to_string(k)}},
                                       {"ids", std::vector<std::int64_t>(static_cast<std::size_t>(k), k)}}}));
    }
  }
  const data::file_list files{here / "0.tfrecord", here / "1.tfrecord"};
  const auto data = dataset::examples<std::array<float, 2>, std::int64_t, std::string>(files, {"image", "label", "name"});
  const auto elements = all(data);
  REQUIRE(elements.size() == 10);
  CHECK(elements[7] == std::tuple(std::array<float, 2>{12, 12.5f}, std::int64_t{2}, std::string("n2")));
  resumes(data.shuffle(4, 1).repeat(2));
  CHECK(all(dataset::records(files)).size() == 10);
#if defined(LEAT_USE_ZLIB)
  {
    const std::filesystem::path packed = files.paths().front().string() + ".gz";
    io::record_writer writer(packed, io::record_opening::anew, 64, io::record_compression::gzip);
    for (const auto& [record] : all(dataset::records(files))) writer.write(record);
    writer.close();
    CHECK(all(dataset::records(packed)) == all(dataset::records(files)));
    CHECK(all(dataset::examples<std::array<float, 2>>(packed, {"image"}, io::record_compression::gzip)) ==
          all(dataset::examples<std::array<float, 2>>(files, {"image"})));
    CHECK_THROWS_AS(all(dataset::records(packed, io::record_compression::none)), data_loss);
    resumes(dataset::records(packed).shuffle(4, 1).repeat(2));
  }
#endif
  for (auto& [ids] : dataset::examples<xt::xtensor<std::int64_t, 1>>(files, {"ids"}).padded_batch(5, -1))
    CHECK((ids.shape(1) == 4 && ids(4, 0) == 4 && ids(1, 1) == -1));
  const auto at = (here / "0.tfrecord").string() + ": the record at byte 0: Example: ";
  const auto first = [](auto wrong) { return [wrong] { wrong.iterate().next(); }; };
  CHECK(leat_test::message_of<not_found>(first(dataset::examples<float>(files, {"x"}))) ==
        at + "has no feature \"x\"; there are \"ids\", \"image\", \"label\", \"name\"");
  CHECK(leat_test::message_of<invalid_argument>(first(dataset::examples<float>(files, {"label"}))) ==
        at + "the feature \"label\" holds int64 where floats are expected");
  CHECK(leat_test::message_of<invalid_argument>(first(dataset::examples<std::array<float, 3>>(files, {"image"}))) ==
        at + "the feature \"image\" has 2 values where 3 are expected");
  // Cut off, and corrupt.
  std::string bytes = io::read_file(here / "1.tfrecord");
  io::write_file(here / "1.tfrecord", bytes.substr(0, bytes.size() - 3));
  CHECK(leat_test::message_of<data_loss>([&] { all(dataset::records(files)); }).find("1.tfrecord: the record at byte") != std::string::npos);
  CHECK(leat_test::message_of<data_loss>([&] { all(dataset::records(files)); }).find("is cut off") != std::string::npos);
  bytes[bytes.size() - 8] = static_cast<char>(bytes[bytes.size() - 8] ^ 1);
  io::write_file(here / "1.tfrecord", bytes);
  CHECK(leat_test::message_of<data_loss>([&] { all(dataset::records(files)); }).find("is corrupt") != std::string::npos);
}

TEST_CASE("what is wrong in files is told once, and the rest read") {
  const folder here;
  using texts = std::vector<std::string>;
  const auto outcomes = [&](const auto& data) {
    texts list;
    auto it = data.iterate();
    for (bool more = true; more && list.size() < 20;) try {
        more = it.next();
        if constexpr (std::is_same_v<std::string&, decltype(std::get<0>(it.element()))>) {
          if (more) list.push_back(std::get<0>(it.element()));
        } else {
          if (more) list.push_back(std::to_string(std::get<0>(it.element())));
        }
      } catch (const error& e) {
        const std::string what = e.what();
        list.push_back(what.find("is corrupt: its") != what.npos  ? "corrupt"
                       : what.find("cut off") != what.npos        ? "cut off"
                       : what.find("whose checksum") != what.npos ? "framing"
                       : what.find("no header") != what.npos      ? "no header"
                                                                  : what);
        auto resumed = data.iterate();  // a state behind an error goes on behind it
        resumed.restore_state(it.save_state());
      }
    return list;
  };
  std::string bytes;
  for (const char* text : {"one", "two", "three"}) io::append_record(bytes, text);
  const auto write = [&](const char* name, std::size_t at, std::size_t cut) {
    std::string wrong = bytes.substr(0, bytes.size() - cut);
    if (at > 0) wrong[at] = static_cast<char>(wrong[at] ^ 1);
    io::write_file(here / name, wrong);
  };
  write("good", 0, 0), write("bytes", 19 + 13, 0), write("length", 19 + 2, 0), write("cut", 0, 3);
  CHECK(outcomes(dataset::records({here / "bytes", here / "good"})) == texts{"one", "corrupt", "three", "one", "two", "three"});
  CHECK(outcomes(dataset::records({here / "length", here / "good"})) == texts{"one", "framing", "one", "two", "three"});
  CHECK(outcomes(dataset::records({here / "cut", here / "good"})) == texts{"one", "two", "cut off", "one", "two", "three"});
  CHECK(outcomes(dataset::records(here / "length")) == texts{"one", "framing"});

  io::write_file(here / "a.csv", "x\n1\n2\n");
  io::write_file(here / "empty.csv", "");
  io::write_file(here / "b.csv", "x\n3\n");
  const auto tables = dataset::csv<int>({here / "a.csv", here / "empty.csv", here / "b.csv"});
  CHECK(outcomes(tables) == texts{"1", "2", "no header", "3"});
  CHECK(outcomes(tables.prefetch(2)) == texts{"1", "2", "no header", "3"});
  std::filesystem::remove(here / "empty.csv");
  CHECK(outcomes(dataset::csv<int>({here / "a.csv", here / "b.csv"})) == texts{"1", "2", "3"});
  auto vanished = tables.iterate();
  CHECK((vanished.next() && vanished.next()));
  CHECK_THROWS_AS(vanished.next(), not_found);
  CHECK((vanished.next() && std::get<0>(vanished.element()) == 3 && !vanished.next()));
}

TEST_CASE("tables whose headers differ are not mixed by position") {
  const folder here;
  io::write_file(here / "a.csv", "x,y\n1,2\n");
  io::write_file(here / "b.csv", "y,x\n3,4\n5,6\n");
  io::write_file(here / "c.csv", "x,y\n7,8\n9,10\n");
  io::write_file(here / "empty.csv", "");
  using row = std::tuple<int, int>;
  const auto data = dataset::csv<int, int>({here / "a.csv", here / "b.csv", here / "c.csv"});
  auto it = data.iterate();
  CHECK(it.next());
  CHECK(leat_test::message_of<invalid_argument>([&] { it.next(); }) ==
        (here / "b.csv").string() + ": the header has \"y\", \"x\", that of a file before it \"x\", \"y\"; choose the columns by name");
  CHECK((it.next() && it.element() == row{7, 8}));
  // Also where the first file is not read: behind a state.
  auto resumed = data.iterate();
  resumed.restore_state(it.save_state());
  CHECK((resumed.next() && resumed.element() == row{9, 10}));
  auto late = dataset::csv<int, int>({here / "empty.csv", here / "b.csv", here / "c.csv"}).iterate();
  CHECK_THROWS_AS(late.next(), data_loss);
  CHECK((late.next() && late.element() == row{3, 4}));
  CHECK(all(dataset::csv<int, int>({here / "a.csv", here / "b.csv"}, {.columns = {"x", "y"}})) == std::vector<row>{{1, 2}, {4, 3}, {6, 5}});
  CHECK(all(dataset::csv<std::string>({here / "a.csv", here / "b.csv"}, {.delimiter = ';', .header = false})).size() == 5);
}

TEST_CASE("a state of files and columns in any encoding") {
  const folder here;
  const auto path = here / "k\xfcrzung.csv";
  io::write_file(path, "k\xfcrzung,y\n1,2\n3,4\n5,6\n");
  resumes(dataset::csv<int>(path, {.columns = {"k\xfcrzung"}}));
  // The number of an empty field is told whole, and as it always was.
  CHECK(dataset::csv<int, int>(path, {.empty = 0.5}).description().find(", empty is 0.500000)") != std::string::npos);
  CHECK(dataset::csv<int, int>(path, {.empty = 1e-9}).description().find(", empty is 1e-09)") != std::string::npos);
}

TEST_CASE("arrays of files") {
  const folder here;
  const auto x = make_tensor_proto(std::vector<float>{1, 2, 3, 4, 5, 6}, {3, 2});
  const auto y = make_tensor_proto(std::vector<std::int64_t>{7, 8, 9}, {3});
  io::write_npy_file(x, here / "x.npy");
  io::write_npz_file({{"x", x}, {"y", y}}, here / "both.npz");
  io::write_file(here / "labels.idx", leat_test::from_hex("00000801"
                                                          "00000003"
                                                          "070809"));
  const auto from_npy = dataset::npy<xt::xtensor<float, 2>>(here / "x.npy");
  CHECK(from_npy.description() == "npy(x.npy of 152 bytes) slices(3) (float32[?])");
  const auto both = dataset::zip(from_npy, dataset::idx<xt::xtensor<std::uint8_t, 1>>(here / "labels.idx"));
  CHECK(all(both)[1] == std::tuple(xt::xtensor<float, 1>{3, 4}, std::uint8_t{8}));
  resumes(both.shuffle(3, 1).repeat(2));
  const auto from_npz = dataset::npz<xt::xtensor<std::int64_t, 1>, xt::xtensor<float, 2>>(here / "both.npz", {"y", "x"});
  CHECK(all(from_npz)[2] == std::tuple(std::int64_t{9}, xt::xtensor<float, 1>{5, 6}));
  CHECK(leat_test::message_of<invalid_argument>([&] { dataset::npy<xt::xtensor<float, 1>>(here / "x.npy"); }) ==
        (here / "x.npy").string() + ": the file holds shape [3, 2] of DT_FLOAT, the program takes float32[?]");
  CHECK(leat_test::message_of<invalid_argument>([&] {
          dataset::npz<xt::xtensor<double, 2>>(here / "both.npz", {"x"});
        }).find("array \"x\": the file holds") != std::string::npos);
  CHECK_THROWS_AS((dataset::npz<xt::xtensor<double, 2>>(here / "both.npz", {"z"})), not_found);
}
