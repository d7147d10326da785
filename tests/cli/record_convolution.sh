# the example recorded, both ways: the same copies, bytes and times as it counts itself
size="--rows 600 --columns 515 --radius 2 --chunk 64 --frames 3"

# whether a call of the profile maps a buffer whose bytes then move
maps() {
    python3 -c "
import sqlite3, sys
query = \"SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_RUNTIME JOIN StringIds ON id = nameId WHERE value = 'clEnqueueMapBuffer'\"
sys.exit(0 if sqlite3.connect(sys.argv[1]).execute(query).fetchone()[0] else 1)" "$1" &&
        ! grep -aq HAUL:MAPS_IN_PLACE "$1"
}

# times, which vary, within 5 %
recorded() {
    haul record -o "$1.sqlite" -- "$convolution" $size --way "$1" --device opencl --count >"$1.csv" 2>words
    code=$?
    # where the device has a memory of its own, pinned memory is mapped once, and unmapped:
    # (604 * 519 + 600 * 515) * 4 bytes
    ! maps "$1.sqlite" || echo "map,pinned,2,2489904,0
unmap,pinned,2,2489904,0" >>"$1.csv"
    [ $code = 0 ] || cat words
    "$compare" "$1.sqlite" <"$1.csv" | sed 's/  *[0-9.]* of *[0-9.]* ms//'
}

"$convolution" $size --device opencl --no-check >/dev/null 2>&1
[ $? != 4 ] || {
    echo "skipped: no OpenCL device (pocl-opencl-icd)"
    exit 77
}
try recorded plain
try recorded overlapped
# pinned copies cannot be predicted there: what is not tried for that is named. On a busy machine
# large copies may be as quick as small ones, and then pageable ones cannot be predicted either: all
# take 500 ns and 8 bytes a nanosecond here.
python3 -c "
import sqlite3
db = sqlite3.connect('plain.sqlite')
db.execute('UPDATE CUPTI_ACTIVITY_KIND_MEMCPY SET end = start + 500 + bytes / 8')
db.commit()"
haul advise plain.sqlite --format json >advice.json || echo "no advice"
tr -d '\n' <advice.json | grep -o '"changes": "[^"]*", *"copies": [0-9]*, *"direction": "[^"]*"' |
    sed 's/"changes": "\([^"]*\)", *"copies": \([0-9]*\), *"direction": "\([^"]*\)"/\3 \1 of \2/' | sort
# a wrong result's exit code is the program's own, and so is its output
haul record -o own.sqlite -- "$convolution" --way none 2>/dev/null
echo "exit $?"
