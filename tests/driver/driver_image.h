/* How NVRTC's stand-in gives a compiled library to the driver's as PTX: this line, and the
 * library's bytes in hexadecimal. */
#ifndef HAUL_TESTS_DRIVER_IMAGE_H
#define HAUL_TESTS_DRIVER_IMAGE_H

#define DRIVER_PTX "// PTX of the tests' NVRTC\n"

#endif
