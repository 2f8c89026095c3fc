#pragma once
// How the CPU runs a kernel of whole arrays where it has a better way than item by item.

namespace leat::cpu {

/// Specialized for such a kernel, with `static void run(const Kernel&)`.
template <class Kernel>
struct loops_of;
template <class Kernel>
concept has_loops = requires(const Kernel& kernel) { loops_of<Kernel>::run(kernel); };

}  // namespace leat::cpu
