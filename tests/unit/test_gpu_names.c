/* GPUs told by their names, and architectures by name, cores and capability. */
#include "check.h"

#include <stdint.h>

#include "machine/architectures.h"
#include "machine/gpu_names.h"

static void names_of_gpus_are_compared(void **state)
{
    (void)state;
    assert_true(hl_machine_gpu_names_same("Tesla V100-SXM2-16GB", "NVIDIA V100-SXM2-16GB"));
    assert_true(hl_machine_gpu_names_same("NVIDIA GeForce RTX 3080", "GeForce RTX 3080"));
    assert_true(hl_machine_gpu_names_same("AMD Instinct MI300X", "mi300x"));
    assert_true(hl_machine_gpu_names_same("NVIDIA A100-PG509-200", "NVIDIA A100-PCIE-40GB"));
    assert_false(hl_machine_gpu_names_same("NVIDIA A100-PG509-200", "NVIDIA A100-SXM4-80GB"));
    assert_false(hl_machine_gpu_names_same("Tesla V100-SXM2-16GB", "Tesla V100-SXM2-32GB"));
    assert_false(hl_machine_gpu_names_same("GTX 1080", "GTX 1080 Ti"));
    assert_false(hl_machine_gpu_names_same(NULL, NULL));
    assert_true(hl_machine_gpu_names_likeness("k40", "Tesla K40c") == 3);
    assert_true(hl_machine_gpu_names_likeness("Tesla V100", "NVIDIA V100-SXM2-16GB") == 4);
    assert_true(hl_machine_gpu_names_likeness("GTX 1080", "NVIDIA GTX 1080 Ti") == 0);
    assert_true(hl_machine_gpu_names_likeness("A10", "NVIDIA A100") == 0);
    assert_true(hl_machine_gpu_names_likeness("A100", "NVIDIA A100") == SIZE_MAX);
}

/* The more the better: the form of the board counts for more than the size of its memory. */
static void families_of_gpus_are_told(void **state)
{
    (void)state;
    const char *const pcie = "NVIDIA A100-PCIE-40GB", *const sxm = "NVIDIA A100-SXM4-80GB";
    assert_int_equal(hl_machine_gpu_names_family("NVIDIA A100-SXM4-40GB", sxm), 3);
    assert_int_equal(hl_machine_gpu_names_family("NVIDIA A100-SXM4-40GB", pcie), 2);
    assert_int_equal(hl_machine_gpu_names_family("NVIDIA A100 80GB PCIe", pcie), 3);
    assert_int_equal(hl_machine_gpu_names_family("NVIDIA A100 80GB PCIe", sxm), 2);
    assert_int_equal(hl_machine_gpu_names_family("Tesla V100-SXM2-32GB", "Tesla V100-SXM2-16GB"),
                     3);
    assert_int_equal(hl_machine_gpu_names_family("NVIDIA GH200 120GB", "NVIDIA GH200 480GB"), 1);
    assert_int_equal(hl_machine_gpu_names_family("NVIDIA H100 NVL", "NVIDIA H100 PCIe"), 3);
    assert_int_equal(hl_machine_gpu_names_family("NVIDIA H100 NVL", "NVIDIA H100 80GB HBM3"), 1);
    assert_int_equal(hl_machine_gpu_names_family("AMD Instinct MI300X VF", "AMD Instinct MI300X"),
                     1);
    assert_int_equal(hl_machine_gpu_names_family("NVIDIA A100 80GB PCIe", "NVIDIA A10"), 0);
    assert_int_equal(hl_machine_gpu_names_family("NVIDIA H200 NVL", "NVIDIA H100 PCIe"), 0);
    assert_int_equal(hl_machine_gpu_names_family("GTX 1080", "GTX 1080 Ti"), 0);
    assert_int_equal(hl_machine_gpu_names_family("80GB PCIe", "40GB PCIe"), 0);
    assert_int_equal(hl_machine_gpu_names_family("", ""), 0);
    assert_int_equal(hl_machine_gpu_names_family(NULL, pcie), 0);
}

static unsigned threads_of(const char *architecture, double cores)
{
    const haul_gpu gpu = {.architecture = architecture,
                          .cores = {cores, HAUL_PROVENANCE_DATASHEET, NULL}};
    const hl_machine_architecture *found = hl_machine_architecture_of(&gpu);
    return found ? found->threads : 0;
}

static void architectures_are_told_by_name_and_cores(void **state)
{
    (void)state;
    assert_int_equal(threads_of("ampere", 64), 2048);
    assert_int_equal(threads_of("Ampere", 128), 1536); /* RTX 3080 */
    assert_int_equal(threads_of("ampere", 0), 1536);   /* the least */
    assert_int_equal(threads_of("turing", 64), 1024);
    assert_int_equal(threads_of("voodoo", 64), 0);
    assert_int_equal(hl_machine_architecture_of_capability(8, 6)->blocks, 16);
    assert_null(hl_machine_architecture_of_capability(8, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_of_gpus_are_compared),
        cmocka_unit_test(families_of_gpus_are_told),
        cmocka_unit_test(architectures_are_told_by_name_and_cores),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
