#pragma once
// Servers, messages, and sessions of several machines. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/cluster/clock_reading_bodies.hpp>
#include <leat/cluster/cluster_role_bodies.hpp>
#include <leat/cluster/cluster_status_bodies.hpp>
#include <leat/cluster/master_bodies.hpp>
#include <leat/cluster/master_client_bodies.hpp>
#include <leat/cluster/master_run_bodies.hpp>
#include <leat/cluster/master_state_bodies.hpp>
#include <leat/cluster/master_variables_bodies.hpp>
#include <leat/cluster/messenger_network_bodies.hpp>
#include <leat/cluster/parameter_client_bodies.hpp>
#include <leat/cluster/server_bodies.hpp>
#include <leat/cluster/shard_message_bodies.hpp>
#include <leat/cluster/step_statistics_bodies.hpp>
#include <leat/cluster/step_table_bodies.hpp>
#include <leat/cluster/task_service_bodies.hpp>
#include <leat/cluster/tensor_message_bodies.hpp>
#include <leat/cluster/transport/address_bodies.hpp>
#include <leat/cluster/transport/endpoint_bodies.hpp>
#include <leat/cluster/transport/endpoint_state_bodies.hpp>
#include <leat/cluster/transport/identity_bodies.hpp>
#include <leat/cluster/transport/keys_bodies.hpp>
#include <leat/cluster/transport/local_carrier_bodies.hpp>
#include <leat/cluster/transport/messenger_bodies.hpp>
#include <leat/cluster/transport/messenger_calls_bodies.hpp>
#include <leat/cluster/transport/messenger_presence_bodies.hpp>
#include <leat/cluster/transport/messenger_state_bodies.hpp>
#include <leat/cluster/transport/reactor_bodies.hpp>
#include <leat/cluster/transport/shared_carrier_bodies.hpp>
#include <leat/cluster/transport/shared_segment_bodies.hpp>
#include <leat/cluster/transport/status_bodies.hpp>
#include <leat/cluster/transport/wire_bodies.hpp>
#include <leat/cluster/transport/zeromq_carrier_bodies.hpp>
#include <leat/cluster/transport/zeromq_carrier_sockets_bodies.hpp>
#include <leat/cluster/worker_bodies.hpp>
#include <leat/core/standard.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
bool link_leat_separate_cluster() { return true; }
}  // namespace leat::detail
#endif
