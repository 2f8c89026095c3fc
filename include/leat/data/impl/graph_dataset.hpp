#pragma once
// Implementation of graph_dataset.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/data/graph_dataset.hpp>
#include <leat/data/stage.hpp>

namespace leat::data::detail {

LEAT_FUNCTION std::string dataset_elements::save_state() const {
  return write_state(of_->description(), {given_ + skipped_, pipeline_->seed});
}

LEAT_FUNCTION void dataset_elements::restore_state(std::string_view text) {
  const state_numbers numbers = read_state(text, of_->description());
  state_reader in(numbers);
  const std::uint64_t count = in.take(), seed = in.take();
  if (!in.empty()) throw data_loss("the state of a pipeline is too long");
  pass_.reset();
  pipeline_ = std::make_unique<pipeline>(pipeline_->place, seed);
  skipped_ = count;
  given_ = 0;
}

}  // namespace leat::data::detail
