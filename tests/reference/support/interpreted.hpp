#pragma once
// `session` as a macro, included before all else: where the environment has LEAT_TEST_INTERPRETED, the programs of the
// generated tests are run by the interpreter instead of their compiled steps. It is compiled once, in interpret.cpp.

#include <leat/leat.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace leat::reference {

/// Runs packed programs; made in another file.
class program_runner {
 public:
  virtual ~program_runner() = default;
  virtual void run(const leat::workspace& w) const = 0;
  static std::unique_ptr<program_runner> make(std::vector<std::int64_t> packed);
  /// Whether programs are to be interpreted.
  static bool asked_for();
};

struct interpreting_device : leat::cpu::device {
  template <class Program, std::size_t... Step>
  static void run(const leat::workspace& w, std::index_sequence<Step...> steps) {
    if (!program_runner::asked_for()) return leat::cpu::device::run<Program>(w, steps);
    static const auto code = program_runner::make({Program::data.begin(), Program::data.end()});
    code->run(w);
  }
};

template <leat::expression... Es>
class interpreted_session : public leat::basic_session<interpreting_device, Es...> {
  using leat::basic_session<interpreting_device, Es...>::basic_session;
};
template <leat::expression... Es>
interpreted_session(const Es&...) -> interpreted_session<Es...>;

}  // namespace leat::reference

using leat::reference::interpreted_session;
#define session interpreted_session
