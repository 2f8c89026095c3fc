#pragma once
// Data for training: pipelines (`dataset`) over arrays, files and generators.

#include <leat/data/arrays.hpp>
#include <leat/data/dataset.hpp>
#include <leat/data/files.hpp>
