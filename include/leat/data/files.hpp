#pragma once
// Datasets of files: tables (CSV), lines of text, records and the examples in them (TFRecord), arrays (NPY, NPZ, IDX). Rows, lines and
// records are read as they are needed, one file after the other, and a state has the position in the file; arrays are read whole.

#include <leat/data/arrays.hpp>
#include <leat/data/dataset.hpp>
#include <leat/io/csv.hpp>
#include <leat/io/example.hpp>
#include <leat/io/idx.hpp>
#include <leat/io/lines.hpp>
#include <leat/io/npy.hpp>
#include <leat/io/npz.hpp>
#include <leat/io/record.hpp>

#include <array>
#include <concepts>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace leat {

namespace data {

/// One or several files, which are read one after the other.
class file_list {
 public:
  file_list(const std::filesystem::path& path) : paths_{path} {}
  file_list(const char* path) : paths_{path} {}
  file_list(const std::string& path) : paths_{path} {}
  file_list(std::initializer_list<std::filesystem::path> paths) : paths_(paths) {}
  file_list(std::vector<std::filesystem::path> paths) : paths_(std::move(paths)) {}

  const std::vector<std::filesystem::path>& paths() const { return paths_; }
  /// Names without folders, and sizes in bytes, which identify the files in a pipeline's description.
  /// Errors: not_found if a file does not exist.
  std::string description() const;

 private:
  std::vector<std::filesystem::path> paths_;
};

namespace detail {

/// The elements of files, one file after the other. A reader is constructed from a path; `next(to)` reads an element, `offset` is its
/// position in the file, and `save` and `restore` write and read that position. A file that cannot be opened, or not be read beyond some
/// position, yields one error; the next file follows.
template <class Element, class Reader, class Settings>
class files_stage final : public stage<Element> {
 public:
  files_stage(file_list files, Settings settings) : files_(std::move(files)), settings_(std::move(settings)) {}
  void start(std::uint64_t) override {
    file_ = 0;
    reader_.reset();
  }
  bool next(Element& to) override {
    for (; file_ < files_.paths().size(); ++file_, reader_.reset()) {
      std::optional<std::uint64_t> before;
      try {
        if (!reader_) reader_ = std::make_unique<Reader>(files_.paths()[file_], settings_);
        before = reader_->offset();
        if (reader_->next(to)) return true;
      } catch (...) {
        if (!before || reader_->offset() == before) {  // no progress: reading again would fail forever
          ++file_;
          reader_.reset();
        }
        throw;
      }
    }
    return false;
  }
  void save(state_numbers& to) const override {
    to.insert(to.end(), {file_, reader_ != nullptr});
    if (reader_) reader_->save(to);
  }
  void restore(state_reader& from) override {
    const std::uint64_t file = from.take();
    if (file > files_.paths().size()) throw data_loss("the state of a pipeline has more files than it");
    file_ = static_cast<std::size_t>(file);
    if (from.take() == 0) return;
    if (file_ == files_.paths().size()) throw data_loss("the state of a pipeline is within a file behind the last one");
    reader_ = std::make_unique<Reader>(files_.paths()[file_], settings_);
    reader_->restore(from);
  }

 private:
  file_list files_;
  Settings settings_;
  std::size_t file_ = 0;
  std::unique_ptr<Reader> reader_;
};

/// Base of readers of tables' rows and of lines of text, which have the same kind of position.
template <class Reader>
class placed_reader {
 public:
  std::uint64_t offset() const { return reader_.offset(); }
  void save(state_numbers& to) const { to.insert(to.end(), {reader_.offset(), reader_.next_line()}); }
  void restore(state_reader& from) {
    const std::uint64_t offset = from.take();
    reader_.seek(offset, from.take());
  }

 protected:
  template <class... Arguments>
  explicit placed_reader(const Arguments&... arguments) : reader_(arguments...) {}
  Reader reader_;
};

/// The files of a table, and the names in the first readable header, once it has been read.
struct csv_tables {
  io::csv_options options;
  std::vector<std::filesystem::path> paths;
  mutable std::optional<std::vector<std::string>> names{};
};
struct csv_rows : placed_reader<io::csv_reader> {
  csv_rows(const std::filesystem::path& path, const csv_tables& tables) : placed_reader(path, tables.options) { check_names(tables); }
  template <class Row>
  bool next(Row& row) {
    return reader_.next(row);
  }

 private:
  void check_names(const csv_tables& tables) const;
};

struct nothing {};
struct lines : placed_reader<io::line_reader> {
  lines(const std::filesystem::path& path, nothing) : placed_reader(path) {}
  bool next(std::tuple<std::string>& to) {
    const auto line = reader_.next();
    if (line) std::get<0>(to) = *line;
    return line.has_value();
  }
};

class records {
 public:
  records(const std::filesystem::path& path, io::record_compression compression) : reader_(path, std::size_t{1} << 18, compression) {}
  bool next(std::tuple<std::string>& to) {
    const auto record = next();
    if (record) std::get<0>(to) = *record;
    return record.has_value();
  }
  std::uint64_t offset() const { return reader_.offset(); }
  void save(state_numbers& to) const { to.push_back(reader_.offset()); }
  void restore(state_reader& from) { reader_.seek(from.take()); }

