#pragma once
// Datasets of graphs that take no other datasets: of given values, ranges, random numbers, and the records of files.

#include <leat/data/graph_elements.hpp>
#include <leat/data/kernels_files.hpp>

namespace leat::data::detail {

/// The inputs `from` to before `to`, kept beyond the run. Errors: unimplemented for an iterator, which may hold the dataset.
inline components kept_inputs(kernel_context& c, int from, int to) {
  components values;
  for (int k = from; k < to; ++k) {
    const tensor_value& v = c.input(k);
    if (v.type() == resource_dtype && dynamic_cast<const iterator_resource*>(v.held().get()) != nullptr)
      throw unimplemented("a dataset that takes elements of an iterator (input " + std::to_string(k) +
                          "): let it take a dataset in place of the iterator");
    values.push_back(v.kept());
  }
  return values;
}

/// One element, or one for each row of given arrays. Source: TensorFlow `TensorDataset`, `TensorSliceDataset`.
class dataset_of_values final : public graph_dataset {
 public:
  dataset_of_values(std::string its_type, components values, bool by_rows)
      : graph_dataset(std::move(its_type), {}), values_(std::move(values)), by_rows_(by_rows) {
    nest(values_);
    if (!by_rows_) return;
    if (values_.empty()) throw invalid_argument("a dataset without components");
    for (const tensor_value& v : values_) {
      if (v.extent().rank < 1) throw invalid_argument("All components must be at least 1-dimensional");
      if (is_handle(v.type())) throw unimplemented("rows of handles");
      if (v.extent()[0] != values_[0].extent()[0]) throw invalid_argument("All components must have the same size in the 0th dimension");
    }
    size_ = values_[0].extent()[0];
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<dataset_of_values> {
    using pass_of::pass_of;
    std::int64_t at = 0;
    bool advance(components& to) override {
      if (at >= of_.size_) return false;
      if (of_.by_rows_) {
        to.clear();
        for (const tensor_value& v : of_.values_) to.push_back(row_of(v, at));
      } else {
        to = of_.values_;
      }
      ++at;
      return true;
    }
  };
  const components values_;
  const bool by_rows_;
  std::int64_t size_ = 1;
};

/// Source: TensorFlow `RangeDataset`.
class range_dataset final : public graph_dataset {
 public:
  range_dataset(std::string its_type, std::int64_t start, std::int64_t stop, std::int64_t step, element_spec spec)
      : graph_dataset(std::move(its_type), {}), start_(start), stop_(stop), step_(step), spec_(std::move(spec)) {
    if (step_ == 0) throw invalid_argument("step must be a non-zero integer.");
    if (spec_.types.size() != 1) throw invalid_argument("a range has one component");
  }
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<range_dataset> {
    pass(pipeline& p, const range_dataset& of) : pass_of(p, of), at(of.start_) {}
    std::int64_t at;
    bool is_over = false;
    bool advance(components& to) override {
      if (is_over || (of_.step_ > 0 ? at >= of_.stop_ : at <= of_.stop_)) return false;
      const dtype type = of_.spec_.types[0];
      tensor_value one(is_narrow(type) ? wide_dtype(type) : type, shape{});
      with_number(one.type(), [&]<class T>(T) { one.values<T>()[0] = static_cast<T>(at); });
      to.clear();
      to.push_back(is_narrow(type) ? one.narrowed(to_data_type(type)) : std::move(one));
      is_over = __builtin_add_overflow(at, of_.step_, &at);
      return true;
    }
  };
  const std::int64_t start_, stop_, step_;
  const element_spec spec_;
};

/// Random integers below 2^32, without end, with seeds TensorFlow's. Source: TensorFlow `RandomDataset`.
class random_dataset final : public graph_dataset {
 public:
  random_dataset(std::string its_type, std::int64_t seed, std::int64_t seed2)
      : graph_dataset(std::move(its_type), {}), seed_(seed), seed2_(seed2) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<random_dataset> {
    pass(pipeline& p, const random_dataset& of)
        : pass_of(p, of), words(of.seed_ == 0 && of.seed2_ == 0 ? p.draw_seed() : static_cast<std::uint64_t>(of.seed_), 0,
                                static_cast<std::uint64_t>(of.seed2_)) {}
    kernels::seeded_sequence words;
    std::uint64_t at = 0;
    bool advance(components& to) override {
      to.clear();
      to.push_back(tensor_value(static_cast<std::int64_t>(runtime::word_of(words, at++))));
      return true;
    }
  };
  const std::int64_t seed_, seed2_;
};

/// Records of a file in an order.
class record_stream {
 public:
  virtual ~record_stream() = default;
  /// Writes the next record; false at the end.
  virtual bool next(std::string& to) = 0;
};
/// The records of files, one file after the other; a file is opened when its first record is needed. Names are checked by the folder of
/// files of the session in which the iterator started. Source: TensorFlow `TextLineDataset`, `TFRecordDataset`, `FixedLengthRecordDataset`.
class dataset_of_files final : public graph_dataset {
 public:
  /// Opens the file `path`, which is number `index` of the names.
  using opens = std::function<std::unique_ptr<record_stream>(const std::string& path, std::size_t index)>;
  dataset_of_files(std::string its_type, std::vector<std::string> names, opens open)
      : graph_dataset(std::move(its_type), {}), names_(std::move(names)), open_(std::move(open)) {}
  std::unique_ptr<dataset_pass> iterate(pipeline& p) const override { return std::make_unique<pass>(p, *this); }

