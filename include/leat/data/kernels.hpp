#pragma once
// Kernels of graphs that read files, examples, images and tensors in strings. A program that runs such graphs includes this header, in one
// of its sources.

#include <leat/data/graph_datasets.hpp>
#include <leat/data/kernels_examples.hpp>
#include <leat/data/kernels_files.hpp>
#include <leat/data/kernels_images.hpp>
#include <leat/data/kernels_sequences.hpp>
#include <leat/data/kernels_tensors.hpp>
