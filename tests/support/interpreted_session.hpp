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
      run_both<Program>(code, w, steps);
    else if (interpreted)
      code.run(w);
    else
      leat::cpu::device::run<Program>(w, steps);
  }

 private:
  template <class Program, std::size_t... Step>
  static void run_both(const leat::cpu::interpreter& code, const leat::cpu::device::workspace& w, std::index_sequence<Step...> steps) {
    const auto before = written<Program>(w);
    try {
      leat::cpu::device::run<Program>(w, steps);
    } catch (const std::exception&) {  // the interpreter must throw it too
      restore<Program>(w, before);
      code.run(w);
      FAIL_CHECK("the interpreter did not throw");
      return;
    }
    const auto compiled = written<Program>(w);
    restore<Program>(w, before);
    code.run(w);
    if (written<Program>(w) != compiled) FAIL_CHECK("the interpreter's bytes differ from the compiled program's");
  }
  template <class Program, class F>
  static void each_written(const leat::cpu::device::workspace& w, F f) {
    for (int b = 0; b < Program::view.buffers(); ++b) {
      const auto info = Program::view.buffer_at(b);
      if (info.where != leat::storage::fetch && info.where != leat::storage::variable) continue;
      f(static_cast<std::byte*>(w.buffers[b]),
        static_cast<std::size_t>(Program::view.elements(info.extent, nullptr) * leat::size_of(info.type)));
    }
  }
  template <class Program>
  static std::vector<std::byte> written(const leat::cpu::device::workspace& w) {
    std::vector<std::byte> all;
    each_written<Program>(w, [&](const std::byte* p, std::size_t n) { all.insert(all.end(), p, p + n); });
    return all;
  }
  template <class Program>
  static void restore(const leat::cpu::device::workspace& w, const std::vector<std::byte>& all) {
    std::size_t at = 0;
    each_written<Program>(w, [&](std::byte* p, std::size_t n) {
      if (n > 0) std::memcpy(p, all.data() + at, n);
      at += n;
    });
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
