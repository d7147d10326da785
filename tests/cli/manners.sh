# Manners of all commands: examples, suggestions, names in any case, colour.
echo "== every help ends with two examples of the command"
for command in $(haul help | awk '/^  [a-z]/ && $1 != "help" && $1 != "mcp" { print $1 }'); do
    parts=$(haul help "$command" | awk -v c="$command" '$1 == c { print $2 }')
    for part in '' $parts; do
        haul help "$command" $part | tail -n 3 | awk -v name="$command $part" '
            NR == 1 && $0 != "examples:" { print name ": no examples" }
            NR > 1 && !/^  .*haul [a-z]/ { print name ": no example: " $0 }'
    done
done

echo "== suggestions"
try haul analyse
try haul xyz
try haul demo
try haul help machin
try haul machine tiem
try haul project --too h100-pcie5 "$profile"
try haul analyze "$profile" --formt=json
try haul analyze "$profile" --format jsno
try haul machine show k04
try haul machine show h100-pcie6
try haul machine show h100pcie
try haul machine show rtx
try haul machine time k40 --direction h2d --memory pinned --bytes 1 --model lgogp

echo "== programs of other packages are commands"
mkdir bin
printf '#!/bin/sh\necho "$0 has $# arguments: $*"\nexit 4\n' | sed 's|\$0|haul-else|' >bin/haul-else
chmod +x bin/haul-else
(PATH=$PATH:$PWD/bin && try haul else --to 'a b')
try haul else
try haul ../bin/haul-else

echo "== a profile without a command is analyzed, and a folder of profiles is one job"
mkdir ranks
cp "$profile" ranks/rank0.sqlite
echo "no profile" >ranks/README.md
for words in "$profile" "ranks" "analyze ranks/" "$profile --format csv"; do
    haul $words | head -n 1
done
haul compare ranks "$profile" | head -n 1
try haul ./none.json
try haul none.json
try haul analyze bin

echo "== help of help"
for words in "help --help" "help help" "--help"; do
    haul $words | head -n 1
done

echo "== names in any case, and short ones"
for copy in "HtoD pinned" "htod PINNED" "h2d pin" "H2D Pinned"; do
    set -- $copy
    haul machine time K40 --direction "$1" --memory "$2" --bytes 64MiB --format csv | tail -n 1
done
haul machine time k40 --direction d2d --bytes 64MiB --format csv | tail -n 1
haul machine show H100_PCIE5 | head -n 1
try haul machine time k40 --direction h2 --memory p --bytes 1
haul machine time k40 --direction h2d --memory pinned --bytes 1 --format JSON | head -n 2

echo "== man pages"
for page in '' analyze machine 'machine time'; do
    haul help --man $page >page.1
    grep -c '^.SH \(NAME\|SYNOPSIS\|DESCRIPTION\|EXAMPLES\|COMMANDS\|OPTIONS\)' page.1
    if command -v groff >/dev/null; then
        groff -ww -man -Tutf8 -z page.1
    fi
done
haul help --man machine time | sed -n 2,5p

echo "== completion"
try haul help --completion tcsh
for shell in bash zsh fish; do
    haul help --completion $shell >completion.$shell
    if command -v $shell >/dev/null; then
        $shell -n completion.$shell
    fi
done
cat >complete.sh <<'BASH'
. ./completion.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_haul
echo "${COMPREPLY[*]}"
BASH
bash complete.sh haul an
bash complete.sh haul machine di
bash complete.sh haul machine time --dir
bash complete.sh haul machine time --locality ''
bash complete.sh haul project --to h100
bash complete.sh haul project --to gh200,h100
bash complete.sh haul machine show gtx-titan
bash complete.sh haul project --format c
grep -c "^complete -c haul" completion.fish | awk '{ print ($1 > 100 ? "many" : "few") }'
grep "'--to=" completion.zsh

echo "== colour on a terminal alone, unless it is not wanted"
cat >terminal.py <<'PYTHON'
import os, pty, sys

shown = b""

def read(descriptor):
    global shown
    data = os.read(descriptor, 1024)
    shown += data
    return b""

pty.spawn(sys.argv[1:], read)
print("bold" if b"\x1b[1m" in shown else "plain")
PYTHON
TERM=xterm
export TERM
unset NO_COLOR
python3 terminal.py haul machine list </dev/null
NO_COLOR=1 python3 terminal.py haul machine list </dev/null
TERM=dumb python3 terminal.py haul machine list </dev/null
python3 terminal.py haul machine list --format json </dev/null
haul machine list | grep -c "$(printf '\033')" || :
try haul machine time k40 --direction HtD --memory pinned --bytes 1
try haul machine time k40 --direction HtoD --memory pined --bytes 1
