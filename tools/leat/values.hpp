#pragma once
// Values as the command line gives them: NAME=NUMBER, NAME=[[1, 2], [3, 4]], NAME=file.npy, NAME=@file with such a list; for
// variables also a saved model, a .safetensors file, or a folder that holds scope/name.npy for the variable scope/name (array_names.hpp).

#include <leat/checkpoint/checkpoint_reader.hpp>
#include <leat/proto/freeze.hpp>
#include <leat/session/graph_session.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tool {

/// The value that a text gives to a tensor of a dtype; `name` is what messages call it. Errors: usage_error for a text that is no
/// such value; those of `leat::io::read_npy_file` and `read_file`.
leat::tensor_proto value_of(const std::string& name, const std::string& text, leat::data_type type);

/// The values that these words give to the graph's variables. Numbers take the variable's dtype. Files of a folder that belong to
/// no variable are passed over.
/// Errors: usage_error for a word that is none of these, a variable that the graph does not have, numbers that its dtype cannot
/// hold; those of `leat::io::read_npy_file`.
leat::variable_values values_of(const leat::graph_def& graph, const std::vector<std::string>& words,
                                const std::string& option = "--freeze");

/// Gives a session's variables the values of a checkpoint that fit them; tells of each other one why it has none.
std::vector<std::string> restore_fitting(leat::graph_session& session, const std::shared_ptr<const leat::checkpoint_reader>& from);

}  // namespace tool
