#pragma once
// Implementation of keys.hpp.

#include <leat/cluster/transport/keys.hpp>
#include <leat/core/descriptor.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zmq.h>

#include <array>
#include <cerrno>
#include <fstream>
#include <sstream>
#include <string_view>
#include <system_error>

namespace leat::transport {

LEAT_FUNCTION key_pair generate_keys() {
  std::array<char, 41> open{}, secret{};
  if (::zmq_curve_keypair(open.data(), secret.data()) != 0) throw unimplemented("this ZeroMQ was built without CURVE: no keys can be made");
  return {open.data(), secret.data()};
}

LEAT_FUNCTION bool is_key(const std::string& text) {
  constexpr std::string_view letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
  std::array<std::uint8_t, 32> bytes{};
  return text.size() == 40 && text.find_first_not_of(letters) == std::string::npos &&
         ::zmq_z85_decode(bytes.data(), text.c_str()) != nullptr;
}

namespace detail {
LEAT_FUNCTION void write_new_file(const std::filesystem::path& path, std::string_view text, mode_t mode) {
  const descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode));
  if (!file && errno == EEXIST) throw already_exists(path.string() + ": exists already; keys are not overwritten");
  const bool is_written =
      file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) && ::fsync(file.get()) == 0;
  if (is_written) return;
  const int why = errno;
  if (file) ::unlink(path.c_str());
  throw failed_precondition(path.string() + ": cannot be written: " + std::generic_category().message(why));
}

// The keys of a file, indexed by the word before each key.
LEAT_FUNCTION std::multimap<std::string, std::string> read_key_lines(const std::filesystem::path& path) {
  std::ifstream in(path);
  if (!in || std::filesystem::is_directory(path)) throw not_found(path.string() + ": cannot be opened");
  std::multimap<std::string, std::string> found;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    if (number > 100000 || line.size() > 1000) throw data_loss(path.string() + ": too long for a file of keys");
    std::istringstream words(line);
    std::string word, key, more;
    if (!(words >> word) || word[0] == '#') continue;
    if (!(words >> key) || (words >> more) || (word != "public" && word != "secret") || !is_key(key))
      throw data_loss(path.string() + ":" + std::to_string(number) + ": expected \"public\" or \"secret\" and a key of 40 characters");
    found.emplace(word, key);
  }
  return found;
}
}  // namespace detail

LEAT_FUNCTION void write_keys(const std::filesystem::path& path, const key_pair& keys) {
  const std::string open = "public " + keys.public_key + "\n";
  detail::write_new_file(path, "# The secret key of one process: give it to nobody.\n" + open + "secret " + keys.secret_key + "\n", 0600);
  auto beside = path;
  beside += ".public";
  try {
    detail::write_new_file(beside, open, 0644);
  } catch (...) {
    ::unlink(path.c_str());  // a partial result would block the next attempt
    throw;
  }
}

LEAT_FUNCTION key_pair read_keys(const std::filesystem::path& path) {
  const auto found = detail::read_key_lines(path);
  if (found.count("public") != 1 || found.count("secret") != 1) throw data_loss(path.string() + ": expected one public and one secret key");
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || (status.st_mode & 077) != 0)
    throw failed_precondition(path.string() + ": others than its owner may read the secret key; chmod 600 it, or make new keys");
  const key_pair keys{found.find("public")->second, found.find("secret")->second};
  std::array<char, 41> derived{};
  if (::zmq_curve_public(derived.data(), keys.secret_key.c_str()) != 0 || keys.public_key != derived.data())
    throw data_loss(path.string() + ": the two keys do not belong together");
  return keys;
}

LEAT_FUNCTION std::vector<std::string> read_public_keys(const std::filesystem::path& path) {
  std::vector<std::string> keys;
  for (const auto& [word, key] : detail::read_key_lines(path))
    if (word == "public") keys.push_back(key);
  return keys;
}

}  // namespace leat::transport
