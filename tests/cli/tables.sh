# Any table of an answer as CSV, by the key that it has in the JSON.
try haul analyze "$profile" --table copies
try haul analyze "$profile" --table largest --top 2
try haul project --to gh200,k40 "$profile" --table targets
try haul overlap --machine k20 --h2d 672MiB --d2h 672MiB --kernel 30ms --table strategies --format csv
echo "== a list has a column of its name"
try haul project --to h100-pcie5 "$profile" --table notes
echo "== the report's own table, as without a name"
haul machine list --table machines >named.csv
haul machine list --format csv | cmp - named.csv
echo "== what is refused"
try haul analyze "$profile" --table nothing
try haul machine show k20 --table nothing
try haul analyze "$profile" --table copies --format json