 private:
  struct pass final : pass_of<dataset_of_files> {
    using pass_of::pass_of;
    std::size_t file = 0;
    std::unique_ptr<record_stream> records;
    bool advance(components& to) override {
      std::string record;
      for (;;) {
        pipeline_.step().check();
        if (records == nullptr) {
          if (file == of_.names_.size()) return false;
          const std::size_t index = file++;  // an error takes the place of the file
          records = of_.open_(leat::detail::path_within(pipeline_.place.file_root, of_.names_[index]), index);
        }
        try {
          if (records->next(record)) break;
          records.reset();
        } catch (...) {
          records.reset();  // the rest of a damaged file is left out
          throw;
        }
      }
      to.clear();
      to.push_back(tensor_value(std::move(record)));
      count_strings(to[0]);
      return true;
    }
  };
  const std::vector<std::string> names_;
  const opens open_;
};

class line_stream final : public record_stream {
 public:
  explicit line_stream(const std::string& path) : lines_(path) {}
  bool next(std::string& to) override {
    const auto line = lines_.next();
    if (line) to.assign(*line);
    return line.has_value();
  }

 private:
  io::line_reader lines_;
};
class tf_record_stream final : public record_stream {
 public:
  tf_record_stream(const std::string& path, io::record_compression compression, std::int64_t offset)
      : path_(path), records_(path, std::size_t{1} << 18, compression) {
    if (offset > 0) records_.seek(static_cast<std::uint64_t>(offset));
  }
  bool next(std::string& to) override {
    const auto at = records_.offset();
    const auto record = records_.next();
    if (record) to.assign(*record);
    else if (records_.end() == io::record_end::truncated) throw data_loss(path_ + ": truncated record at " + std::to_string(at));
    return record.has_value();
  }

 private:
  std::string path_;
  io::record_reader records_;
};
class fixed_length_stream final : public record_stream {
 public:
  /// Errors: those of reading the file; invalid_argument if what is between header and footer is no whole number of records.
  fixed_length_stream(const std::string& name, std::int64_t header, std::int64_t length, std::int64_t footer)
      : contents_(io::read_file(name)), length_(static_cast<std::size_t>(length)) {
    taken_.take(contents_.size());
    const auto size = static_cast<std::int64_t>(contents_.size());
    if (header > size || footer > size - header || (size - header - footer) % length != 0)
      throw invalid_argument("Excluding the header (" + std::to_string(header) + " bytes) and footer (" + std::to_string(footer) +
                             " bytes), input file \"" + name + "\" has body length " + std::to_string(size - header - footer) +
                             " bytes, which is not an exact multiple of the record length (" + std::to_string(length) + " bytes).");
    at_ = static_cast<std::size_t>(header);
    end_ = static_cast<std::size_t>(size - footer);
  }
  bool next(std::string& to) override {
    if (at_ >= end_) return false;
    to = contents_.substr(at_, length_);
    at_ += length_;
    return true;
  }

 private:
  std::string contents_;
  metered_bytes taken_;
  std::size_t at_ = 0, end_ = 0, length_;
};

inline dataset_of_files::opens opens_lines(const std::string& compression) {
  if (leat::detail::record_compression_of(compression) != io::record_compression::none)
    throw unimplemented("lines of compressed files (compression_type '" + compression + "'): decompress the files");
  return [](const std::string& path, std::size_t) { return std::make_unique<line_stream>(path); };
}
inline dataset_of_files::opens opens_records(const std::string& compression, std::vector<std::int64_t> offsets) {
  return [how = leat::detail::record_compression_of(compression), offsets = std::move(offsets)](const std::string& path, std::size_t k) {
    return std::make_unique<tf_record_stream>(path, how, k < offsets.size() ? offsets[k] : 0);
  };
}
inline dataset_of_files::opens opens_fixed(std::int64_t header, std::int64_t length, std::int64_t footer, const std::string& compression) {
  if (header < 0) throw invalid_argument("header_bytes must be >= 0");
  if (length <= 0) throw invalid_argument("record_bytes must be > 0");
  if (footer < 0) throw invalid_argument("footer_bytes must be >= 0");
  if (leat::detail::record_compression_of(compression) != io::record_compression::none)
    throw unimplemented("records of fixed length of compressed files (compression_type '" + compression + "'): decompress the files");
  return [=](const std::string& path, std::size_t) { return std::make_unique<fixed_length_stream>(path, header, length, footer); };
}

}  // namespace leat::data::detail
