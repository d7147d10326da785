# In a clone: spack repo add packaging/spack && spack dev-build haul@develop
from spack.package import *


class Haul(CMakePackage):
    """Predicts, explains and hides data movement on machines with GPUs."""

    version("develop")

    variant("mpi", default=False, description="Build libhaul-mpi: exchanges and tiles over MPI processes")
    variant("opencl", default=False, description="Build the OpenCL backend and recorder")
    variant("hwloc", default=True, description="Measure each NUMA node")
    variant("hdf5", default=False, description="Bring the library for arrays of tiles in HDF5 files")
    variant("shared", default=True, description="Build libhaul as a shared library")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.22:", type="build")
    depends_on("ninja", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("sqlite@3:")
    depends_on("zlib-api")
    depends_on("libyaml")
    depends_on("hwloc@2:", when="+hwloc")
    depends_on("hdf5@1.10:", type="run", when="+hdf5")
    depends_on("mpi@3:", when="+mpi")
    depends_on("opencl-headers", when="+opencl")
    depends_on("ocl-icd", when="+opencl")

    generator("ninja")

    def cmake_args(self):
        return [
            self.define("CMAKE_DISABLE_FIND_PACKAGE_MPI", self.spec.satisfies("~mpi")),
            self.define_from_variant("BUILD_SHARED_LIBS", "shared"),
            self.define("HAUL_TESTS", False),
            self.define("HAUL_BENCH", False),
            self.define("HAUL_EXAMPLES", False),
        ]
