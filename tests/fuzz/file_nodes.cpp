// The operators on files under libFuzzer, in a folder that is the session's: names, slices and contents are any bytes. Nothing outside
// the folder is made, changed or read, and what was saved is restored. The input is a list of calls: a byte for the operator, one for each
// name, then what the operator takes.

#include <leat/io/file.hpp>

#include "run_node.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

namespace {

using namespace leat;
using leat_fuzz::are_same;
using leat_fuzz::fed_node;
using leat_fuzz::must;
using texts = std::vector<std::string>;
namespace fs = std::filesystem;

constexpr dtype text = text_dtype;
const std::string secret = "what is outside of the folder";

/// Takes values off the input; zeros behind its end.
class source {
 public:
  explicit source(std::string_view rest) : rest_(rest) {}
  bool is_empty() const { return rest_.empty(); }
  unsigned byte() {
    if (rest_.empty()) return 0;
    const auto b = static_cast<unsigned char>(rest_[0]);
    rest_.remove_prefix(1);
    return b;
  }
  std::string bytes() {
    const std::size_t size = std::min<std::size_t>(byte(), rest_.size());
    const std::string taken(rest_.substr(0, size));
    rest_.remove_prefix(size);
    return taken;
  }

 private:
  std::string_view rest_;
};

/// A folder with a folder for files, and files beside that, which must stay as they are. Links within lead outside.
class scene {
 public:
  scene() {
    char name[] = "/dev/shm/leat_fuzz_XXXXXX";
    must(::mkdtemp(name) != nullptr, "a folder for files");
    whole_ = name;
    fs::create_directories(whole_ / "beside");
    io::write_file(whole_ / "beside" / "secret", secret);
    std::atexit([] { fs::remove_all(the().whole_); });
  }
  static scene& the() {
    static scene s;
    return s;
  }
  fs::path root() const { return whole_ / "root"; }
  fs::path beside() const { return whole_ / "beside"; }
  void begin() {
    fs::remove_all(root());
    fs::create_directories(root() / "a");
    fs::create_symlink("../beside", root() / "out");
    fs::create_symlink("../beside/none", root() / "none");
    fs::create_symlink("../beside/secret", root() / "link");
    for (const char* ending : {".index", ".json", ".data-00000-of-00001", ".old.index", "-00000-of-00001"})
      fs::create_symlink("../beside/m" + std::string(ending), root() / ("m" + std::string(ending)));
  }
  /// Saves a checkpoint beside the folder of files, and notes what is there.
  void fill() {
    fed_node save("SaveV2", {text, text, text, dtype::float32}, {}, beside().string());
    const std::vector<float> value{12345};
    must(save.run({tensor_value(std::string("m")), tensor_value(texts{"t"}), tensor_value(texts{""}), tensor_value(value)}).has_value(),
         "a checkpoint is saved");
    io::write_file(beside() / "m", secret);
    there_ = contents();
  }
  std::map<std::string, std::string> contents() const {
    std::map<std::string, std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(whole_)) {
      const std::string name = entry.path().string();
      if (name.starts_with(root().string() + "/")) continue;
      found[name] = entry.is_regular_file() ? io::read_file(entry.path()) : "";
    }
    return found;
  }
  void must_be_untouched() const {
    auto now = contents();
    now.erase(root().string());
    must(now == there_, "nothing outside of the folder changes");
  }

 private:
  fs::path whole_;
  std::map<std::string, std::string> there_;
};

/// A name: one of some that are known, or any bytes.
std::string name_from(source& in) {
  const scene& s = scene::the();
  const std::string names[]{"f",
                            "a/f",
                            "a",
                            "c",
                            "a/c",
                            "a/b/c",
                            "m",
                            "out/m",
                            "out/secret",
                            "../beside/m",
                            "../beside/secret",
                            s.beside().string() + "/m",
                            s.root().string() + "/f",
                            s.root().string() + "/c",
                            s.root().string() + "/../beside/secret",
                            "",
                            ".",
                            "..",
                            "a/../../beside/secret",
                            "out/../root/f",
                            "*",
                            "*/*",
                            "../*",
                            "*/../*",
                            "[!a]*",
                            "c-?\?\?\?\?-of-00001",
                            "m-?\?\?\?\?-of-00001",
                            "c.index",
                            std::string(250, 'n'),
                            "new/f",
                            "none",
                            "none/f",
                            "link",
                            "m.index"};
  const unsigned k = in.byte();
  return k < std::size(names) ? names[k] : in.bytes();
}

