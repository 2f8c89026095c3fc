#pragma once
// Tables of comma-separated values, read in one pass: rows become tuples whose types state what the columns contain. A number is parsed in
// place, by std::from_chars unless it is a short decimal; fields in quotes may contain delimiters, line ends and doubled quotes. Memory
// grows with the longest row. Source: RFC 4180; empty lines are skipped, and lines may end with "\n", "\r\n" or "\r", as TensorFlow's
// `CsvDataset` reads them.

#include <leat/core/decimal.hpp>
#include <leat/core/dtype.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/regular_file.hpp>
#include <leat/io/short_decimal.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::io {

/// Options for reading a table.
struct csv_options {
  char delimiter = ',';  // between two fields
  /// Whether the first row contains the names of the columns.
  bool header = true;
  /// The columns to read, by name, in this order; empty for all. Needs a header.
  std::vector<std::string> columns{};
  /// The value of an empty field if a number is expected; without it such a field is an error.
  std::optional<double> empty{};
};

namespace detail {

/// The number of a row's fields that a component of a tuple takes: one for a number or string, N for std::array<T, N>.
template <class T>
struct csv_fields {
  static_assert(std::is_arithmetic_v<T> || std::is_same_v<T, std::string>,
                "a column of a table is a number, bool or std::string; several columns of one type are a std::array");
  static constexpr std::size_t count = 1;
};
template <class T, std::size_t N>
struct csv_fields<std::array<T, N>> {
  static constexpr std::size_t count = N * csv_fields<T>::count;
};

using leat::detail::is_below_one;

}  // namespace detail

/// Reads the rows of a table.
class csv_reader {
 public:
  /// Opens a file and reads its header. Errors: not_found if it cannot be opened, or a column of the options does not exist (the message
  /// lists the existing ones); failed_precondition for a pipe; invalid_argument for a delimiter that is a quote or line end; data_loss if
  /// the header is missing or not closed.
  explicit csv_reader(const std::filesystem::path& path, csv_options options = {}, std::size_t buffer_bytes = std::size_t{1} << 18);

  /// Reads the next row; returns false at the end. Components are numbers, bool (0, 1, true, false), std::string, or std::array of these,
  /// which takes as many columns as it has elements. A number that is too small for its type becomes a denormal or 0.
  /// Errors: data_loss, naming file, line and column, for a field that does not have its component's type or is beyond its range, for
  /// another number of fields, a quote that is not closed, and a file that cannot be read. After an error the next call continues with the
  /// next row, after the next line end outside of quotes.
  template <class... Ts>
  bool next(std::tuple<Ts...>& row) {
    constexpr std::size_t wanted = (detail::csv_fields<Ts>::count + ... + 0);
    static_assert(wanted > 0, "a row has at least one column");
    wanted_ = wanted;
    for (;;) {
      if (!begin_row()) return false;
      try {
        if (selected_.empty()) {
          std::apply([&](auto&... component) { (read_component(component), ...); }, row);
          if (*at_ != '\n' && *at_ != '\r') fail_count();
        } else {
          read_fields();
          if (selected_.size() != wanted) fail_selection();
          field_ = 0;
          std::apply([&](auto&... component) { (convert_component(component), ...); }, row);
        }
        end_row();
        return true;
      } catch (const cut_off&) {  // the buffer ends within the row
        more();
      } catch (...) {
        pass_row();
        throw;
      }
    }
  }

  /// The names of the columns from the header; empty without a header.
  const std::vector<std::string>& columns() const { return names_; }
  /// The number of the line, from 1, on which the last row that was read begins.
  std::uint64_t line() const { return row_line_; }
  /// The position of the next row, in bytes and lines, for `seek`.
  std::uint64_t offset() const { return offset_ + static_cast<std::uint64_t>(row_ - buffer_.get()); }
  std::uint64_t next_line() const { return next_line_; }
  /// Continues with the row at a position that `offset` and `next_line` returned. Errors: out_of_range beyond the end of the file.
  void seek(std::uint64_t offset, std::uint64_t next_line);
  const std::filesystem::path& path() const { return path_; }

 private:
  struct cut_off {};  // is always caught within this class

  bool begin_row();
  void end_row();
  void pass_row();
  bool pass_field();
  void pass_quoted();
  void more();
  void read_fields();
  std::string_view read_field();
  std::string place(std::size_t field) const;
  [[noreturn]] void fail(const std::string& what) const;
  [[noreturn]] void fail_field(std::string_view text, dtype wanted, bool beyond) const;
  [[noreturn]] void fail_count();
  [[noreturn]] void fail_selection() const;

