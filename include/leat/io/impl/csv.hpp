#pragma once
// Implementation of csv.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/csv.hpp>
#include <leat/proto/in_quotes.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

namespace leat::io {

LEAT_FUNCTION csv_reader::csv_reader(const std::filesystem::path& path, csv_options options, std::size_t buffer_bytes)
    : path_(path), options_(std::move(options)), capacity_(std::max<std::size_t>(buffer_bytes, 16)) {
  if (std::string_view("\"\r\n\0", 4).find(options_.delimiter) != std::string_view::npos)
    throw invalid_argument(path.string() + ": the delimiter of a table is no quote, line end or zero");
  file_ = detail::open_to_read(path);
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
  row_ = end_ = buffer_.get();
  *end_ = '\0';
  at_ = row_;
  more();
  if (std::string_view(row_, static_cast<std::size_t>(end_ - row_)).starts_with("\xef\xbb\xbf")) row_ += 3;  // a byte-order mark
  if (!options_.header) {
    if (!options_.columns.empty()) throw invalid_argument(path.string() + ": columns have no names without a header");
    return;
  }
  if (!begin_row()) throw data_loss(path.string() + ": has no header line");
  for (;;) {
    try {
      read_fields();
      end_row();
      break;
    } catch (const cut_off&) {
      more();
    }
  }
  for (std::size_t k = 0; k + 1 < fields_.size(); ++k) names_.push_back(fields_text_.substr(fields_[k], fields_[k + 1] - fields_[k]));
  for (const std::string& name : options_.columns) {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found == names_.end()) {
      std::string known;
      for (const std::string& other : names_) known += (known.empty() ? "" : ", ") + proto::detail::in_quotes(other);
      throw not_found(path.string() + ": has no column " + proto::detail::in_quotes(name) + "; there are " + known);
    }
    selected_.push_back(static_cast<std::size_t>(found - names_.begin()));
  }
}

// ---- rows -----------------------------------------------------------------------------------------------------------

// Goes to the next row that is not empty; returns false at the end.
LEAT_FUNCTION bool csv_reader::begin_row() {
  for (;;) {
    if (end_ - row_ < 2 && !ended_) {
      more();
    } else if (row_ == end_) {
      return false;
    } else if (*row_ == '\n') {
      ++row_, ++next_line_;
    } else if (*row_ == '\r') {
      row_ += row_[1] == '\n' ? 2 : 1, ++next_line_;
    } else {
      break;
    }
  }
  at_ = row_;
  field_ = 0;
  row_line_ = next_line_;
  lines_within_ = 0;
  return true;
}

// Ends a row; `at_` must be at its line end.
LEAT_FUNCTION void csv_reader::end_row() {
  if (*at_ == '\r') {
    if (at_ + 1 == end_ && !ended_) throw cut_off{};
    if (at_[1] == '\n') ++at_;
  }
  row_ = buffer_.get() + (at_ + 1 - buffer_.get());
  next_line_ += 1 + lines_within_;
}

// Skips a row with an error, from its beginning, because its quotes may contain line ends.
LEAT_FUNCTION void csv_reader::pass_row() {
  for (;;) {
    try {
      at_ = row_;
      lines_within_ = 0;
      while (pass_field()) ++at_;
      if (at_ != end_) return end_row();
      next_line_ += lines_within_;
      row_ = end_;
      return;
    } catch (const cut_off&) {
      more();
    }
  }
}

// Skips the field at `at_`, valid or not; returns whether a delimiter follows.
LEAT_FUNCTION bool csv_reader::pass_field() {
  const auto at_end = [&] {
    if (at_ == end_ && !ended_) throw cut_off{};
    return at_ == end_;
  };
  if (!at_end() && *at_ == '"') {
    do {
      ++at_;
      pass_quoted();
      if (at_end()) return false;
      ++at_;
    } while (!at_end() && *at_ == '"');
  }
  while (!at_end() && *at_ != options_.delimiter && *at_ != '\n' && *at_ != '\r') ++at_;
  return !at_end() && *at_ == options_.delimiter;
}

// Goes to the next quote, and counts line ends.
LEAT_FUNCTION void csv_reader::pass_quoted() {
  for (; *at_ != '"' && at_ != end_; ++at_) lines_within_ += *at_ == '\n' || (*at_ == '\r' && at_[1] != '\n');
}