 protected:
  std::optional<std::string_view> next() {
    at_ = reader_.offset();
    std::optional<std::string_view> record;
    try {
      record = reader_.next();
    } catch (const data_loss&) {
      reader_.pass_corrupt();
      throw;
    }
    if (!record && reader_.end() == io::record_end::truncated)
      throw data_loss(reader_.path().string() + ": the record at byte " + std::to_string(reader_.offset()) + " is cut off");
    return record;
  }
  io::record_reader reader_;
  std::uint64_t at_ = 0;
};

// Copies a feature's values into a component.
template <io::feature_value T>
void take_feature(const io::example_fields& fields, std::size_t index, T& to) {
  fields.read(index, std::span<T>(&to, 1));
}
template <io::feature_value T, std::size_t N>
void take_feature(const io::example_fields& fields, std::size_t index, std::array<T, N>& to) {
  fields.read(index, std::span<T>(to));
}
template <io::feature_value T>
  requires(!std::is_same_v<T, std::string>)
void take_feature(const io::example_fields& fields, std::size_t index, xt::xtensor<T, 1>& to) {
  to.resize({fields.count<T>(index)});
  fields.read(index, std::span<T>(to.data(), to.size()));
}
inline void take_feature(const io::example_fields& fields, std::size_t index, std::vector<std::string>& to) {
  to.resize(fields.count<std::string>(index));
  fields.read(index, std::span(to));
}
template <class T>
concept feature_component = requires(const io::example_fields& fields, T& to) { take_feature(fields, 0, to); };

struct example_names {
  std::vector<std::string> names;
  io::record_compression compression;
};
class examples : public records {
 public:
  examples(const std::filesystem::path& path, const example_names& names) : records(path, names.compression), fields_(names.names) {}
  template <class... Ts>
  bool next(std::tuple<Ts...>& to) {
    const auto record = records::next();
    if (!record) return false;
    try {
      fields_.find(*record);
      [&]<std::size_t... I>(std::index_sequence<I...>) {
        (take_feature(fields_, I, std::get<I>(to)), ...);
      }(std::index_sequence_for<Ts...>{});
    } catch (const error& e) {
      leat::detail::rethrow_saying(e, reader_.path().string() + ": the record at byte " + std::to_string(at_) + ": " + e.what());
    }
    return true;
  }

 private:
  io::example_fields fields_;
};

/// The elements of a tensor from a file as an array of known dtype and rank. Errors: invalid_argument for another dtype or rank.
template <class Array>
struct array_from;
template <element_type T, std::size_t Rank>
struct array_from<xt::xtensor<T, Rank>> {
  static xt::xtensor<T, Rank> make(const tensor_proto& t) {
    if (t.dtype != to_data_type(dtype_of<T>) || t.shape.dims.size() != Rank)
      throw invalid_argument("the file holds shape " + to_text(t.shape) + " of " + name_of_data_type(t.dtype) + ", the program takes " +
                             component_text<xt::xtensor<T, Rank>>::text());
    typename xt::xtensor<T, Rank>::shape_type extent;
    for (std::size_t k = 0; k < Rank; ++k) extent[k] = static_cast<std::size_t>(t.shape.dims[k].size);
    auto made = xt::xtensor<T, Rank>::from_shape(extent);
    const auto values = contents<T>(t, std::numeric_limits<std::int64_t>::max());
    std::copy(values.begin(), values.end(), made.data());
    return made;
  }
};
template <class T>
concept array_of_file = requires(const tensor_proto& t) { array_from<T>::make(t); };

// A dataset of arrays of one file; its description includes the file's name and size.
template <class Data>
Data of_file(const Data& slices, const char* kind, const file_list& file) {
  return {std::string(kind) + "(" + file.description() + ") " + slices.description(), [slices] { return slices.make(); }};
}
template <class Element, class Reader, class Settings>
dataset_with<Element> of_files(const std::string& description, const file_list& files, const Settings& settings) {
  return {description, [files, settings]() -> std::unique_ptr<stage<Element>> {
            return std::make_unique<files_stage<Element, Reader, Settings>>(files, settings);
          }};
}
std::string options_text(const io::csv_options& options);

}  // namespace detail
}  // namespace data

