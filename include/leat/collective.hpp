#pragma once
// Collective operations among MPI ranks, and data-parallel training on all of them. See docs/cluster.md. Needs MPI: link leat::mpi.

#include <leat/core/standard.hpp>

#include <leat/collective/communicator.hpp>
#include <leat/collective/data_parallel.hpp>
#include <leat/collective/exchange.hpp>
#include <leat/collective/named_collective.hpp>
#include <leat/collective/named_data_parallel.hpp>
#include <leat/collective/operators.hpp>
