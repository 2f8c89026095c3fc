#include "interpreted.hpp"

#undef session
#include <leat/cpu/interpret.hpp>

#include <cstdlib>

namespace leat::reference {
namespace {
class interpreter_runner : public program_runner {
 public:
  explicit interpreter_runner(std::vector<std::int64_t> packed) : code_(std::move(packed)) {}
  void run(const leat::workspace& w) const override { code_.run(w); }

 private:
  leat::cpu::interpreter code_;
};
}  // namespace

std::unique_ptr<program_runner> program_runner::make(std::vector<std::int64_t> packed) {
  return std::make_unique<interpreter_runner>(std::move(packed));
}

bool program_runner::asked_for() {
  static const bool asked = std::getenv("LEAT_TEST_INTERPRETED") != nullptr;
  return asked;
}

}  // namespace leat::reference