namespace dataset {

/// The rows of tables: `dataset::csv<std::array<float, 64>, std::int64_t>("digits.csv")`. Components are numbers, bool, std::string, or
/// std::array of these, which takes as many columns. Columns are identified by position, or by the names in `options.columns`.
/// Errors: not_found for a file that does not exist; when iterated, those of `io::csv_reader`, and invalid_argument for a file whose header
/// has other names than that of the first one, unless columns are chosen by name.
template <class... Ts>
  requires(sizeof...(Ts) > 0)
dataset_of<Ts...> csv(const data::file_list& files, const io::csv_options& options = {}) {
  return data::detail::of_files<std::tuple<Ts...>, data::detail::csv_rows>(
      "csv(" + files.description() + data::detail::options_text(options) + ") " + data::element_text<Ts...>(), files,
      data::detail::csv_tables{options, files.paths()});
}

/// The lines of text files. Errors: not_found for a file that does not exist. Source: TensorFlow `TextLineDataset`.
inline dataset_of<std::string> text_lines(const data::file_list& files) {
  return data::detail::of_files<std::tuple<std::string>, data::detail::lines>("text_lines(" + files.description() + ")", files,
                                                                              data::detail::nothing{});
}

/// The records of record files, as bytes. Compression is detected from the first bytes of a file, unless it is specified. Errors: not_found
/// for a file that does not exist; when iterated, data_loss for a record that is corrupt or truncated, naming file and offset. The next
/// record follows if the length of the corrupt one can be trusted, else the next file. Source: TensorFlow `TFRecordDataset`.
inline dataset_of<std::string> records(const data::file_list& files,
                                       io::record_compression compression = io::record_compression::automatic) {
  return data::detail::of_files<std::tuple<std::string>, data::detail::records>("records(" + files.description() + ")", files, compression);
}

/// Features of the examples in record files: `dataset::examples<std::array<float, 64>, std::int64_t>(files, {"image", "label"})`.
/// Components are float, std::int64_t and std::string (one value), std::array of these (a fixed number), xt::xtensor<T, 1> and
/// std::vector<std::string> (any number). Errors: those of `records`; when iterated, not_found for a missing feature and invalid_argument
/// for one of another type or number of values, naming file, offset and feature. Source: TensorFlow `parse_single_example`.
template <data::detail::feature_component... Ts>
dataset_of<Ts...> examples(const data::file_list& files, const std::array<std::string, sizeof...(Ts)>& names,
                           io::record_compression compression = io::record_compression::automatic) {
  data::detail::example_names wanted{{names.begin(), names.end()}, compression};
  io::example_fields check(wanted.names);
  std::string text;
  for (const std::string& name : names) text += ", " + name;
  return data::detail::of_files<std::tuple<Ts...>, data::detail::examples>(
      "examples(" + files.description() + text + ") " + data::element_text<Ts...>(), files, wanted);
}

/// The slices of the array in a .npy file: `dataset::npy<xt::xtensor<float, 2>>("x.npy")` yields xt::xtensor<float, 1>.
/// Errors: those of `io::read_npy_file`; invalid_argument for another dtype or rank.
template <data::detail::array_of_file Array>
auto npy(const std::filesystem::path& path) {
  auto array = io::detail::naming(path, [&] { return data::detail::array_from<Array>::make(io::read_npy_file(path)); });
  return data::detail::of_file(from_tensor_slices(std::move(array)), "npy", path);
}
/// The slices of the array in an IDX file, which may be compressed by gzip: `dataset::idx<xt::xtensor<std::uint8_t,
/// 3>>("train-images-idx3-ubyte.gz")`. Errors: those of `io::read_idx_file`; invalid_argument for another dtype or rank.
template <data::detail::array_of_file Array>
auto idx(const std::filesystem::path& path) {
  const tensor_proto tensor = io::read_idx_file(path);
  auto array = io::detail::naming(path, [&] { return data::detail::array_from<Array>::make(tensor); });
  return data::detail::of_file(from_tensor_slices(std::move(array)), "idx", path);
}
/// The slices of several arrays in a .npz file: `dataset::npz<xt::xtensor<float, 2>, xt::xtensor<std::int64_t, 1>>(path, {"x", "y"})`.
/// Errors: those of `io::read_npz_file` and of `from_tensor_slices`; invalid_argument for another dtype or rank.
template <data::detail::array_of_file... Arrays>
  requires(sizeof...(Arrays) > 0)
auto npz(const std::filesystem::path& path, const std::array<std::string, sizeof...(Arrays)>& names) {
  const io::npz file = io::read_npz_file(path);
  auto slices = io::detail::naming(path, [&] {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      return from_tensor_slices(io::detail::naming(std::filesystem::path("array \"" + names[I] + "\""),
                                                   [&] { return data::detail::array_from<Arrays>::make(file[names[I]]); })...);
    }(std::index_sequence_for<Arrays...>{});
  });
  return data::detail::of_file(slices, "npz", path);
}

}  // namespace dataset
}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/data/impl/files.hpp>
#endif
