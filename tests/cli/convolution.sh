# the example that a recorder is held against: what it counts, and its manners
size="--rows 300 --columns 257 --radius 2 --chunk 64 --frames 2"

# times vary
counted() {
    "$convolution" $size --device "$1" --way "$2" --count | cut -d , -f 1-4
}

# rows of chunks: 64 64 64 64 44, each with 2 + 2 of the next; 261 columns in, 257 out
for device in host sim:k20; do
    try counted $device plain
    try counted $device overlapped
done
"$convolution" $size --device sim:k20 | sed 's/ [0-9.]* ms$//'
if "$convolution" $size --device opencl --no-check >/dev/null 2>&1; then
    for way in plain overlapped; do
        counted host $way >host.csv
        counted opencl $way | diff host.csv - || echo "OpenCL made something else"
    done
fi
"$convolution" --device nothing 2>&1 | sed 's/: the kinds are.*//'
OCL_ICD_VENDORS=/nowhere
export OCL_ICD_VENDORS
"$convolution" --device opencl >/dev/null 2>&1
echo "exit $?"
"$convolution" --radius 0 2>&1
echo "exit $?"
