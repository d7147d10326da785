# haul convert, cut and compare
echo "== to another format and back"
try haul convert "$profile" -o out.json
try haul convert out.json -o back.sqlite
try haul convert "$profile" -o out.sqlite
for file in "$profile" out.json back.sqlite out.sqlite; do
    haul analyze "$file" --format csv >"$(basename "$file").csv"
done
try cmp out.json.csv back.sqlite.csv
try cmp out.json.csv out.sqlite.csv
try cmp out.json.csv "$(basename "$profile").csv"

echo "== a window"
try haul cut "$profile" --from 0ms --to 2ms -o part.sqlite
haul analyze part.sqlite | head -n 1

echo "== compared"
try haul compare "$profile" out.json
try haul compare part.sqlite out.json --format csv

echo "== wrong use"
try haul convert "$profile"
try haul convert "$profile" -o out.txt
cp "$profile" mine.sqlite
try haul convert mine.sqlite -o ./mine.sqlite
try haul convert absent.sqlite -o out.json
try haul convert out.json -o not/there.json
try haul convert out.json -o not/there.sqlite
try haul cut "$profile" --from 2ms -o part.json
try haul cut "$profile" --from soon --to 2ms -o part.json
try haul cut "$profile" --from 2ms --to 1ms -o part.json
try haul compare "$profile"
