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
