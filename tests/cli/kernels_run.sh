# the kernels of examples/kernels, on the host and on whatever OpenCL device there is
# times vary
rows()
{
    "$kernels" --device host --gpu board --repeat 3 "$@" >>times.csv || echo "wrong, or failed"
    cut -d , -f 1-8 times.csv
    "$kernels" --device opencl --gpu board --repeat 3 "$@" >opencl.csv 2>words ||
        grep 'no OpenCL' words >/dev/null || cat words
}
echo "== sizes that tiles and intervals do not divide"
rows --size 1,16,33,100
echo "== max-subarray"
rm times.csv
rows --kernel max-subarray --size 4096,5000,100003

echo "== its table is what haul kernel fit reads"
cat >board.yaml <<'END'
haul: 1
name: board
summary: a board that is not, for tests
from: datasheet
source: the maker's sheet
gpu:
  name: Test Board
  multiprocessors: 10
  cores: 100
  clock: 1 GHz
  memory_bandwidth: 200 GB/s
END
haul kernel fit times.csv --machine ./board.yaml -o fitted.yaml --format csv | cut -d , -f 1-7
haul kernel predict fitted.yaml --machine ./board.yaml --size 8192 --format csv | cut -d , -f 1-4

echo "== wrong use"
"$kernels" --size 0 2>&1 | head -n 1
"$kernels" --kernel none 2>&1 | head -n 1
"$kernels" --size 2>/dev/null
echo "exit $?"
OCL_ICD_VENDORS=/nowhere
export OCL_ICD_VENDORS
"$kernels" --device opencl >/dev/null 2>&1
echo "exit $?"
