#!/bin/bash
# The command `daedalus` from outside: exit codes, messages, JSON, files, signals, pipes.
# Finds the program in DAEDALUS_PROGRAM. Every check prints a line in cmocka's words, so
# that scripts/check counts it; the last line is the sum.
set -u
program=${DAEDALUS_PROGRAM:?set DAEDALUS_PROGRAM to the program}
export LC_ALL=C OPENBLAS_NUM_THREADS=1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0
failed=0

# check NAME COMMAND...: one case; the command must succeed
check() {
    local name=$1
    shift
    echo "[ RUN      ] $name"
    if "$@"; then
        passed=$((passed + 1))
        echo "[       OK ] $name"
    else
        failed=$((failed + 1))
        echo "[  FAILED  ] $name"
        head -c 600 out err 2>/dev/null
        echo
    fi
}

# run CODE ARGUMENTS...: the program, output in out and err; right exit code?
run() {
    local want=$1 got
    shift
    timeout 100 "$program" "$@" >out 2>err </dev/null
    got=$?
    [ $got = "$want" ] || { echo "exit $got, not $want: $*"; return 1; }
}
says() { grep -qF -- "$1" err || { echo "stderr lacks: $1"; return 1; }; }
prints() { grep -qF -- "$1" out || { echo "stdout lacks: $1"; return 1; }; }
quiet() { [ ! -s err ] || { echo "stderr is not empty"; return 1; }; }
no_file() { [ ! -e "$1" ] || { echo "$1 is there"; return 1; }; }
last_line_valid() { tail -1 err | grep -qE '^results valid to t=[-0-9.e+]+$'; }

# whole_csv FILE: every line has as many fields as the first, and ends
whole_csv() {
    [ -s "$1" ] && [ "$(tail -c 1 "$1" | od -An -tu1 | tr -d ' ')" = 10 ] &&
        awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad || NR < 2 }' "$1"
}

python=""
python3 -c 'import json' 2>/dev/null && python=1
# json FILE [EXPRESSION of d]: valid JSON for which the expression holds
json() {
    if [ -n "$python" ]; then
        python3 - "$1" "${2:-True}" <<'END'
import json, sys
def bad(x): raise ValueError(x)
d = json.load(open(sys.argv[1]), parse_constant=bad)
sys.exit(0 if eval(sys.argv[2]) else 1)
END
    else
        [ "$(head -c 1 "$1")" = "{" ] && [ "$(tail -n 1 "$1")" = "}" ] &&
            ! grep -qE ': *-?(nan|inf)' "$1"
    fi
}

# ---- help, version, words that do not exist ----
check "help" eval 'run 0 --help && prints "solve" && prints "reproduce" && quiet'
check "help of a verb" eval 'run 0 help solve && prints "--max-order" && prints "--rtol"'
check "--help after a verb" eval 'run 0 problems --help && prints "daedalus problems"'
check "version" eval 'run 0 --version && grep -qE "^daedalus [0-9]+\.[0-9]+\.[0-9]+$" out'
check "no command" eval 'run 2 && says "error[E_ARG]"'
check "unknown command" eval 'run 2 slove && says "did you mean '"'solve'"'"'
check "unknown flag" eval 'run 2 solve robertson --rtl 1 && says "did you mean --rtol?"'
check "unknown problem" eval 'run 2 solve robertsn && says "did you mean '"'robertson'"'"'
check "unknown problem described" eval 'run 2 problems pendlum && says "pendulum"'
for verb in solve problems; do
    check "unknown problem like no other: $verb points to the list" eval \
        'run 2 $verb foo && says "lists them all" && ! grep -q "did you mean" err'
done
check "unknown form" eval 'run 2 solve pendulum --form indx2 && says "did you mean '"'index2'"'"'
check "unknown setting" eval 'run 2 solve pendulum --set agle=3 && says "'"'angle'"'"'
check "unknown method" eval 'run 2 solve robertson --method bdff && says "bdff"'
check "analyze a problem" eval 'run 0 analyze pendulum && prints "differential index    3" &&
    prints "degrees of freedom    2" && prints "hidden, level 2" && quiet'
