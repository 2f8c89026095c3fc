#pragma once
// Everything for one machine: expressions, operators, gradients, training, and sessions on the CPU.

#include <leat/session/session.hpp>
#include <leat/train/clip.hpp>
#include <leat/train/layers.hpp>
#include <leat/train/optimizer.hpp>
