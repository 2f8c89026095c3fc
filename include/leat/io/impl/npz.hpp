#pragma once
// Implementation of npz.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/inflate.hpp>
#include <leat/io/npz.hpp>

#include <algorithm>

namespace leat::io {

namespace detail {

// Numbers of a ZIP archive are little endian.
inline std::uint32_t zip_number(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint32_t number = 0;
  for (std::size_t k = width; k-- > 0;) number = number << 8 | static_cast<unsigned char>(bytes[at + k]);
  return number;
}
inline void put_zip_number(std::string& to, std::size_t number, std::size_t width) {
  for (std::size_t k = 0; k < width; ++k) to += static_cast<char>(number >> 8 * k & 0xff);
}
inline constexpr std::size_t zip_local_bytes = 30, zip_entry_bytes = 46, zip_end_bytes = 22;
inline constexpr std::string_view zip_local{"PK\3\4"}, zip_entry{"PK\1\2"}, zip_end{"PK\5\6"};

}  // namespace detail

LEAT_FUNCTION npz::npz(std::string bytes) : bytes_(std::move(bytes)) {
  using namespace detail;
  const std::string_view all = bytes_;
  const auto number = [&](std::size_t at, std::size_t width) -> std::size_t { return zip_number(all, at, width); };
  // The end record comes last, followed only by a comment of up to 65,535 bytes.
  std::size_t end = all.npos;
  for (std::size_t comment = 0; comment <= 0xffff && comment + zip_end_bytes <= all.size(); ++comment) {
    const std::size_t at = all.size() - zip_end_bytes - comment;
    if (all.substr(at).starts_with(zip_end) && number(at + 20, 2) == comment) {
      end = at;
      break;
    }
  }
  if (end == all.npos) throw data_loss("NPZ: no ZIP archive, or cut off: its directory is missing");
  const std::size_t count = number(end + 10, 2), length = number(end + 12, 4), begin = number(end + 16, 4);
  if (number(end + 4, 2) != 0 || number(end + 6, 2) != 0 || number(end + 8, 2) != count)
    throw unimplemented("NPZ: an archive of several parts");
  if (count == 0xffff || begin == 0xffffffff) throw unimplemented("NPZ: a ZIP archive beyond 4 GB");
  if (begin > end || length > end - begin) throw data_loss("NPZ: the directory is beyond the end");
  std::size_t at = begin;
  for (std::size_t k = 0; k < count; ++k) {
    const auto fail = [&](const char* what) { throw data_loss("NPZ: entry " + std::to_string(k) + " of the directory " + what); };
    if (begin + length - at < zip_entry_bytes || !all.substr(at).starts_with(zip_entry)) fail("is damaged");
    entry e;
    e.flags = static_cast<unsigned>(number(at + 8, 2));
    e.method = static_cast<unsigned>(number(at + 10, 2));
    e.checksum = zip_number(all, at + 16, 4);
    e.packed = number(at + 20, 4);
    e.size = number(at + 24, 4);
    const std::size_t name_bytes = number(at + 28, 2), more = number(at + 30, 2) + number(at + 32, 2), local = number(at + 42, 4);
    if (begin + length - at - zip_entry_bytes < name_bytes + more) fail("is cut off");
    if (e.packed == 0xffffffff || e.size == 0xffffffff || local == 0xffffffff) throw unimplemented("NPZ: an entry beyond 4 GB");
    std::string name(all.substr(at + zip_entry_bytes, name_bytes));
    at += zip_entry_bytes + name_bytes + more;
    if (local > begin || begin - local < zip_local_bytes || !all.substr(local).starts_with(zip_local)) fail("points to no file");
    e.at = local + zip_local_bytes + number(local + 26, 2) + number(local + 28, 2);
    if (e.at > begin || e.packed > begin - e.at) fail("goes beyond the end");
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    if (!entries_.emplace(std::move(name), e).second) fail("has the name of another one");
  }
}

LEAT_FUNCTION std::vector<std::string> npz::names() const {
  std::vector<std::string> list;
  for (const auto& [name, e] : entries_) list.push_back(name);
  return list;
}

LEAT_FUNCTION tensor_proto npz::operator[](std::string_view name) const {
  const std::string shown = detail::in_quotes(std::string(name));
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    std::string known;
    for (const auto& [other, e] : entries_) known += (known.empty() ? "" : ", ") + detail::in_quotes(other);
    throw not_found("NPZ: has no array " + shown + (known.empty() ? "; it is empty" : "; there are " + known));
  }
  const entry& e = found->second;
  try {
    if ((e.flags & 1) != 0) throw unimplemented("is encrypted");
    if (e.method != 0 && e.method != 8)
      throw unimplemented("compression method " + std::to_string(e.method) + "; 0 and 8 (deflate) are read");
    std::string_view file = std::string_view(bytes_).substr(e.at, e.packed);
    std::string unpacked;
    if (e.method == 8) {
      // Deflate expands a byte to at most 1,032 bytes.
      if (e.size / 1100 > e.packed) throw data_loss("the directory says more bytes than the file can hold");
      file = unpacked = inflate(file, e.size);
    }
    if (file.size() != e.size) throw data_loss(std::to_string(file.size()) + " bytes where the directory says " + std::to_string(e.size));
    if (crc32(file) != e.checksum) throw data_loss("is damaged: its checksum is another");
    return read_npy(file);
  } catch (const error& problem) {
    leat::detail::rethrow_saying(problem, "NPZ: array " + shown + ": " + problem.what());
  }
}

