# the example that a recorder is held against: what it counts, and its manners
size="--rows 300 --columns 257 --radius 2 --chunk 64 --frames 2"

# times vary
counted() {
    "$convolution" $size --way "$1" --count | cut -d , -f 1-4
}

"$convolution" $size --no-check >/dev/null 2>&1
[ $? != 4 ] || {
    echo "skipped: no OpenCL device (pocl-opencl-icd)"
    exit 77
}
# rows of chunks: 64 64 64 64 44, each with 2 + 2 of the next; 261 columns in, 257 out
try counted plain
try counted overlapped
"$convolution" $size >table || echo "wrong, or failed"
head -n 1 table | sed 's/, on .*//'
OCL_ICD_VENDORS=/nowhere
export OCL_ICD_VENDORS
"$convolution" 2>&1
echo "exit $?"
"$convolution" --radius 0 2>&1
echo "exit $?"
