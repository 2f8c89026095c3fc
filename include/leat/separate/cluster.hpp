#pragma once
// Servers, messages, and sessions of several machines. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/cluster/impl/clock_reading.hpp>
#include <leat/cluster/impl/cluster_role.hpp>
#include <leat/cluster/impl/cluster_status.hpp>
#include <leat/cluster/impl/master.hpp>
#include <leat/cluster/impl/master_client.hpp>
#include <leat/cluster/impl/master_run.hpp>
#include <leat/cluster/impl/master_state.hpp>
#include <leat/cluster/impl/master_variables.hpp>
#include <leat/cluster/impl/messenger_network.hpp>
#include <leat/cluster/impl/parameter_client.hpp>
#include <leat/cluster/impl/server.hpp>
#include <leat/cluster/impl/shard_message.hpp>
#include <leat/cluster/impl/step_statistics.hpp>
#include <leat/cluster/impl/step_table.hpp>
#include <leat/cluster/impl/task_service.hpp>
#include <leat/cluster/impl/tensor_message.hpp>
#include <leat/cluster/impl/worker.hpp>
#include <leat/cluster/transport/impl/address.hpp>
#include <leat/cluster/transport/impl/endpoint.hpp>
#include <leat/cluster/transport/impl/endpoint_state.hpp>
#include <leat/cluster/transport/impl/identity.hpp>
#include <leat/cluster/transport/impl/keys.hpp>
#include <leat/cluster/transport/impl/local_carrier.hpp>
#include <leat/cluster/transport/impl/messenger.hpp>
#include <leat/cluster/transport/impl/messenger_calls.hpp>
#include <leat/cluster/transport/impl/messenger_presence.hpp>
#include <leat/cluster/transport/impl/messenger_state.hpp>
#include <leat/cluster/transport/impl/reactor.hpp>
#include <leat/cluster/transport/impl/shared_carrier.hpp>
#include <leat/cluster/transport/impl/shared_segment.hpp>
#include <leat/cluster/transport/impl/status.hpp>
#include <leat/cluster/transport/impl/wire.hpp>
#include <leat/cluster/transport/impl/zeromq_carrier.hpp>
#include <leat/cluster/transport/impl/zeromq_carrier_sockets.hpp>
#include <leat/core/standard.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
bool link_leat_separate_cluster() { return true; }
}  // namespace leat::detail
#endif
