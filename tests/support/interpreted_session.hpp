#pragma once
// `session` as a macro, so that each test of an operator tests the interpreter too. Where a program's sizes are static, the
// compiled steps run, then the interpreter on the same values, and every byte that both write must be the same. Other programs
// are run by the compiled steps, or by the interpreter where the environment has LEAT_TEST_INTERPRETED. The tests themselves
// check that the results are right. With LEAT_PLANNED_SESSIONS it is left alone: then they test planned sessions.

#include <leat/cpu/interpret.hpp>
#include <leat/leat.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <vector>

namespace leat_test {

struct interpreting_device : leat::cpu::device {
  template <class Program, std::size_t... Step>
  static void run(const leat::cpu::device::workspace& w, std::index_sequence<Step...> steps) {
    static const leat::cpu::interpreter code(leat::detail::list<std::int64_t>(Program::data.data(), Program::data.size()));
    static const bool interpreted = std::getenv("LEAT_TEST_INTERPRETED") != nullptr;
    if constexpr (Program::view.names() == 0)
      run_both(code, w, written_parts(Program::view), [](const leat::cpu::device::workspace& on) {
        leat::cpu::device::run<Program>(on, std::index_sequence<Step...>{});
      });
    else if (interpreted)
      code.run(w);
    else
      leat::cpu::device::run<Program>(w, steps);
  }

 private:
  // What follows is compiled once for all programs of a test.
  struct part {
    int buffer;
    std::size_t bytes;
  };
  template <class View>
  static std::vector<part> written_parts(const View& view) {
    std::vector<part> all;
    for (int b = 0; b < view.buffers(); ++b) {
      const auto info = view.buffer_at(b);
      if (info.where == leat::storage::fetch || info.where == leat::storage::variable)
        all.push_back({b, static_cast<std::size_t>(view.elements(info.extent, nullptr) * leat::size_of(info.type))});
    }
    return all;
  }
  static void run_both(const leat::cpu::interpreter& code, const leat::cpu::device::workspace& w, const std::vector<part>& parts,
                       void (*run_compiled)(const leat::cpu::device::workspace&)) {
    const auto before = written(w, parts);
    try {
      run_compiled(w);
    } catch (const std::exception&) {  // the interpreter must throw it too
      restore(w, parts, before);
      code.run(w);
      FAIL_CHECK("the interpreter did not throw");
      return;
    }
    const auto compiled = written(w, parts);
    restore(w, parts, before);
    code.run(w);
    if (written(w, parts) != compiled) FAIL_CHECK("the interpreter's bytes differ from the compiled program's");
  }
  static std::vector<std::byte> written(const leat::cpu::device::workspace& w, const std::vector<part>& parts) {
    std::vector<std::byte> all;
    for (const auto [buffer, bytes] : parts) {
      const auto* from = static_cast<const std::byte*>(w.buffers[buffer]);
      all.insert(all.end(), from, from + bytes);
    }
    return all;
  }
  static void restore(const leat::cpu::device::workspace& w, const std::vector<part>& parts, const std::vector<std::byte>& all) {
    std::size_t at = 0;
    for (const auto [buffer, bytes] : parts) {
      if (bytes > 0) std::memcpy(w.buffers[buffer], all.data() + at, bytes);
      at += bytes;
    }
  }
};

template <leat::expression... Es>
class interpreted_session : public leat::basic_session<interpreting_device, Es...> {
  using leat::basic_session<interpreting_device, Es...>::basic_session;
};
template <leat::expression... Es>
interpreted_session(const Es&...) -> interpreted_session<Es...>;

}  // namespace leat_test

#ifndef LEAT_PLANNED_SESSIONS
#define session interpreted_session
#endif
