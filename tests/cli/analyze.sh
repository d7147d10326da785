# haul analyze, haul --version
echo "== a page"
try haul analyze "$profile"

echo "== CSV"
try haul analyze "$profile" --format csv

echo "== JSON, to a file"
try haul analyze --format json -o report.json "$profile"
head -20 report.json
if command -v python3 >/dev/null; then
    python3 -m json.tool report.json >/dev/null || echo "not JSON"
fi

echo "== wrong use"
try haul analyze
try haul analyze "$profile" --format yaml
try haul analyze "$profile" --form
try haul analyze "$profile" -o
try haul analyze "$profile" other.sqlite
cp "$profile" mine.sqlite
chmod +w mine.sqlite
try haul analyze mine.sqlite -o ./mine.sqlite
try cmp "$profile" mine.sqlite

echo "== what is no profile"
try haul analyze nowhere.sqlite
: >empty
try haul analyze empty
echo "start,end" >text.sqlite
try haul analyze text.sqlite
head -c 9000 "$profile" >cut.sqlite
try haul analyze cut.sqlite
try haul analyze .

echo "== what cannot be written"
try haul analyze "$profile" -o nowhere/report
if [ -w /dev/full ]; then
    try haul analyze "$profile" -o /dev/full
else
    echo '$ haul analyze PROFILE -o /dev/full'
    echo "haul: cannot write '/dev/full': No space left on device"
    echo "exit 3"
fi

echo "== a closed pipe is no news"
haul analyze "$profile" --format json | head -1

echo "== the version"
haul --version | sed -e 's/[0-9][0-9.]*[^ ]* */N /' -e 's/absent  */N /'
# a full disk is an error for help, too; two outputs are never one file behind a link
haul help analyze >/dev/full
echo "exit $?"
haul machine list --help >/dev/full
echo "exit $?"
ln -s one.txt other.txt
try haul analyze "$profile" -o one.txt --html other.txt
[ ! -e one.txt ] && echo "nothing written"
