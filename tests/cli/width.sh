# Reports as wide as their reader's terminal, and profiles from standard input.
cp "$profile" p.sqlite

echo "== as wide as asked"
try haul analyze p.sqlite --width 60 | sed -n 1,14p
COLUMNS=72 haul project p.sqlite --from k40 --to v100-pcie3 | sed -n 1,8p
COLUMNS=72 haul project p.sqlite --from k40 --to v100-pcie3 --width 100 | sed -n 1,4p
for width in 40 60 80 100 120; do
    for command in "analyze" "advise --from k40" "project --from k40 --to v100-pcie3"; do
        haul $command p.sqlite --width $width |
            awk -v width=$width -v name="$command" 'length($0) > width + 0 {
                print name ": " length($0) " columns of " width ": " $0 }'
    done
done
try haul analyze p.sqlite --width 20

echo "== the difference stays where columns are left out"
for scale in 1 2; do
    printf '[{"ph":"X","cat":"user_annotation","name":"a long name of a step of the training of a model","pid":9,"tid":9,"ts":0,"dur":900},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":9,"tid":9,"ts":10,"dur":5,"args":{"correlation":1}},
{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":20,"dur":%d,"args":{"device":0,"stream":7,"correlation":1}}]
' ${scale}00 >run$scale.json
done
haul compare run1.json run2.json --width 80 | sed -n '/^operation/,$p'
haul compare run1.json run2.json --width 160 | sed -n '/^operation/,$p'

echo "== standard input"
cat p.sqlite | haul analyze - | head -n 2
gzip -c p.sqlite | haul analyze - --format csv | head -n 1
cat p.sqlite | haul analyze - | grep next
mkfifo pipe
cat p.sqlite >pipe &
haul analyze pipe | head -n 1
wait
head -c 3000 p.sqlite | try haul analyze -
printf '' | try haul analyze -
echo hello | try haul analyze -
