// What a capability brings: a header of leat's that needs it, the headers of the library that it uses, and that library.

#if defined(NEEDS_ONEDNN)
#include <leat/cpu/matmul.hpp>
#include <oneapi/dnnl/dnnl.h>
int main() { return dnnl_version() ? 0 : 1; }
#elif defined(NEEDS_BLAS)
#include <leat/cpu/matmul.hpp>
#include <cblas.h>
int main() { return openblas_get_num_threads() > 0 ? 0 : 1; }
#elif defined(NEEDS_TBB)
#include <leat/cpu/parallel.hpp>
int main() { return leat::cpu::has_threads && oneapi::tbb::info::default_concurrency() > 0 ? 0 : 1; }
#elif defined(NEEDS_IO)
#include <leat/io/inflate.hpp>
#include <nlohmann/json_fwd.hpp>
#include <protozero/pbf_reader.hpp>
int main() { return leat::io::crc32("leat") == 0x352671af ? 0 : 1; }
#elif defined(NEEDS_CLUSTER)
#include <leat/cluster/transport/zeromq_carrier.hpp>
int main() { return zmq_has("curve") ? 0 : 1; }
#elif defined(NEEDS_MPI)
#include <leat/collective/communicator.hpp>
#include <mpi.h>
int main() {
  int is_initialized = 1;
  return MPI_Initialized(&is_initialized) == MPI_SUCCESS && !is_initialized ? 0 : 1;
}
#elif defined(NEEDS_THRUST)
#include <leat/thrust/system.hpp>
int main() {}
#else
#error "a capability that no program here needs"
#endif
