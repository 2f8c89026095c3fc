#pragma once
// What tests with graphs at run time begin with, compiled once for all of them.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "pch.hpp"
