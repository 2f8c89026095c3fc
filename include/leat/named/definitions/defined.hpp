#pragma once
// All operators that the library defines only for graphs at run time; ops/known.hpp has those shared with typed expressions.

#include <leat/named/definitions/array.hpp>
#include <leat/named/definitions/candidates.hpp>
#include <leat/named/definitions/control.hpp>
#include <leat/named/definitions/diagonal.hpp>
#include <leat/named/definitions/einsum.hpp>
#include <leat/named/definitions/elements.hpp>
#include <leat/named/definitions/examples.hpp>
#include <leat/named/definitions/exchange.hpp>
#include <leat/named/definitions/files.hpp>
#include <leat/named/definitions/image_files.hpp>
#include <leat/named/definitions/images.hpp>
#include <leat/named/definitions/matrices.hpp>
#include <leat/named/definitions/nn.hpp>
#include <leat/named/definitions/quantized.hpp>
#include <leat/named/definitions/queue.hpp>
#include <leat/named/definitions/resource.hpp>
#include <leat/named/definitions/scatter.hpp>
#include <leat/named/definitions/special.hpp>
#include <leat/named/definitions/sparse.hpp>
#include <leat/named/definitions/sparse_rows.hpp>
#include <leat/named/definitions/state.hpp>
#include <leat/named/definitions/tables.hpp>
#include <leat/named/definitions/tensor_array.hpp>
#include <leat/named/definitions/tensor_list.hpp>
#include <leat/named/definitions/text.hpp>
