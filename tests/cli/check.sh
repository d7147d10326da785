# Limits of a run.
budgets=$data/budgets

echo "== broken limits"
try haul check "$profile" --budget "$budgets/tight.yaml" --junit limits.xml
cat limits.xml
haul check "$profile" --budget "$budgets/tight.yaml" --format json
haul check "$profile" --budget "$budgets/tight.yaml" --format csv
haul check "$profile" --budget "$budgets/tight.yaml" --format markdown

echo "== kept"
try haul check "$profile" --budget "$budgets/wide.yaml"

echo "== the workflow of the examples, with a profile of ours"
cp -r "$data/../../../examples" .
cp "$profile" before.sqlite
cp "$profile" run.sqlite
GITHUB_STEP_SUMMARY=summary.md
sed -n 's/^ *- run: haul record.*//; s/^ *- run: //p' examples/ci/github.yml >steps
while IFS= read -r step; do
    echo "\$ $step"
    (eval "$step") </dev/null || echo "exit $?"
done <steps
sed -n '1p; /^\*\*.*same/p' summary.md

echo "== budgets that are none"
refuse()
{
    printf '%b' "$1" >budget.yaml
    try haul check "$profile" --budget budget.yaml
}
refuse 'idle: 20%\n'
refuse 'haul-budget: 1\n'
refuse 'haul-budget: 2\nidle: 20%\n'
refuse 'haul-budget: 1\nidel: 20%\n'
refuse 'haul-budget: 1\nidle: 20 ms\n'
refuse 'haul-budget: 1\nidle: 120%\n'
refuse 'haul-budget: 1\nspan: 20\n'
refuse 'haul-budget: 1\ncopied: -1 GiB\n'
refuse 'haul-budget: 1\nkernels: {name: a, time: 1 s}\n'
refuse 'haul-budget: 1\nkernels:\n- {name: a}\n'
refuse 'haul-budget: 1\nkernels:\n- {name: [a], time: 1 s}\n'
try haul check "$profile"
try haul check "$profile" --budget nothing.yaml

echo "== nothing that is read is written over"
cp "$budgets/wide.yaml" budget.yaml
try haul check "$profile" --budget budget.yaml --junit budget.yaml
try haul check "$profile" --budget budget.yaml --junit "$profile"
try haul check "$profile" --budget budget.yaml --junit both -o both
cmp budget.yaml "$budgets/wide.yaml"
