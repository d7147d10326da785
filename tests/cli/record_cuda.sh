# a recording of CUDA over a libcupti that delivers known records, and what compare_profile says of it
haul record -o cuda.sqlite -- "$inject" exit 2>/dev/null
cat >made.csv <<'EOF'
operation,memory,count,bytes,time_ns
HtoD,pageable,1,1048576,100000
DtoH,pinned,1,4096,2000
DtoD,,1,512,1500
PtoP,,1,2048,0
memset,,1,65536,0
kernel,,1,0,165000
stream wait,,1,0,0
stream sync,,1,0,0
EOF
cat >wrong.csv <<'EOF'
HtoD,pageable,1,1048576,120000
DtoH,pinned,2,4096,2000
DtoD,,1,511,0
EOF
compare() {
    "$compare" cuda.sqlite <"$1"
}
try compare made.csv
try compare wrong.csv
printf 'something,else,1,1,1\n' >nothing.csv
try compare nothing.csv
try haul analyze cuda.sqlite
# as haul record does it; the program and its child end on their own
ln -s "$inject" inject
try haul record -o recorded.sqlite -- ./inject fork
"$compare" recorded.sqlite <made.csv | grep -c "the same"
CUPTI_PATH=/nowhere
export CUPTI_PATH
try haul record -o without.sqlite -- ./inject exit
