// measure_compile [filter]: what the compiler spends on programs that use the library: processor seconds and the
// largest memory of any of its processes, as the kernel counts them for a child and its descendants, and the size of
// the object.

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr const char* usage =
    "measure_compile [options] [filter]\n"
    "Compiles the programs whose name contains the filter, all without one; bare always, the measure of the others.\n"
    "  --compiler NAME   (g++)\n"
    "  --flags FILE      flags, one to a line\n"
    "  --flag=FLAG       one more, as in --flag=-march=native\n"
    "  --sources DIR     where the programs are (benchmarks/compile)\n"
    "  --json FILE       write the results there (compile.json)\n"
    "  --repeat N        keep the best of N (2)\n";

constexpr rlim_t most_seconds = 400;  // of processor time for one compilation; one that needs more has failed

struct program {
  std::string name;
  std::string source;
  std::vector<std::string> flags;
  std::string optimization = "-O2";
  std::vector<std::string> precompiled{};  // headers that are compiled beforehand, not counted
};

struct cost {
  double seconds = std::numeric_limits<double>::max();
  double megabytes = std::numeric_limits<double>::max();
  double object_kilobytes = 0;
};

struct options {
  std::string compiler = "g++";
  std::string sources = "benchmarks/compile";
  std::string json = "compile.json";
  std::string filter;
  std::vector<std::string> flags;
  int repeat = 2;
};

std::vector<program> programs() {
  std::vector<program> all{{"bare", "bare.cpp", {"-DXTENSOR_USE_XSIMD"}},
                           {"hello_eigen", "hello_eigen.cpp", {}},
                           {"hello_linear_regression", "hello.cpp", {}},
                           {"network", "network.cpp", {}}};
  const std::vector<std::pair<std::string, std::vector<std::string>>> shapes{
      {"chain", {}}, {"shared", {"-DSHARED"}}, {"chain_gradient", {"-DGRADIENT"}}};
  for (const auto& [shape, flags] : shapes)
    for (int nodes : {10, 100, 300, 1000}) {
      all.push_back({shape + "_" + std::to_string(nodes), "graph.cpp", flags});
      all.back().flags.push_back("-DNODES=" + std::to_string(nodes));
    }
  const std::vector<std::string> planned{"-DPLANNED", "-DLEAT_SEPARATE_COMPILATION"};
  const auto with = [](std::vector<std::string> flags, const std::string& more) {
    flags.push_back(more);
    return flags;
  };
  for (int layers : {2, 8, 24}) all.push_back({"deep_" + std::to_string(layers), "deep.cpp", {"-DLAYERS=" + std::to_string(layers)}});
  for (int layers : {2, 8, 24, 96, 200})
    all.push_back({"deep_" + std::to_string(layers) + "_planned", "deep.cpp", with(planned, "-DLAYERS=" + std::to_string(layers))});
  all.push_back({"deep_24_debug", "deep.cpp", {"-DLAYERS=24"}, "-O0"});
  all.push_back({"deep_24_planned_debug", "deep.cpp", with(planned, "-DLAYERS=24"), "-O0"});
  for (int steps : {1, 4, 8}) all.push_back({"recurrent_" + std::to_string(steps), "recurrent.cpp", {"-DSTEPS=" + std::to_string(steps)}});
  for (int steps : {1, 4, 8, 24})
    all.push_back({"recurrent_" + std::to_string(steps) + "_planned", "recurrent.cpp", with(planned, "-DSTEPS=" + std::to_string(steps))});
  all.push_back({"recurrent_24_planned_3_lists", "recurrent.cpp", with(with(planned, "-DSTEPS=24"), "-DLISTS=3")});
  const std::string separate = "-DLEAT_SEPARATE_COMPILATION", typed_header = "leat/leat.hpp";
  const std::vector<std::string> graph_headers{typed_header, "leat/graphs.hpp", "leat/session/graph_session.hpp"};
  for (const std::string name : {"leat", "data", "summary", "planned", "graphs", "checkpoint", "supervise", "cluster"}) {
    const std::string header = "-DHEADER=<leat/" + name + ".hpp>";
    all.push_back({"header_" + name, "header.cpp", {header}});
    all.push_back({"header_" + name + "_runtime", "header.cpp", {header, separate}});
  }
  all.push_back({"hello_precompiled", "hello.cpp", {}, "-O2", {typed_header}});
  all.push_back({"network_precompiled", "network.cpp", {}, "-O2", {typed_header}});
  all.push_back({"hello_runtime", "hello.cpp", {separate}});
  all.push_back({"network_runtime", "network.cpp", {separate}});
  all.push_back({"deep_24_runtime", "deep.cpp", {"-DLAYERS=24", separate}});
  all.push_back({"hello_runtime_precompiled", "hello.cpp", {separate}, "-O2", {typed_header}});
  all.push_back({"network_runtime_precompiled", "network.cpp", {separate}, "-O2", {typed_header}});
  all.push_back({"graph_session", "graph_session.cpp", {}});
  all.push_back({"graph_session_debug", "graph_session.cpp", {}, "-O0"});
  all.push_back({"graph_session_runtime", "graph_session.cpp", {separate}});
  all.push_back({"graph_session_runtime_debug", "graph_session.cpp", {separate}, "-O0"});
  all.push_back({"graph_session_precompiled", "graph_session.cpp", {separate}, "-O2", graph_headers});
  all.push_back({"shared_400", "graph.cpp", {"-DSHARED", "-DNODES=400"}});
  all.push_back({"lists_40", "lists.cpp", {}});
  all.push_back({"vectors_40", "lists.cpp", {"-DVECTORS"}});
  all.push_back({"shared_400_debug", "graph.cpp", {"-DSHARED", "-DNODES=400", "-g"}});
  return all;
}