LEAT_FUNCTION std::string write_npz(const std::map<std::string, tensor_proto>& arrays) {
  using namespace detail;
  std::string all, directory;
  if (arrays.size() >= 0xffff) throw invalid_argument("NPZ: more than 65,534 arrays");
  for (const auto& [name, array] : arrays) {
    if (name.size() > 0xff00 || name.find_first_of(std::string_view("\n\r\0", 3)) != name.npos || name.find("..") != name.npos)
      throw invalid_argument("NPZ: " + in_quotes(name) + " is no name of an array: it has a line end, a zero or \"..\", or is too long");
    const std::string file = write_npy(array), name_in_zip = name + ".npy";
    const std::size_t local = all.size();
    // The fields that both headers have: version, flags (names are UTF-8), method, time, date, checksum, sizes, lengths of the name and of
    // the extra field.
    std::string common;
    for (const auto& [number, width] : std::initializer_list<std::pair<std::size_t, std::size_t>>{{20, 2},
                                                                                                  {0x800, 2},
                                                                                                  {0, 2},
                                                                                                  {0, 2},
                                                                                                  {0x21, 2},
                                                                                                  {crc32(file), 4},
                                                                                                  {file.size(), 4},
                                                                                                  {file.size(), 4},
                                                                                                  {name_in_zip.size(), 2},
                                                                                                  {0, 2}})
      put_zip_number(common, number, width);
    all.append(zip_local).append(common).append(name_in_zip).append(file);
    if (all.size() > max_file_bytes) throw invalid_argument("NPZ: more than 2 GB");
    directory += zip_entry;
    put_zip_number(directory, 20, 2);
    directory += common;
    directory.append(10, '\0');  // no comment, part 0, no attributes
    put_zip_number(directory, local, 4);
    directory += name_in_zip;
  }
  const std::size_t begin = all.size();
  all.append(directory).append(zip_end);
  for (const auto& [number, width] : std::initializer_list<std::pair<std::size_t, std::size_t>>{
           {0, 2}, {0, 2}, {arrays.size(), 2}, {arrays.size(), 2}, {directory.size(), 4}, {begin, 4}, {0, 2}})
    put_zip_number(all, number, width);
  return all;
}

}  // namespace leat::io