void must_not_tell(const std::optional<std::vector<tensor_value>>& got) {
  if (!got) return;
  for (const tensor_value& v : *got) {
    if (v.type() == text)
      for (const std::string& t : v.texts()) must(t.find(secret) == t.npos, "nothing outside of the folder is read");
    else if (v.type() == dtype::float32)
      for (const float f : std::as_const(v).values<float>()) must(f != 12345, "nothing outside of the folder is read");
  }
}

void call_one(source& in) {
  static const std::string root = scene::the().root().string();
  static fed_node save("SaveV2", {text, text, text, dtype::float32, dtype::float32}, {}, root);
  static fed_node restore("RestoreV2", {text, text, text}, {{"dtypes", std::vector<data_type>(2, data_type::float32)}}, root);
  static fed_node old_restore("RestoreSlice", {text, text, text}, {{"dt", data_type::float32}}, root);
  static fed_node merge("MergeV2Checkpoints", {text, text}, {}, root);
  static fed_node write("WriteFile", {text, text}, {}, root), read("ReadFile", {text}, {}, root), match("MatchingFiles", {text}, {}, root);
  switch (in.byte() % 8) {
    case 0: {
      const std::string name = name_from(in), contents = in.bytes();
      if (!write.run({tensor_value(name), tensor_value(contents)})) break;
      const auto got = read.run({tensor_value(name)});
      must(got && (*got)[0].texts()[0] == contents, "what was written is read");
      break;
    }
    case 1: must_not_tell(read.run({tensor_value(name_from(in))})); break;
    case 2: {
      const std::string prefix = name_from(in);
      const texts names{in.bytes(), in.bytes()}, slices{in.bytes(), in.bytes()};
      const auto value = [&] {
        shape extent;
        for (unsigned rank = in.byte() % 3; rank > 0; --rank) extent.push(in.byte() % 4);
        tensor_value made(dtype::float32, extent);
        for (float& f : made.values<float>()) f = static_cast<float>(in.byte());
        return made;
      };
      const tensor_value first = value(), second = value();
      if (!save.run({tensor_value(prefix), tensor_value(names), tensor_value(slices), first, second})) break;
      const auto got = restore.run({tensor_value(prefix), tensor_value(names), tensor_value(slices)});
      must(got.has_value(), "what was saved can be restored");
      must(are_same((*got)[0], first) && are_same((*got)[1], second), "what was saved is restored");
      break;
    }
    case 3: {
      const std::string prefix = name_from(in);
      const texts names{in.bytes(), "t"}, slices{in.bytes(), ""};
      must_not_tell(restore.run({tensor_value(prefix), tensor_value(names), tensor_value(slices)}));
      break;
    }
    case 4: {
      const std::string first = name_from(in), second = name_from(in);
      merge.run({tensor_value(texts{first, second}), tensor_value(name_from(in))});
      break;
    }
    case 5: must_not_tell(old_restore.run({tensor_value(name_from(in)), tensor_value(in.bytes()), tensor_value(in.bytes())})); break;
    case 6: {
      const auto got = match.run({tensor_value(name_from(in))});
      if (!got) break;
      for (const std::string& name : (*got)[0].texts()) {
        const std::string path = fs::weakly_canonical(fs::path(root) / name).string();
        must(path.starts_with(root + "/") || path == root, "a name that is found is within the folder");
      }
      break;
    }
    default: {
      // A reader keeps its files between calls, so it is new.
      const char* kinds[]{"TextLineReaderV2", "TFRecordReaderV2", "WholeFileReaderV2"};
      graph g;
      const auto scope = g.as_default();
      const output name = placeholder(text, shape{});
      const output queue = call_operator(g, "FIFOQueueV2", {}, {{"component_types", std::vector<data_type>{data_type::string}}}).result();
      const output reader = call_operator(g, kinds[in.byte() % 3], {}).result();
      const graph_operation put = call_operator(g, "QueueEnqueueV2", {queue, name}), close = call_operator(g, "QueueCloseV2", {queue});
      const graph_operation take = call_operator(g, "ReaderReadUpToV2", {reader, queue, tensor_literal(std::int64_t{100})});
      session_options options;
      options.file_root = root;
      options.operation_timeout_in_ms = 1000;
      options.memory_limit_in_bytes = 4 << 20;
      try {
        graph_session s(g, options);
        s.run(put, {{name, name_from(in)}});
        s.run(close);
        must_not_tell(s.run(take.outputs()));
      } catch (const error& e) {
        must(e.what()[0] != '\0', "an error says something");
      }
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  scene& s = scene::the();
  static const bool is_filled = (s.fill(), true);
  static_cast<void>(is_filled);
  s.begin();
  source in({reinterpret_cast<const char*>(data), size});
  for (int calls = 0; calls < 12 && !in.is_empty(); ++calls) call_one(in);
  s.must_be_untouched();
  return 0;
}
