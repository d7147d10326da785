# machines that are measured: simulated ones, whose parameters are known
try haul measure transfers --device sim:k20 --verify -o k20.yaml
try haul machine check k20.yaml
try haul measure transfers --device sim:gtx-titan --largest 4MiB --journal points.txt --format csv
head -n 3 points.txt
# the same again, from the journal
haul measure transfers --device sim:gtx-titan --largest 4MiB --journal points.txt --format json |
    grep points
try haul measure --device sim:h100-pcie5 --largest 4MiB
try haul measure host --device sim:k20
try haul measure transfers --device sim:summit --peer sim:summit:1 --largest 4MiB --format csv
echo "== wrong use, and what is not there"
try haul measure copies
try haul measure transfers --device abacus
try haul measure transfers --device host:7
try haul measure transfers --device sim:k20 --largest 5
try haul measure transfers --device sim:k40 --journal points.txt
try haul measure transfers --device sim:k20 --peer sim:k20:1
try haul measure transfers --device sim:k20 --largest 1MiB -o /dev/full
# an output that cannot be written is found out before anything is measured
try haul measure --device host -o no-folder/m.yaml
try haul measure --device host --html no-folder/m.html
echo "== a peer is another GPU of the same machine"
try haul measure transfers --device sim:summit --peer sim:summit:0 --largest 4MiB
try haul measure transfers --device sim:summit --peer sim:k20 --largest 4MiB
echo "== pageable copies between the sweep's sizes: by the staging that was found"
for bytes in 14MiB 15MiB 16MiB; do
    haul machine time ./k20.yaml --direction HtoD --memory pageable --bytes $bytes
    haul machine time k20 --direction HtoD --memory pageable --bytes $bytes | tail -n 1
done
echo "== copies in parts over streams: a page with the points on the machine file's curve"
haul measure transfers --device sim:gtx-titan --largest 1MiB --verify --html parts.html >/dev/null
grep -o '<figcaption><b>[^<]*in parts' parts.html
grep -o 'title>[0-9]* streams*: [^<]*' parts.html | head -n 3
