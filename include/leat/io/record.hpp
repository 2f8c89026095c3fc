#pragma once
// Record files of TensorFlow (TFRecord, and its event files): one record after the other, each as
//
//   length        8 bytes, little endian
//   checksum      4 bytes: the masked CRC-32C of the length
//   the record    `length` bytes
//   checksum      4 bytes: the masked CRC-32C of the record
//
// The whole may be compressed, by zlib or gzip, which a reader finds out. A writer that is killed leaves whole records and at most a part
// of one at the end, which is told apart from records that are corrupt.
// Source: TensorFlow 1.x, python_io, "TFRecords Format Details".

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/inflate.hpp>
#include <leat/io/regular_file.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace leat::io {

/// What a record takes in a file beside its own bytes.
inline constexpr std::size_t record_header_bytes = 12;
inline constexpr std::size_t record_frame_bytes = record_header_bytes + 4;

/// Appends a record with length and checksums to a text, which then is a part of a record file.
void append_record(std::string& to, std::string_view record);

/// How a file of records is opened for writing.
enum class record_opening {
  /// An empty file in the place of one that is there.
  anew,
  /// Behind the records that are there; a part of a record at the end, which a killed writer left, is cut off.
  append,
};

/// How a file of records is compressed. Source: TensorFlow `TFRecordOptions`.
enum class record_compression {
  none,
  zlib,
  gzip,
  /// For readers: what the file's first bytes say.
  automatic,
};

/// Writes a file of records. Records are collected in memory and reach the operating system by `flush`, and whenever `buffer_bytes` of
/// them have come together. A call that fails leaves no part of a record in the file, and may be repeated.
class record_writer {
 public:
  /// `level`: of compression, 0 to 9, -1 for zlib's own choice. Errors: failed_precondition, naming the file, if it cannot be opened;
  /// data_loss if records are to be appended to a file that is no file of records; unimplemented for appending to a compressed one, and for
  /// compression without zlib; invalid_argument for `record_compression::automatic` and for another level.
  explicit record_writer(const std::filesystem::path& path, record_opening opening = record_opening::anew,
                         std::size_t buffer_bytes = std::size_t{1} << 18, record_compression compression = record_compression::none,
                         int level = -1);
  record_writer(record_writer&&) noexcept;
  record_writer& operator=(record_writer&&) noexcept;
  /// Flushes; an error is lost: call `close` to learn of it.
  ~record_writer();

  /// Adds a record. Errors: failed_precondition, naming the file and the system's reason, if the file is closed or a full buffer cannot
  /// be written; the record is not added then.
  void write(std::string_view record);
  /// Gives everything to the operating system: what is flushed survives this process. Errors: failed_precondition.
  void flush();
  /// Flushes, and waits until the disk has it: what is synced survives a failure of the machine. Errors: failed_precondition.
  void sync();
  /// Flushes and closes; further calls do nothing. Errors: failed_precondition.
  void close();

  bool is_open() const { return static_cast<bool>(file_); }
  /// The length of the file with all records that were added, in bytes, before compression: the offset of the next one.
  std::uint64_t offset() const { return flushed_ + buffer_.size(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  void must_be_open() const;
  void put(const std::string& bytes, std::uint64_t from);
  void put_compressed(bool is_last);

  std::filesystem::path path_;
  descriptor file_;
  std::string buffer_;
  std::size_t limit_ = 0;
  std::uint64_t flushed_ = 0;
  std::unique_ptr<deflating_stream> compressor_{};
  std::string packed_{};            // compressed, not yet in the file
  std::uint64_t packed_bytes_ = 0;  // in the file
  bool is_ended_ = false;
};

/// How a file of records ended.
enum class record_end {
  /// It has not been read to its end.
  none,
  /// Behind a whole record.
  whole,
  /// Within a record, as a writer that was killed, or is at work, leaves it.
  truncated,
};

/// Reads a file of records. Memory grows with the longest record, never with a number that the file contains; of a compressed file, whose
/// bytes may hold a thousand times as many, a record has at most `longest_compressed_record`.
class record_reader {
 public:
  /// Errors: not_found if the file cannot be opened; failed_precondition for a pipe or socket.
  explicit record_reader(const std::filesystem::path& path, std::size_t buffer_bytes = std::size_t{1} << 18,
                         record_compression compression = record_compression::automatic);

  /// The next record, which is valid until the next call; nothing at the end of the file, and `end` tells how it ended. A file that has
  /// grown since is read on by a further call.
  /// Errors: data_loss, naming file and offset, for a record whose checksums do not match; the reader stays in front of it. Of a compressed
  /// file also data_loss for bytes that are damaged; resource_exhausted for a record that is too long; unimplemented without zlib.
  std::optional<std::string_view> next();
  record_end end() const { return end_; }
  /// Goes behind a record that `next` found corrupt, if its length can be trusted: the checksum of the length matches. Tells whether it
  /// did.
  bool pass_corrupt();

  /// The offset of the record that `next` would give, in bytes, of a compressed file those that it holds.
  std::uint64_t offset() const { return offset_; }
  /// Goes to a record whose offset is known; a compressed file is read up to it by `next`. Errors: out_of_range, naming the file, beyond
  /// its end, of a compressed one from `next`.
  void seek(std::uint64_t offset);
  const std::filesystem::path& path() const { return path_; }

 private:
  bool fill(std::size_t wanted);
  void detect();
  std::size_t read_on(std::span<char> to);
  std::uint32_t checksum_at(std::size_t at) const;
  std::optional<std::uint64_t> checked_length() const;

  std::filesystem::path path_;
  descriptor file_;
  std::unique_ptr<char[]> buffer_;
  std::size_t capacity_ = 0, begin_ = 0,
              filled_ = 0;  // the bytes [begin, filled) of the buffer are those from `offset` on
  std::uint64_t offset_ = 0;
  record_end end_ = record_end::none;
  record_compression compression_ = record_compression::automatic;
  struct inflating;
  std::shared_ptr<inflating> inflating_{};  // of a compressed file
};

/// The longest record of a compressed file that is read: protobuf's limit.
inline constexpr std::size_t longest_compressed_record = max_file_bytes;

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/record_bodies.hpp>
#endif