// Reads more of the file. The row is then parsed again, from the beginning of the buffer.
LEAT_FUNCTION void csv_reader::more() {
  const std::size_t kept = static_cast<std::size_t>(end_ - row_);
  offset_ += static_cast<std::uint64_t>(row_ - buffer_.get());
  if (kept + 2 > capacity_ / 2) {  // a row that fills the buffer
    auto larger = std::make_unique_for_overwrite<char[]>(2 * capacity_);
    std::memcpy(larger.get(), row_, kept);
    buffer_ = std::move(larger);
    capacity_ *= 2;
  } else {
    std::memmove(buffer_.get(), row_, kept);
  }
  row_ = buffer_.get();
  end_ = row_ + kept;
  at_ = row_;
  field_ = 0;
  lines_within_ = 0;
  *end_ = '\0';
  const std::size_t count =
      detail::read_at(file_, path_, std::span(end_, capacity_ - kept - 2), offset_ + kept);  // room for a line end and '\0'
  end_ += count;
  if (count == 0) {
    ended_ = true;
    if (kept > 0 && end_[-1] != '\n') *end_++ = '\n';
  }
  *end_ = '\0';
}

LEAT_FUNCTION void csv_reader::seek(std::uint64_t offset, std::uint64_t next_line) {
  struct stat status;
  if (::fstat(file_.get(), &status) != 0 || offset > static_cast<std::uint64_t>(status.st_size) + 1)  // 1: a line end that was added
    throw out_of_range(path_.string() + ": has no byte " + std::to_string(offset));
  offset_ = std::min(offset, static_cast<std::uint64_t>(status.st_size));
  row_ = end_ = buffer_.get();
  *end_ = '\0';
  at_ = row_;
  next_line_ = next_line;
  ended_ = false;
}

// ---- fields ---------------------------------------------------------------------------------------------------------

// Reads the field at `at_`, without quotes, and moves `at_` after it. The result is valid until the next call.
LEAT_FUNCTION std::string_view csv_reader::read_field() {
  const auto must_go_on = [&](const char* at) {
    if (at != end_) return;
    if (!ended_) throw cut_off{};
    fail("a quote is not closed");
  };
  if (*at_ != '"') {
    const char* at = at_;
    while (*at != options_.delimiter && *at != '\n' && *at != '\r') {
      if (*at == '\0') {
        if (at == end_) must_go_on(at);
        fail("a zero byte: this is no text");
      }
      ++at;
    }
    return {std::exchange(at_, at), at};
  }
  text_.clear();
  for (++at_;;) {
    const char* const from = at_;
    pass_quoted();
    must_go_on(at_);
    text_.append(from, at_++);
    if (*at_ == '"') {
      text_ += *at_++;
      continue;
    }
    if (*at_ == options_.delimiter || *at_ == '\n' || *at_ == '\r') return text_;
    if (at_ == end_ && !ended_) throw cut_off{};
    fail("text behind a closing quote");
  }
}

// Copies all fields of the row.
LEAT_FUNCTION void csv_reader::read_fields() {
  fields_text_.clear();
  fields_.assign(1, 0);
  for (;;) {
    ++field_;
    fields_text_ += read_field();
    fields_.push_back(fields_text_.size());
    if (*at_ != options_.delimiter) break;
    ++at_;
  }
  if (!names_.empty() && field_ != names_.size())
    throw data_loss(place(0) + "has " + std::to_string(field_) + " fields, the header " + std::to_string(names_.size()));
}

// ---- errors ---------------------------------------------------------------------------------------------------------

LEAT_FUNCTION std::string csv_reader::place(std::size_t field) const {
  std::string text = path_.string() + ":" + std::to_string(row_line_) + ": ";
  if (field == 0) return text;
  text += "column " + std::to_string(field);
  if (field <= names_.size()) text += " (" + proto::detail::in_quotes(names_[field - 1]) + ")";
  return text + ": ";
}
LEAT_FUNCTION void csv_reader::fail(const std::string& what) const { throw data_loss(place(field_) + what); }
LEAT_FUNCTION void csv_reader::fail_field(std::string_view text, dtype wanted, bool beyond) const {
  const std::string shown = proto::detail::in_quotes(std::string(text.substr(0, 40)));
  fail(text.empty() ? "is empty where " + std::string(name_of_dtype(wanted)) + " is expected"
                    : shown + (beyond ? " is beyond the range of " : " is no ") + std::string(name_of_dtype(wanted)));
}
LEAT_FUNCTION void csv_reader::fail_count() {
  std::size_t count = std::min(field_, wanted_);
  if (*at_ == options_.delimiter) {  // more fields than expected
    for (; *at_ == options_.delimiter; ++count) {
      ++at_;
      read_field();
    }
  } else {
    --count;
  }
  throw data_loss(place(0) + "has " + std::to_string(count) + (count == 1 ? " field, " : " fields, ") + std::to_string(wanted_) +
                  " are expected");
}
LEAT_FUNCTION void csv_reader::fail_selection() const {
  throw invalid_argument(path_.string() + ": " + std::to_string(selected_.size()) + " columns were chosen by name, and the rows have " +
                         std::to_string(wanted_) + " in the program");
}

}  // namespace leat::io
