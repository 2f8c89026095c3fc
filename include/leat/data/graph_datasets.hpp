#pragma once
// TensorFlow's operators of datasets in graphs that others wrote with tf.data: their definitions, and the kernels that make datasets and
// take elements from them. Iterators are those of graph_iterator.hpp. A program that runs such graphs includes this header, in one of its
// sources. Source: TensorFlow dataset_ops.cc, experimental_dataset_ops.cc.

#include <leat/core/fill.hpp>
#include <leat/data/graph_dataset_functions.hpp>
#include <leat/data/graph_iterator.hpp>
#include <leat/named/definitions/shapes.hpp>

#include <initializer_list>
#include <string>
#include <string_view>

#if LEAT_WITH_BODIES
#include <leat/data/impl/graph_datasets.hpp>
#endif