check "analyze a problem, reduced" eval 'run 0 analyze sine --reduce --perturb &&
    prints "regular, index 2" && prints "P M Q = diag(1 ones, 1 zeros)" &&
    prints "by experiment         perturbation index 2"'
check "analyze a problem as JSON" eval 'run 0 analyze chain --set nu=6 --reduce --json &&
    json out "d[\"index\"] == 6 and d[\"pencil\"][\"index\"] == 6"'
check "analyze an unknown form" eval 'run 2 analyze pendulum --form indx2 &&
    says "did you mean '"'index2'"'"'
check "analyze with a wrong tolerance" eval 'run 2 analyze pendulum --tolerance 5 && says tolerance'
check "unknown linear solver" eval 'run 2 solve robertson --linear lu && says "klu"'
echo 'model M Real x(start = 1); equation der(x) = -x; end M;' >kinds.mo
for option in --values=x=1 --form=a --start=check --fixed-step=0.1 --max-order=2 --rtol=1e-3 \
    --method=radau; do
    check "init of a model refuses ${option%%=*}" eval 'run 2 init kinds.mo $option &&
        says "error[E_OPTION]: option ${option%%=*} is for built-in problems"'
done
for option in --keep=x --strict --hold-states --time=1 --model=M --library=. --max-memory=1e9; do
    check "init of a problem refuses ${option%%=*}" eval 'run 2 init pendulum $option &&
        says "error[E_OPTION]: option ${option%%=*} is for models"'
done
for option in --tolerance=1e-6 --perturb --form=a; do
    check "analyze of a model refuses ${option%%=*}" eval 'run 2 analyze kinds.mo $option &&
        says "error[E_OPTION]: option ${option%%=*} is for built-in problems"'
done
for option in --model=M --library=. --max-memory=1e9; do
    check "analyze of a problem refuses ${option%%=*}" eval 'run 2 analyze pendulum $option &&
        says "error[E_OPTION]: option ${option%%=*} is for models"'
done
check "unknown reproduction" eval 'run 2 reproduce nothing-like-it && says "error[E_OPTION]"'
check "unknown start" eval 'run 2 solve robertson --start trst && says "'"'trust'"'"'
check "control characters are escaped" eval \
    'run 2 solve "$(printf "a\033[31mb")" && says "a\x1b[31mb"'

