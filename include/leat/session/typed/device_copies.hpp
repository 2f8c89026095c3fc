#pragma once
// Memory of a device; and, for a device with memory of its own, the copies of feeds and fetches there. Arrays of up to `most_gathered`
// bytes travel together: the host gathers the feeds in a block of its memory that the device reads by itself, while the last step may
// still run, and finds the fetches there. Larger ones are copied from and to the user's arrays.
//
// Such a device provides, beside `allocate`, `release`, `copy_in`, `copy_out` and `finish`: `allocate_on_host` and `release_on_host` for
// memory that it reads by itself; `copy_in_kept`, after which the host must leave what is copied as it is until `wait_for_kept` has
// returned; a class `recording` with `clear` and `is_ready`, and `run_recorded`, which runs a program's steps and what follows them.

#include <leat/passes/program.hpp>

#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <utility>

namespace leat::detail {

/// A block of memory that `Memory::allocate` gives and `Memory::release` takes back. That of a device is aligned for any SIMD batch.
template <class Memory>
class owned_bytes {
 public:
  owned_bytes() = default;
  explicit owned_bytes(std::size_t size) : size_(size) {
    if (size > 0) data_.reset(static_cast<std::byte*>(Memory::allocate(size)));
  }
  std::byte* data() const { return data_.get(); }
  std::size_t size() const { return size_; }

 private:
  struct release {
    void operator()(std::byte* p) const { Memory::release(p); }
  };
  std::unique_ptr<std::byte, release> data_;
  std::size_t size_ = 0;
};

/// Memory of the host that a device with memory of its own reads and writes by itself.
template <class Device>
struct host_memory_of {
  static void* allocate(std::size_t size) { return Device::allocate_on_host(size); }
  static void release(void* p) { Device::release_on_host(p); }
};

/// Where a session keeps a number: on the host, where feeding it puts another address, and on the device. Null if it has no place there.
struct number_places {
  const void* on_host = nullptr;
  void* on_device = nullptr;
};

/// Copies of feeds and fetches on a device with memory of its own; `buffers` of step_addresses remain the host's addresses.
template <class Program, class Device>
class device_copies {
  static constexpr auto& view = Program::view;
  static constexpr std::size_t most_gathered = std::size_t{1} << 20;

 public:
  /// Finds the places of all copies for the sizes of the plan. `places_of(b)` gives the number_places of a buffer.
  template <class State, class PlacesOf>
  void place(const State& state, PlacesOf places_of) {
    for (auto& r : recordings_) r.clear();
    std::size_t end = 0;
    const auto add = [&](storage first, storage second, bool gathered) {
      for (int b = 0; b < view.buffers(); ++b) {
        const auto info = view.buffer_at(b);
        if ((info.where != first && info.where != second) || (info.where == storage::number && info.extent.rank > 0)) continue;
        const auto bytes = static_cast<std::size_t>(view.elements(info.extent, state.sizes) * size_of(info.type));
        if ((bytes <= most_gathered) != gathered) continue;
        copies_[static_cast<std::size_t>(b)] = {end, bytes, gathered};
        end += (bytes + 63) / 64 * 64;
      }
    };
    add(storage::feed, storage::number, true);
    fed_ = end;
    add(storage::fetch, storage::fetch, true);
    gathered_ = end;
    add(storage::feed, storage::fetch, false);
    if (end > memory_.size()) memory_ = owned_bytes<Device>(end);
    if (gathered_ > on_host_.size()) on_host_ = owned_bytes<host_memory_of<Device>>(gathered_);
    fetches_ = false;
    for (int b = 0; b < view.buffers(); ++b) {
      const auto info = view.buffer_at(b);
      const auto k = static_cast<std::size_t>(b);
      numbers_[k] = info.where == storage::number ? places_of(b) : number_places{};
      buffers_[k] = info.where == storage::feed || info.where == storage::fetch ? memory_.data() + copies_[k].at
                    : info.where == storage::number                            ? numbers_[k].on_device
                                                                               : state.buffers[k];
      fetches_ = fetches_ || info.where == storage::fetch;
    }
  }

  /// Copies the feeds to the device.
  template <class State>
  void copy_feeds(Device& device, const State& state) {
    bool any = false;
    for (int b = 0; b < view.buffers(); ++b) {
      const auto info = view.buffer_at(b);
      const auto k = static_cast<std::size_t>(b);
      if (info.where == storage::number && info.extent.rank == 0) {
        const bool fed = numbers_[k].on_device == nullptr || state.buffers[k] != numbers_[k].on_host;
        buffers_[k] = fed ? memory_.data() + copies_[k].at : numbers_[k].on_device;
        if (!fed) continue;
      } else if (info.where != storage::feed) {
        continue;
      }
      const auto& c = copies_[k];
      if (!c.gathered) {
        device.copy_in(buffers_[k], state.buffers[k], c.bytes);
      } else if (c.bytes > 0) {
        if (!any) device.wait_for_kept();
        any = true;
        std::memcpy(on_host_.data() + c.at, state.buffers[k], c.bytes);
      }
    }
    if (any) device.copy_in_kept(memory_.data(), on_host_.data(), fed_);
  }

  /// Runs the steps on the copies.
  template <class State>
  void run(Device& device, const State& state) {
    device.template run_recorded<Program>({buffers_.data(), state.plan.numbers.data(), state.arena.data()}, state.buffers,
                                          recordings_.data(), [&] {
                                            if (gathered_ > fed_)
                                              device.copy_out(on_host_.data() + fed_, memory_.data() + fed_, gathered_ - fed_);
                                          });
  }

  /// Copies the fetches to the user's arrays; waits for the device if there are any.
  template <class State>
  void copy_fetches(Device& device, const State& state) {
    if (!fetches_) return;
    each_fetch([&](std::size_t k) {
      if (!copies_[k].gathered) device.copy_out(state.buffers[k], buffers_[k], copies_[k].bytes);
    });
    device.finish();
    each_fetch([&](std::size_t k) {
      if (copies_[k].gathered && copies_[k].bytes > 0) std::memcpy(state.buffers[k], on_host_.data() + copies_[k].at, copies_[k].bytes);
    });
  }

  /// Whether all steps are repeated from recordings.
  bool is_recorded() const {
    for (const auto& r : recordings_)
      if (!r.is_ready()) return false;
    return true;
  }

 private:
  struct copy {
    std::size_t at = 0;  // in the device's memory, and in the host's if it is gathered there
    std::size_t bytes = 0;
    bool gathered = false;
  };
  template <class F>
  static void each_fetch(F f) {
    for (int b = 0; b < view.buffers(); ++b)
      if (view.buffer_at(b).where == storage::fetch) f(static_cast<std::size_t>(b));
  }

  static constexpr auto count = static_cast<std::size_t>(view.buffers()) + 1;
  std::array<void*, count> buffers_{};
  std::array<copy, count> copies_{};
  std::array<number_places, count> numbers_{};
  std::size_t fed_ = 0, gathered_ = 0;  // ends of the feeds and of all that is gathered
  bool fetches_ = false;
  owned_bytes<Device> memory_;
  owned_bytes<host_memory_of<Device>> on_host_;
  std::array<typename Device::recording, Device::template recordings_of<Program>> recordings_;
};

}  // namespace leat::detail