  // ---- fields that are parsed in place ----
  // `at_` is after a field: on a delimiter, "\r" or "\n". Before the first field it is at the beginning of the row.
  void to_next_field() {
    if (field_++ == 0) return;
    if (*at_ != options_.delimiter) fail_count();
    ++at_;
  }
  template <class T, std::size_t N>
  void read_component(std::array<T, N>& values) {
    for (T& value : values) read_component(value);
  }
  void read_component(std::string& value) {
    to_next_field();
    value = read_field();
  }
  template <class T>
    requires std::is_arithmetic_v<T>
  void read_component(T& value) {
    to_next_field();
    const auto ends_at = [&](const char* behind) {
      if (*behind != options_.delimiter && *behind != '\n' && *behind != '\r') return false;
      at_ = behind;
      return true;
    };
    if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double>)
      if (const char* const behind = read_short_decimal(at_, value); behind != nullptr && ends_at(behind)) return;
    if constexpr (!std::is_same_v<T, bool>) {
      const auto [behind, problem] = std::from_chars(at_, end_, value);
      if (problem == std::errc{} && ends_at(behind)) return;
    }
    convert(read_field(), value);
  }

  // ---- fields that were copied ----
  template <class T, std::size_t N>
  void convert_component(std::array<T, N>& values) {
    for (T& value : values) convert_component(value);
  }
  template <class T>
  void convert_component(T& value) {
    const std::size_t column = selected_[field_++];
    const std::string_view text = std::string_view(fields_text_).substr(fields_[column], fields_[column + 1] - fields_[column]);
    const std::size_t position = std::exchange(field_, column + 1);
    if constexpr (std::is_same_v<T, std::string>) value = text;
    else convert(text, value);
    field_ = position;
  }
  template <class T>
  static bool fits(double number) {
    if constexpr (std::is_floating_point_v<T>) return true;
    else
      return number >= static_cast<double>(std::numeric_limits<T>::lowest()) &&
             number < static_cast<double>(std::numeric_limits<T>::max() / 2 + 1) * 2 && number == std::trunc(number);
  }
  template <class T>
  void convert(std::string_view text, T& value) {
    const std::string_view whole = text;
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    if (text.empty() && options_.empty && fits<T>(*options_.empty)) {
      value = static_cast<T>(*options_.empty);
      return;
    }
    if (text.starts_with('+') && !text.starts_with("+-")) text.remove_prefix(1);
    if constexpr (std::is_same_v<T, bool>) {
      if (text == "1" || text == "true" || text == "True" || text == "TRUE") value = true;
      else if (text == "0" || text == "false" || text == "False" || text == "FALSE") value = false;
      else fail_field(whole, dtype::boolean, false);
    } else {
      const auto [behind, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
      const bool is_whole = behind == text.data() + text.size();
      const bool beyond = problem == std::errc::result_out_of_range;
      if constexpr (std::is_floating_point_v<T>) {
        if (beyond && is_whole && detail::is_below_one(text)) {
          double wider = 0;  // may represent a number that rounds to a denormal
          if (std::from_chars(text.data(), text.data() + text.size(), wider).ec != std::errc{}) wider = text.starts_with('-') ? -0.0 : 0.0;
          value = static_cast<T>(wider);
          return;
        }
      }
      if (problem != std::errc{} || !is_whole) fail_field(whole, dtype_of<T>, beyond && is_whole);
    }
  }

  std::filesystem::path path_;
  csv_options options_;
  descriptor file_;
  // The buffer contains the bytes from `offset_` on, and a '\0' after them at `end_`. A line end is added to a last line without one.
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0;
  char *row_ = nullptr, *end_ = nullptr;
  const char* at_ = nullptr;
  std::uint64_t offset_ = 0, row_line_ = 0, next_line_ = 1;
  bool ended_ = false;
  std::size_t field_ = 0, wanted_ = 0;  // fields of the row that were begun; expected fields
  std::uint64_t lines_within_ = 0;      // line ends inside quotes
  std::vector<std::string> names_;
  std::vector<std::size_t> selected_;  // columns; empty means all
  std::string text_, fields_text_;
  std::vector<std::size_t> fields_;  // offsets of the fields in `fields_text_`, and its size
};

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/csv.hpp>
#endif