struct outcome {
  bool succeeded = false;
  rusage used{};
};

// Runs the compiler; what it says goes into a file.
outcome run_compiler(std::vector<std::string> words, const std::filesystem::path& messages) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);

  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("cannot start a process");
  if (child == 0) {
    const rlimit limit{most_seconds, most_seconds};
    setrlimit(RLIMIT_CPU, &limit);
    const int file = open(messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(file, STDERR_FILENO);
    execvp(arguments[0], arguments.data());
    std::perror(arguments[0]);
    _exit(127);
  }
  outcome result;
  int status = 0;
  wait4(child, &status, 0, &result.used);
  result.succeeded = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  return result;
}

// The compiler's cost, or an exception with the beginning of what it said.
cost compile(const options& settings, const program& what) {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / ("measure_compile." + std::to_string(getpid()));
  fs::create_directories(folder);
  const fs::path object = folder / "program.o", messages = folder / "messages";

  std::vector<std::string> words{settings.compiler, "-std=c++20", what.optimization};
  words.insert(words.end(), settings.flags.begin(), settings.flags.end());
  words.insert(words.end(), what.flags.begin(), what.flags.end());
  outcome last{.succeeded = true};
  if (!what.precompiled.empty()) {
    const fs::path header = folder / "precompiled.hpp";
    std::ofstream file(header);
    for (const std::string& name : what.precompiled) file << "#include <" << name << ">\n";
    file.close();
    auto header_words = words;
    header_words.insert(header_words.end(), {"-x", "c++-header", header.string(), "-o", header.string() + ".gch"});
    last = run_compiler(std::move(header_words), messages);
    words.insert(words.end(), {"-include", header.string()});
  }
  words.insert(words.end(), {"-c", settings.sources + "/" + what.source, "-o", object.string()});
  if (last.succeeded) last = run_compiler(std::move(words), messages);

  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  if (last.succeeded) {
    const cost result{seconds(last.used.ru_utime) + seconds(last.used.ru_stime), static_cast<double>(last.used.ru_maxrss) * 1024 / 1e6,
                      static_cast<double>(fs::file_size(object)) / 1e3};
    fs::remove_all(folder);
    return result;
  }
  std::string said, line;
  std::ifstream file(messages);
  for (int i = 0; i < 5 && std::getline(file, line); ++i) said += "  " + line.substr(0, 200) + "\n";
  fs::remove_all(folder);
  throw std::runtime_error("does not compile:\n" + said);
}

cost best_of(const options& settings, const program& what) {
  cost best;
  for (int i = 0; i < settings.repeat; ++i) {
    const cost once = compile(settings, what);
    best = {std::min(best.seconds, once.seconds), std::min(best.megabytes, once.megabytes), once.object_kilobytes};
  }
  return best;
}

options parse(int count, char** arguments) {
  options settings;
  for (int i = 1; i < count; ++i) {
    const std::string argument = arguments[i];
    if (argument[0] != '-') {
      settings.filter = argument;
      continue;
    }
    if (constexpr std::string_view one = "--flag="; argument.starts_with(one)) {
      settings.flags.push_back(argument.substr(one.size()));
      continue;
    }
    if (i + 1 == count) throw std::invalid_argument(usage);
    const std::string value = arguments[++i];
    if (argument == "--compiler") {
      settings.compiler = value;
    } else if (argument == "--sources") {
      settings.sources = value;
    } else if (argument == "--json") {
      settings.json = value;
    } else if (argument == "--repeat") {
      settings.repeat = std::max(1, std::stoi(value));
    } else if (argument == "--flags") {
      std::ifstream file(value);
      if (!file) throw std::runtime_error("cannot read " + value);
      for (std::string line; std::getline(file, line);)
        if (!line.empty()) settings.flags.push_back(line);
    } else {
      throw std::invalid_argument(usage);
    }
  }
  return settings;
}

}  // namespace

int main(int count, char** arguments) try {
  if (count == 2 && std::strcmp(arguments[1], "--help") == 0) return std::fputs(usage, stdout), 0;
  const options settings = parse(count, arguments);

  auto list = nlohmann::ordered_json::array();
  cost bare;
  bool failed = false;
  std::printf("%-26s %9s %9s %12s %12s %10s\n", "program", "seconds", "MB", "time/bare", "memory/bare", "object kB");
  for (const program& what : programs()) {
    if (what.name != "bare" && what.name.find(settings.filter) == std::string::npos) continue;
    try {
      const cost spent = best_of(settings, what);
      if (what.name == "bare") bare = spent;
      std::printf("%-26s %9.2f %9.0f %12.2f %12.2f %10.0f\n", what.name.c_str(), spent.seconds, spent.megabytes,
                  spent.seconds / bare.seconds, spent.megabytes / bare.megabytes, spent.object_kilobytes);
      list.push_back({{"case", what.name},
                      {"seconds", spent.seconds},
                      {"megabytes", spent.megabytes},
                      {"ratio", spent.seconds / bare.seconds},
                      {"memory_ratio", spent.megabytes / bare.megabytes},
                      {"object_kilobytes", spent.object_kilobytes}});
    } catch (const std::runtime_error& error) {
      std::fprintf(stderr, "%s %s", what.name.c_str(), error.what());
      failed = true;
    }
    std::fflush(stdout);
  }
  std::ofstream file(settings.json);
  if (!(file << list.dump(2) << '\n')) throw std::runtime_error("cannot write " + settings.json);
  return failed ? 1 : 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "measure_compile: %s\n", error.what());
  return 2;
}
