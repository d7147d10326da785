# call stacks of a program that is recorded: each copy has its line, or its function where no lines
# are known
"$stacks"
[ $? != 77 ] || {
    echo "skipped: no OpenCL device (pocl-opencl-icd)"
    exit 77
}
command -v addr2line >/dev/null || {
    echo "skipped: no addr2line (binutils)"
    exit 77
}
program=$(command -v haul)

# without times
shown() {
    haul analyze --format csv "$@" | cut -d, -f1,2,4,5 | sort
}

haul record --stacks -o lines.sqlite -- "$stacks" 2>/dev/null
try shown --by line lines.sqlite
try shown --by stack lines.sqlite

echo "== where addr2line is not installed: functions that the file names"
PATH=/nowhere "$program" record --stacks -o functions.sqlite -- "$stacks" 2>/dev/null
try shown --by line functions.sqlite
try shown --by stack functions.sqlite

echo "== converted, they stay"
try haul convert lines.sqlite -o lines.json
try shown --by stack lines.json

echo "== without the option there is none"
haul record -o none.sqlite -- "$stacks" 2>/dev/null
haul analyze --by line none.sqlite | head -2
