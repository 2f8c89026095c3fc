#pragma once
// The instructions of a fused cluster as a type: the hash of the list, from which a friend function returns the list. Equal clusters share
// their code across programs, and no type or symbol grows with the list. (With the list itself as a pack of integers, compile time grew
// with the square of its length.)

#include <cstdint>
#include <leat/core/text.hpp>

namespace leat::kernels {

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wnon-template-friend"
#endif
template <std::uint64_t Hash>
struct cluster_key {
  friend constexpr auto instructions_of(cluster_key);
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
template <std::uint64_t Hash, class Program, std::int64_t At>
struct cluster_record {
  static constexpr std::uint64_t hash = Hash;
  friend constexpr auto instructions_of(cluster_key<Hash>) { return Program::data.data() + At; }
};

namespace detail {
template <std::uint64_t Hash, class Program, int Step>
inline constexpr bool cluster_is_known = requires { instructions_of(cluster_key<Hash>{}); };

template <class Program, int Step>
constexpr std::uint64_t hash_of_cluster() {
  constexpr auto info = Program::view.step_at(Step);
  std::uint64_t h = mix(19, static_cast<std::uint64_t>(info.instruction_count));
  for (int i = 0; i < info.instruction_count; ++i)
    h = mix(h, static_cast<std::uint64_t>(Program::data[static_cast<std::size_t>(info.instructions + i)]));
  return h;
}
template <class Program, int Step>
constexpr std::uint64_t known_cluster() {
  constexpr std::uint64_t hash = hash_of_cluster<Program, Step>();
  if constexpr (cluster_is_known<hash, Program, Step>)
    return hash;
  else
    return cluster_record<hash, Program, Program::view.step_at(Step).instructions>::hash;
}
}  // namespace detail

/// The instructions with this hash.
template <std::uint64_t Hash>
struct instructions {
  static constexpr const std::int64_t* code = instructions_of(cluster_key<Hash>{});
};
/// Instructions as template arguments: nvcc names the types of kernels before it has seen the friend of a hash.
template <std::int64_t... Words>
struct written_instructions {
  static constexpr std::int64_t words[sizeof...(Words)]{Words...};
  static constexpr const std::int64_t* code = words;
};

}  // namespace leat::kernels
