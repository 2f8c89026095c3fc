#pragma once
// Input pipelines for training (`dataset`) over arrays, files and generators.

#include <leat/data/arrays.hpp>
#include <leat/data/dataset.hpp>
#include <leat/data/files.hpp>
