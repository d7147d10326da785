# Where a program waits, a faster GPU makes it wait less: each profile is made so that something else
# than the work decides what the recorded times show.
for name in full-queue full-queue-1000 full-queue-jitter no-queue module-load clock-off; do
    "$make" -c $name $name.sqlite
done
printf 'pattern,class\nhist,streaming\n' >classes.csv
# GPUs whose memory makes these kernels as fast as recorded, and three times as fast
same="a100-pcie4 --set gpu.memory_bandwidth=1.9TB/s"
fast="a100-pcie4 --set gpu.memory_bandwidth=6.9TB/s"

# the answer without its intervals, which are of the models, not of the schedule
answer() {
    haul project "$@" | sed -n 's/ ([^()]* to [^()]*)$//;1,2p;/^  kernels/p;/self-check/p'
}

echo "== launches that wait for a place in the launch queue"
for name in full-queue full-queue-1000 full-queue-jitter; do
    echo "\$ haul project $name.sqlite, to a GPU as fast, and to one three times as fast"
    answer --to $same --classes classes.csv $name.sqlite
    answer --to $fast --classes classes.csv $name.sqlite
done

echo "== none waits: the queue is as deep as CUDA's"
haul project --to a100-pcie4 --classes classes.csv --format json no-queue.sqlite | grep queue_depth
answer --to a100-pcie4 --set gpu.queue_depth=10 --classes classes.csv no-queue.sqlite

echo "== calls of the driver, which no faster GPU shortens, are named"
for name in driver-calls late-module; do
    "$make" -c $name $name.sqlite
    answer --to h100-pcie5 $name.sqlite
    haul project --to h100-pcie5,gh200 $name.sqlite | grep "^gh200"
done
haul project --to h100-pcie5 driver-calls.sqlite | sed -n '/^Critical/,/^$/p'
haul project --to h100-pcie5 --host-speed 2 driver-calls.sqlite | grep "bound by"

echo "== one memset starts 40 ms after its call, as its code is loaded: the others do not"
answer --to $fast --classes classes.csv module-load.sqlite

echo "== a GPU whose clock is 26 hours ahead: the answer is that of the same program without"
"$make" -n 2 two-frames.sqlite
for name in two-frames clock-off; do
    # the interval's last digit may round otherwise
    haul project --to h100-pcie5 $name.sqlite | grep -v caution | sed '1s/ ([0-9.x to]*)$//' >$name.txt
done
diff two-frames.txt clock-off.txt && echo same
haul analyze clock-off.sqlite | grep "clock of device"
haul project --to h100-pcie5 --verbose clock-off.sqlite | grep "clock of device"

echo "== one kernel is the run, and the host waits for it in a call: with and without rows of waits"
for name in long-synchronize long-memcpy long-launch; do
    "$make" -c $name $name.sqlite
    "$make" -c $name without.sqlite CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
    echo "$name"
    for file in $name without; do
        answer --to $fast --classes classes.csv $file.sqlite
    done
done
