#pragma once
// Record files of TensorFlow (TFRecord, and its event files): one record after the other, each as
//
//   length        8 bytes, little endian
//   checksum      4 bytes: the masked CRC-32C of the length
//   the record    `length` bytes
//   checksum      4 bytes: the masked CRC-32C of the record
//
// The whole file may be compressed by zlib or gzip, which a reader detects. A writer that is killed leaves complete records and at most a
// part of one at the end, which is distinguished from corrupt records.
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

/// The bytes in a file before those of a record: its length, and the length's checksum.
inline constexpr std::size_t record_header_bytes = 12;
/// The bytes that a record takes in a file in addition to its own.
inline constexpr std::size_t record_frame_bytes = record_header_bytes + 4;

/// Appends a record, with length and checksums, to a string in the format of record files.
void append_record(std::string& to, std::string_view record);

/// How a file of records is opened for writing.
enum class record_opening {
  /// Creates an empty file, in place of an existing one.
  anew,
  /// Appends to the existing records; a part of a record at the end, which a killed writer left, is cut off.
  append,
};

/// How a file of records is compressed. Source: TensorFlow `TFRecordOptions`.
enum class record_compression {
  none,
  zlib,
  gzip,
  /// For readers: detected from the file's first bytes.
  automatic,
};

/// Writes a file of records. Records are collected in memory and passed to the operating system by `flush`, and whenever `buffer_bytes` of
/// them have accumulated. A call that fails leaves no part of a record in the file, and may be repeated.
class record_writer {
 public:
  /// `level`: of compression, 0 to 9, or -1 for zlib's default. Errors: failed_precondition, naming the file, if it cannot be opened;
  /// data_loss if records are to be appended to a file that is not a record file; unimplemented for appending to a compressed file, and for
  /// compression without zlib; invalid_argument for `record_compression::automatic` and for another level.
  explicit record_writer(const std::filesystem::path& path, record_opening opening = record_opening::anew,
                         std::size_t buffer_bytes = std::size_t{1} << 18, record_compression compression = record_compression::none,
                         int level = -1);
  record_writer(record_writer&&) noexcept;
  record_writer& operator=(record_writer&&) noexcept;
  /// Closes the file; an error is ignored. Call `close` to detect errors.
  ~record_writer();

  /// Adds a record. Errors: failed_precondition, naming the file and the system's reason, if the file is closed or a full buffer cannot be
  /// written; then the record is not added.
  void write(std::string_view record);
  /// Passes everything to the operating system: flushed records survive this process. Errors: failed_precondition.
  void flush();
  /// Flushes, and waits until the records are on the disk: synced records survive a failure of the machine. Errors: failed_precondition.
  void sync();
  /// Flushes and closes; further calls have no effect. Errors: failed_precondition.
  void close();

  /// Whether the file is open; `close` ends that.
  bool is_open() const { return static_cast<bool>(file_); }
  /// The length of the file with all added records, in bytes, before compression: the offset of the next record.
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
  std::string packed_{};            // compressed bytes that are not yet in the file
  std::uint64_t packed_bytes_ = 0;  // compressed bytes in the file
  bool is_ended_ = false;
};

/// How a file of records ended.
enum class record_end {
  /// The file has not been read to its end.
  none,
  /// It ended after a complete record.
  whole,
  /// It ended within a record, because its writer was killed or is still writing.
  truncated,
};

/// Reads a file of records. Memory grows with the longest record, never with a number that the file contains. A compressed file can expand
/// to a thousand times its size, so its records are limited to `longest_compressed_record`.
class record_reader {
 public:
  /// Opens a file. Errors: not_found if it cannot be opened; failed_precondition for a pipe or socket.
  explicit record_reader(const std::filesystem::path& path, std::size_t buffer_bytes = std::size_t{1} << 18,
                         record_compression compression = record_compression::automatic);

  /// The next record, which is valid until the next call; nothing at the end of the file, when `end` returns how it ended. If the file has
  /// grown since then, a further call continues.
  /// Errors: data_loss, naming file and offset, for a record whose checksums do not match; the reader stays before it. For a compressed
  /// file also data_loss for damaged bytes; resource_exhausted for a record that is too long; unimplemented without zlib.
  std::optional<std::string_view> next();
  record_end end() const { return end_; }
  /// Skips a record that `next` found corrupt, if its length can be trusted because the checksum of the length matches. Returns whether the
  /// record was skipped.
  bool pass_corrupt();

  /// The offset of the record that `next` would return, in bytes; for a compressed file, in decompressed bytes.
  std::uint64_t offset() const { return offset_; }
  /// Goes to a record with a known offset; in a compressed file, `next` decompresses everything before it. Errors: out_of_range, naming the
  /// file, beyond its end; for a compressed file `next` throws it.
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
  std::shared_ptr<inflating> inflating_{};  // for a compressed file
};

/// The length of the longest record of a compressed file that can be read: protobuf's limit.
inline constexpr std::size_t longest_compressed_record = max_file_bytes;

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/record.hpp>
#endif
