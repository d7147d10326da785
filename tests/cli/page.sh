# --html FILE: pages to look at. What is in them is tested in a browser: tests/browser.
data() { # what a page says, without its drawings, its script and its style
    sed -e '/^<style>/,/^<\/style>/d' -e '/<script/,/<\/script>/d' "$1" | grep -o "$2" | sort | uniq -c |
        sed 's/^ *//'
}

echo "== analyze"
try haul analyze "$profile" --html page.html -o report.txt
head -n 3 page.html
grep -o 'rel="icon" href="data:image/svg+xml,%3Csvg' page.html
data page.html '<h2[^>]*>[^<]*'
data page.html '<dd>[^<]*'
data page.html '<li>stream [^<]*'

echo "== project"
try haul project "$profile" --to h100-pcie5 --html page.html -o report.txt
data page.html '<h2[^>]*>[^<]*'
data page.html '<b>[^<]*</b> [^<]*'

echo "== advise"
try haul advise "$profile" --html page.html -o report.txt
data page.html '<h2[^>]*>[^<]*'
data page.html '<h3>[^<]*'

echo "== overlap"
try haul overlap --machine k20 --h2d 1MiB --d2h 1MiB --kernel "1 ms" --html page.html -o report.txt
data page.html '<h2[^>]*>[^<]*'
data page.html '<dt>[^<]*'

echo "== the page alone"
haul analyze "$profile" -o report.txt --html - | head -n 1

echo "== wrong use"
try haul analyze "$profile" --html -
try haul analyze "$profile" -o one --html one
try haul project "$profile" --to h100-pcie5 --html -
cp "$profile" mine.sqlite
chmod +w mine.sqlite
try haul analyze mine.sqlite --html ./mine.sqlite
try cmp "$profile" mine.sqlite
try haul analyze "$profile" -o report.txt --html nowhere/page.html

echo "== one place for two results, a page that cannot be written"
printf 'op,duration\nkernel,1 ms\n' >one.csv
try haul simulate one.csv --machine k40 --html both --perfetto ./both
: >both
try haul simulate one.csv --machine k40 --html both --perfetto ./both
try haul simulate one.csv --machine k40 --perfetto -
if [ -w /dev/full ]; then
    try haul simulate one.csv --machine k40 -o report.txt --html /dev/full
else
    echo '$ haul simulate one.csv --machine k40 -o report.txt --html /dev/full'
    echo "haul: cannot write '/dev/full': No space left on device"
    echo "exit 3"
fi

echo "== tiles"
try haul overlap --tiles stencil --machine v100-pcie3 --size 4096x4096 --tile 1024x256 --kernel "1 ms" --html page.html -o report.txt
data page.html '<h2[^>]*>[^<]*'
data page.html '<li>[a-z ]*'
try haul overlap --run state --device sim:k20 --html page.html -o report.txt
data page.html '<h2[^>]*>[^<]*'
grep -o '<title>streams, 8[^<]*' page.html
try haul overlap --tiles stencil --machine k40 --size 10x10 --tile 5x11 --kernel "1 ms"