# ---- values ----
check "no problem named" run 2 solve
check "missing value" eval 'run 2 solve robertson --rtol && says "needs a value"'
check "empty value" eval 'run 2 solve robertson --rtol= && says "empty"'
check "a switch with a value" eval 'run 2 solve robertson --stats=3 && says "no value"'
check "given twice" eval 'run 2 solve robertson --rtol 1e-3 --rtol 1e-4 && says "twice"'
check "set twice" run 2 solve pendulum --set g=1 --set g=2
check "one argument too many" run 2 solve robertson pendulum
check "decimal comma" eval 'run 2 solve robertson --rtol 1,5 && says "not a number"'
check "overflowing number" run 2 solve robertson --stop 1e999
check "setting NaN" run 2 solve pendulum --set g=nan
check "setting out of range" eval 'run 2 solve pendulum --set length=-1 && says "out of range"'
check "rtol negative" eval 'run 2 solve robertson --rtol -1 && says "error[E_TOL]"'
check "rtol without a digit" eval 'run 2 solve robertson --rtol 2 && says "error[E_TOL]" && says "rtol <= 0.1"'
# Names of the field's codes lead to the method that does the same.
for pair in dassl:bdf ida:bdf lsodi:bdf ode15s:bdf IDA:bdf radau5:radau pside:radau mebdfi:mebdf \
    gamd:gam ode23tb:trbdf2 ode45:dopri5; do
    check "method of the code ${pair%:*}" eval 'run 0 solve akzo --stop 1 --method ${pair%:*} --json &&
        says "method '"'"'${pair#*:}'"'"' is taken" && prints "\"method\": \"${pair#*:}\""'
done
check "a code asked for by methods" eval 'run 2 methods dassl && says "daedalus methods bdf"'
check "a model given to solve" eval 'run 2 solve tea.mo && says "daedalus simulate tea.mo"'
check "rtol NaN" eval 'run 2 solve robertson --rtol nan && says "error[E_TOL]"'
check "both tolerances zero" eval 'run 2 solve robertson --rtol 0 --atol 0 && says "E_TOL"'
check "order 0" run 2 solve robertson --max-order 0
check "order 100" run 2 solve robertson --max-order 100
check "order 2.5" run 2 solve robertson --max-order 2.5
check "stop infinite" eval 'run 2 solve robertson --stop inf && says "error[E_TIME]"'
check "one point" run 2 solve robertson -o p1.csv --points 1
check "points without a file" run 2 solve robertson --points 5
check "too many points" eval \
    'run 9 solve robertson -o huge.csv --points 1e13 && says "E_LIMIT" && no_file huge.csv'
check "-- ends the flags" eval 'run 2 solve -- --rtol && says "no problem '"'--rtol'"'"'

# ---- results ----
check "list of problems" eval 'run 0 problems && prints robertson && prints pendulum'
check "list as JSON" eval \
    'run 0 problems --json && json out "len(d[\"problems\"]) > 10 and d[\"status\"] == \"ok\""'
check "one problem" eval 'run 0 problems pendulum && prints index2 && prints angle'
check "methods" eval 'run 0 methods && prints bdf'
check "methods as JSON" eval 'run 0 methods --json && json out "d[\"methods\"][0][\"name\"]"'
check "tables in the list" eval \
    'run 0 methods && prints radau2a-3 && prints "TR-BDF2" && prints "gauss-S" && quiet'
check "a table described" eval \
    'run 0 methods radau2a-3 && prints 0.644948974278318 && prints "algebraically stable"'
check "a table as JSON" eval \
    'run 0 methods sdirk4-16 --json && json out "(d[\"computed\"][\"order\"] == 4 ==
        d[\"claimed\"][\"order\"] and d[\"A\"][4][2] == 7.8125 and d[\"R_infinity\"] == 0)"'
check "any number of stages" eval 'run 0 methods gauss-11 && prints "11 stages"'
check "an explicit method is not bounded" eval 'run 0 methods rk4 && prints infinite'
# as_claimed: what was computed for the table in out is what it claims
as_claimed() { json out 'all(d["computed"][k] == v for k, v in d["claimed"].items())'; }
every_table() {
    local name count=0
    run 0 methods || return 1
    for name in $(awk '/^table/ { on = 1; next } NF == 0 { on = 0 } on { print $1 }' out); do
        run 0 methods "$name" --json && as_claimed || { echo "$name"; return 1; }
        count=$((count + 1))
    done
    [ $count -ge 28 ]
}
check "every table is what it claims" every_table
check "a method that is no table" eval 'run 0 methods bdf && prints "bdf: " && quiet'
check "unknown table" eval 'run 2 methods radau2a3 && says "did you mean '"'radau2a-3'"'"'
check "unknown table, nothing near" eval 'run 2 methods xyzzyxyzzy && says "lists them all"'
check "consistent values" eval 'run 0 init robertson --values x3=0.5 && prints changed && prints "total mass"'
check "consistent values as JSON" eval \
    'run 0 init robertson --values x3=0.5 --json && json out "d[\"changed\"] == [\"x3\"] and abs(d[\"consistent\"][\"x3\"]) < 1e-12"'
check "the first step of Euler" eval \
    'run 0 init arevalo-51 --fixed-step 1e-3 --json && json out "abs(d[\"first_step_error\"][\"lambda\"] + 2) < 0.01 and abs(d[\"numerically_consistent\"][\"u\"] - 1.0823) < 5e-5"'
check "the first steps of BDF" eval \
    'run 0 init arevalo-51 --fixed-step 5e-3 --max-order 3 --json && json out "len(d[\"first_step_errors\"]) == 3"'
check "values that contradict" eval 'run 5 init pendulum --values px=0,py=0 && says "E_INCONSISTENT" && says "hidden"'
check "values that are only checked" eval \
    'run 5 init sine --values y=5 --start check && says "E_INCONSISTENT" && says "'"'y'"'"'
check "a hidden constraint" eval \
    'run 0 init sine --values x=0.3,y=5 --json && json out "(abs(d[\"consistent\"][\"x\"]) < 1e-9 and
        abs(d[\"consistent\"][\"y\"] + 1) < 1e-9 and abs(d[\"hidden_constraints\"][0][\"before\"] - 6) < 1e-9 and
        abs(d[\"hidden_constraints\"][0][\"after\"]) < 1e-9)"'
check "with a leading term" eval \
    'run 0 init sine --form leading --values y=5 --json && json out "abs(d[\"consistent\"][\"y\"] + 1) < 1e-9"'
check "a chain of hidden constraints" eval \
    'run 0 init chain --values y2=5,y3=7 --json && json out "(abs(d[\"consistent\"][\"y2\"] - 1) < 1e-9 and
        abs(d[\"consistent\"][\"y3\"]) < 1e-9 and abs(d[\"derivative\"][2] + 1) < 1e-9 and
        [c[\"level\"] for c in d[\"hidden_constraints\"]] == [1, 2])"'
check "a multiplier" eval \
    'run 0 init hessenberg2 --values z=7 && prints "hidden constraint" &&
     run 0 init hessenberg2 --values z=7 --json && json out "d[\"changed\"] == [\"z\"] and abs(d[\"consistent\"][\"z\"] - 1) < 1e-9"'
# |p - p0|^2 + |v - v0|^2 least: v is v0 without its part along p, which leaves |p - p0|^2 + (p.v0)^2
# on the circle; its derivative along the circle vanishes
nearest_pendulum='def near(d):
    g, c = d["given"], d["consistent"]
    p, v, q, w = [[e[a], e[b]] for e in (c, g) for a, b in (("px", "py"), ("vx", "vy"))]
    dot = lambda a, b: a[0] * b[0] + a[1] * b[1]
    along = [-p[1], p[0]]
    return max(abs(dot(p, p) - 1), abs(dot(p, v)), abs(dot(v, v) - 9.81 * p[1] - 2 * c["lambda"]),
               abs(dot(v, along) - dot(w, along)), abs(dot(p, w) * dot(w, along) - dot(q, along)))'
pendulum_is_nearest() {
    run 0 init pendulum --values "$1" --json || return 1
    [ -n "$python" ] || return 0
    python3 -c "$nearest_pendulum
import json
assert near(json.load(open('out'))) < 1e-7"
}
check "the nearest pendulum" pendulum_is_nearest px=0.6,py=-0.8,vx=1,vy=1,lambda=0
check "the nearest pendulum, from inconsistent positions" pendulum_is_nearest px=0.5,py=-0.9,vx=0.9,vy=0.2,lambda=3
check "values of the collection stay" eval \
    'run 0 init andrews --form index3 --json && json out "d[\"changed\"] == [] and len(d[\"hidden_constraints\"]) == 12"'
check "a mechanism that does not close" eval \
    'run 5 init andrews --values beta=0 --start trust && says "E_INCONSISTENT" && says "loop 1" &&
     run 0 init andrews --values beta=0 && prints "hidden constraint"'
check "init of an unknown unknown" eval 'run 2 init pendulum --values pz=1 && says "px"'
check "init of nothing" eval 'run 2 init && says "init needs"'
check "first steps by name" eval \
    'run 0 solve arevalo-51 --fixed-step 1e-3 --max-order 1 --first consistent --stop 0.01'
check "first steps misspelt" eval 'run 2 solve arevalo-51 --first consistnt && says "consistent"'
check "first steps of another method" eval \
    'run 2 solve arevalo-51 --method radau --first consistent && says "radau"'
check "a figure" eval \
    'run 0 reproduce arevalo --plot "$folder/figure.svg" && grep -q "Figure 5.1" "$folder/figure.svg"'
check "Earth and Moon are not joined" eval \
    'run 0 reproduce moon --plot "$folder/moon.svg" --figure 2 &&
     [ "$(grep "<path" "$folder/moon.svg" | tail -1 | tr -cd M | wc -c)" = 2 ]'
check "no such figure" eval 'run 2 reproduce arevalo --plot "$folder/f2.svg" --figure 9 && says "has 1"'
check "reproductions as JSON" eval 'run 0 reproduce --json && json out "d[\"reproductions\"]"'
check "a table" eval 'run 0 solve pendulum && prints lambda && prints "scd" && quiet'
check "the rest is counted" eval 'run 0 solve medakzo --stop 1 && prints "and 380 more"'
check "statistics only if asked" eval \
    'run 0 solve robertson && ! grep -q factorizations out &&
     run 0 solve robertson --stats && prints factorizations'
names='set("status message method t steps rejected residuals jacobians factorizations
solves newton_iterations cpu_seconds final digits".split()) <= set(d)'
names=$(echo $names)
check "the names of the JSON" eval 'run 0 solve robertson --json && json out "$names"'
check "right answer" eval 'run 0 solve robertson --rtol 1e-8 --json &&
    json out "d[\"digits\"][\"mescd\"] > 6 and abs(d[\"final\"][\"x3\"] - 1) < 1e-6"'
check "no digits away from the reference" eval \
    'run 0 solve robertson --stop 10 --json && json out "\"digits\" not in d"'
check "digits everywhere with an exact solution" eval \
    'run 0 solve pendulum --stop 0.7 --json && json out "d[\"digits\"][\"scd\"] > 1"'
check "an empty interval" eval \
    'run 0 solve pendulum --stop 0 -o empty.csv && [ "$(wc -l <empty.csv)" = 2 ]'
check "infinite digits are null" eval 'run 0 solve sine --stop 0 --json &&
    json out "d[\"digits\"][\"mescd\"] is None"'
check "backwards" eval 'run 0 solve pendulum --stop -0.5 --json && json out "d[\"t\"] == -0.5"'

# ---- failures of a run ----
check "step limit" eval 'run 9 solve robertson --max-steps 20 -o limit.csv &&
    says "error[E_WORK]" && last_line_valid && whole_csv limit.csv'
check "rows up to the last accepted point" eval \
    '[ "$(tail -1 limit.csv | cut -d, -f1)" = "$(tail -1 err | sed "s/.*t=//")" ] &&
     [ "$(wc -l <limit.csv)" = 22 ]'
check "JSON of a failed run" eval 'run 9 solve robertson --max-steps 20 --json &&
    json out "d[\"status\"] == \"E_WORK\" and d[\"steps\"] == 20"'
check "JSON of a usage error" eval \
    'run 2 solve robertsn --json && json out "d[\"status\"] == \"E_OPTION\""'
check "errors as JSON" eval 'run 2 solve robertsn --json-errors &&
    json err "d[\"error\"][\"code\"] == \"E_OPTION\" and d[\"error\"][\"exit\"] == 2"'
check "failed run, error as JSON" eval 'run 9 solve robertson --max-steps 9 --json-errors &&
    json err "d[\"error\"][\"valid_to\"] > 0"'
check "bytes that are no UTF-8 in JSON" eval \
    'run 2 solve "$(printf "\377\376")" --json && json out'

# ---- files ----
check "trajectory" eval 'run 0 solve pendulum -o a.csv && whole_csv a.csv &&
    [ "$(head -1 a.csv)" = "time,px,py,vx,vy,lambda" ]'
check "an existing file is kept" eval 'cp a.csv kept.csv && run 8 solve pendulum -o a.csv &&
    says "error[E_IO]" && says "--force" && cmp -s a.csv kept.csv'
check "--force replaces it" eval 'run 0 solve pendulum --stop 0.1 -o a.csv --force &&
    whole_csv a.csv && ! cmp -s a.csv kept.csv && [ -z "$(ls | grep new-)" ]'
check "a wrong option spares the old file" eval 'cp a.csv kept.csv &&
    run 2 solve pendulum -o a.csv --force --rtol -1 && cmp -s a.csv kept.csv'
check "a symbolic link is not followed" eval 'echo precious >victim && ln -s victim link.csv &&
    run 8 solve pendulum -o link.csv && run 0 solve pendulum -o link.csv --force &&
    [ "$(cat victim)" = precious ]'
check "folder missing" eval 'run 8 solve pendulum -o nowhere/a.csv && says "folder"'
check "path is a folder" eval 'mkdir -p dir && run 8 solve pendulum -o dir --force'
check "name too long" run 8 solve pendulum -o "$(printf 'a%.0s' $(seq 300)).csv"
check "two outputs, one name" run 2 solve pendulum -o same.csv --log same.csv
check "a failed second file takes the first along" eval \
    'run 8 solve pendulum -o first.csv --log nowhere/l.csv && no_file first.csv'
check "equidistant points" eval 'run 0 solve pendulum -o p.csv --points 11 &&
    [ "$(wc -l <p.csv)" = 12 ] && [ "$(tail -1 p.csv | cut -d, -f1)" = 1 ]'
check "commas in names are quoted" eval 'run 0 solve heat2d --set grid=3 -o h.csv &&
    head -1 h.csv | grep -qF "time,\"u[1,1]\",\"u[2,1]\""'
round_trip() { # last row of the CSV and the JSON are the same doubles
    run 0 solve akzo -o rt.csv --json || return 1
    [ -z "$python" ] || python3 - <<'END'
import csv, json, sys
rows = list(csv.DictReader(open("rt.csv")))
final = json.load(open("out"))["final"]
sys.exit(any(float(rows[-1][k]) != v for k, v in final.items()))
END
}
check "CSV round trip, bit for bit" round_trip
check "step log" eval 'run 0 solve vanderpol --log log.csv --json && whole_csv log.csv &&
    head -1 log.csv | grep -q "^step,verdict,t,h,order" &&
    json out "d[\"steps\"] == sum(\",accepted,\" in l for l in open(\"log.csv\"))"'
check "picture" eval 'run 0 solve pendulum --plot p.svg --plot-variables px,py*2 &&
    head -1 p.svg | grep -q "<?xml" && tail -1 p.svg | grep -q "</svg>" &&
    [ "$(grep -c "<path" p.svg)" = 2 ] && ! grep -qE "nan|inf" p.svg'
check "picture over logarithmic time" eval \
    'run 0 solve robertson --plot l.svg --log-time && ! grep -qE "nan|inf" l.svg'
flat='four-bar --set coupler=2 --set rocker=1 --set angle=60 --set speed=6'
# A step may end there, within rounding, or pass over it: it is told in any case.
tells_singular() {
    local tolerance passed=0
    for tolerance in 1e-4 1e-5 3e-6 1e-6 1e-7; do
        if timeout 100 "$program" solve $flat --form index3 --rtol $tolerance >out 2>err </dev/null; then
            prints "WARNING: singular position at t = 0.65" || return 1
            passed=$((passed + 1))
        else
            says "a singular position" || prints "WARNING: singular position at t = 0.65" || return 1
        fi
    done
    [ $passed -gt 0 ] || { echo "no step passed over it"; return 1; }
}
check "a singular position that was stepped over is told" tells_singular
check "no warning where there is none" eval 'run 0 solve four-bar && ! grep -q WARNING out'
check "looking for one is no work of the method: five stages, ten iterations at most" eval \
    'run 0 solve andrews --form ggl --method radau --json && json out "d[\"residuals\"] < 50 * d[\"steps\"]"'
for image in p.png p.pdf p.JPG; do
    check "pictures are SVG, not ${image##*.}" eval \
        'run 2 solve pendulum --plot $image && says ".svg" && no_file $image &&
         run 2 reproduce arevalo --plot $image && says ".svg" && no_file $image'
done
check "picture of an unknown unknown" eval 'run 2 solve pendulum --plot q.svg \
    --plot-variables pz && says "did you mean" && no_file q.svg'
check "picture options without a picture" run 2 solve pendulum --log-time
check "same input, same bytes" eval 'run 0 solve hires -o h1.csv && run 0 solve hires -o h2.csv &&
    cmp -s h1.csv h2.csv'

# ---- output that cannot be written ----
if [ -w /dev/full ]; then
    full() { timeout 100 "$program" "$@" >/dev/full 2>err; [ $? = 8 ] && says "E_IO"; }
    check "help to a full device" full --help
    check "version to a full device" full --version
    check "results to a full device" full solve pendulum
    check "JSON to a full device" full problems --json
    check "trajectory to a full device" eval \
        'run 8 solve pendulum -o /dev/full --force && says "No space left"'
    check "log to a full device" run 8 solve pendulum --log /dev/full --force
    check "picture to a full device" run 8 solve pendulum --plot /dev/full --force
fi
closed() { timeout 100 "$program" "$@" >&- 2>err; [ $? = 8 ]; }
check "help to a closed output" closed --help
check "results to a closed output" closed solve pendulum
reserved() { # no file of ours may become descriptor 1
    local pid place
    "$program" solve pendulum --stop 1e9 --max-steps 1e12 --initial-step 1e-3 \
        -o fd.csv >&- 2>err &
    pid=$!
    sleep 0.5
    place=$(readlink /proc/$pid/fd/1)
    kill -TERM $pid
    wait $pid
    [ "$place" = /dev/null ] && whole_csv fd.csv
}
if [ -e /proc/self/fd/1 ]; then
    check "a closed output is no file's descriptor" reserved
fi
limited() ( # 8 blocks of 1024 bytes
    ulimit -f 8
    timeout 100 "$program" solve pendulum --stop 50 -o small.csv >out 2>err
    [ $? = 9 ]
)
check "limit on file size" eval 'limited && says "E_LIMIT" && last_line_valid &&
    whole_csv small.csv'
check "our own limit on file size" eval 'run 9 solve pendulum --stop 50 -o most.csv \
    --max-output 5000 && says "--max-output" && last_line_valid && whole_csv most.csv'

# ---- pipes and signals ----
gone() { # the reader has left before anything is written
    { sleep 0.3; "$program" "$@" 2>err; echo $? >code; } | true
    [ "$(cat code)" = 141 ] && quiet
}
check "broken pipe" gone problems
check "broken pipe, JSON" gone solve robertson --json
check "broken pipe, trajectory" gone solve robertson -o -
check "a broken pipe spares the other files" eval \
    'gone solve robertson -o - --plot pipe.svg && tail -1 pipe.svg | grep -q "</svg>"'
check "trajectory on standard output" eval 'run 0 solve pendulum -o - && whole_csv out'

# interrupted SIGNAL CODE: a run that would last for hours
interrupted() {
    local pid code tries=0
    rm -f long.csv
    "$program" solve pendulum --stop 1e9 --max-steps 1e12 --initial-step 1e-3 -o long.csv --json >out 2>err &
    pid=$!
    while [ "$(cat long.csv 2>/dev/null | wc -l)" -lt 5 ] && [ $tries -lt 100 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -"$1" $pid
    wait $pid
    code=$?
    [ $code = "$2" ] || { echo "exit $code, not $2"; return 1; }
    says "SIG$1" && last_line_valid && whole_csv long.csv &&
        [ "$(tail -1 long.csv | cut -d, -f1)" = "$(tail -1 err | sed 's/.*t=//')" ] &&
        json out 'd["status"] == "E_INTERRUPTED" and d["steps"] > 0'
}
# a background process of a shell without job control ignores SIGINT: give it back
set -m
check "SIGINT" interrupted INT 130
check "SIGTERM" interrupted TERM 143
check "SIGHUP" interrupted HUP 129
killed() { # nothing that was accepted is lost even then
    "$program" solve pendulum --stop 1e9 --max-steps 1e12 --initial-step 1e-3 -o killed.csv >out 2>err &
    sleep 0.5
    kill -KILL $!
    wait $! 2>/dev/null
    whole_csv killed.csv && [ "$(wc -l <killed.csv)" -gt 100 ]
}
check "SIGKILL leaves complete rows" killed
set +m
check "silent in a pipe" eval 'run 0 solve transistor-amplifier --rtol 1e-9 && quiet'

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
