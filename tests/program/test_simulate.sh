#!/bin/bash
# daedalus simulate, check and flatten from outside: options, files, messages, exit codes,
# signals. Finds the program in DAEDALUS_PROGRAM, models in tests/models. Every check prints a
# line in cmocka's words, so that scripts/check counts it; the last line is the sum.
set -u
program=${DAEDALUS_PROGRAM:?set DAEDALUS_PROGRAM to the program}
models=${DAEDALUS_SOURCE:?set DAEDALUS_SOURCE to the source tree}/tests/models
export LC_ALL=C OPENBLAS_NUM_THREADS=1
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
passed=0
failed=0

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

run() { # CODE ARGUMENTS...
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
whole_csv() { # FILE: every line has as many fields as the first, and ends
    [ -s "$1" ] && [ "$(tail -c 1 "$1" | od -An -tu1 | tr -d ' ')" = 10 ] &&
        awk -F, 'NR == 1 { n = NF } NF != n { bad = 1 } END { exit bad || NR < 2 }' "$1"
}
number() { # NAME: from the JSON in out
    sed -n "s/^ *\"$1\": \([-0-9.e+]*\),*\$/\1/p" out | tail -1
}
near() { # A B TOLERANCE
    awk -v a="$1" -v b="$2" -v e="$3" 'BEGIN { d = a - b; exit !(a != "" && d <= e && -d <= e) }' ||
        { echo "$1 is not near $2"; return 1; }
}
field() { # CSV NAME: the last value of a column
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) k = i }
        END { print k ? $k : "" }' "$1"
}
python=""
python3 -c 'import json, struct' 2>/dev/null && python=1

decay=$models/Decay.mo
swing=$models/Swing.mo

# ---- help, words that do not exist ----
check "help" eval 'run 0 --help && prints simulate && prints flatten && quiet'
check "help of simulate" eval 'run 0 help simulate && prints "--output-variables" &&
    prints "--intervals" && prints "--report"'
check "unknown flag" eval 'run 2 simulate "$decay" --reprt x && says "did you mean --report?"'
check "no model named" eval 'run 2 simulate && says "needs the file of a model"'
check "one argument too many" run 2 simulate "$decay" "$swing"
check "no such file" eval 'run 8 simulate nowhere.mo && says "nowhere.mo"'
check "a folder without a package" eval 'mkdir -p empty && run 8 simulate empty ||
    { run 3 simulate empty; }'
check "no such class" eval 'run 2 simulate "$decay" --model Decy && says "Decay"'
check "a class by name" eval 'run 0 simulate "$decay" --model Decay && prints Decay'

# ---- check, flatten ----
printf 'model Bad\n  Real x\nequation\n  x = 1;\nend Bad;\n' >bad.mo
printf 'model Unknown\n  Real speed;\nequation\n  sped = 1;\nend Unknown;\n' >unknown.mo
# a part is right if it is with something connected to it: one equation for each of its flows
pin='connector Pin Real v; flow Real i; end Pin;'
part() { # FILE EQUATIONS of a component with two pins
    printf 'package A %s model R Pin p, n; equation %s end R; end A;' "$pin" "$2" >"$1"
}
part resistor.mo 'p.v - n.v = 3*p.i; p.i + n.i = 0;'
part less.mo 'p.v - n.v = 3*p.i;'
part more.mo 'p.v - n.v = 3*p.i; p.i + n.i = 0; p.v = 1;'
check "a component alone" eval 'run 0 check resistor.mo && prints "A.R is correct as a part of a larger model, not by itself: 4 equations, 4 var" &&
    run 4 simulate resistor.mo'
check "a component with an equation too few" eval 'run 4 check less.mo && says "3 equations for 4"'
check "a component with an equation too many" eval 'run 4 check more.mo && says "5 equations for 4"'

printf 'model M Real x, y; equation x = x; y = 1; end M;' >itself.mo
check "an equation that says nothing" eval 'run 4 check itself.mo && says "x = x" &&
    says "itself.mo:1:29" && says "cancels"'
printf 'model M Real x(start = 1, fixed = true), v; equation der(x) = v; when x < 0 then reinit(v, -pre(v)); end when; end M;' >bounce.mo
check "too few equations without the events" eval 'run 4 simulate bounce.mo && says "hybrid models" &&
    says "1 equation for 2 unknowns"'
long=$(printf 'folder-%02d/' $(seq 1 30))
mkdir -p "$long" && printf 'model M Real x, y; equation x = 1; x = 2; end M;' >"$long/Long.mo"
check "the end of a long path is shown" eval 'run 4 check "$long/Long.mo" && says "Long.mo:1:36)"'

# ---- ends ----
printf 'model M Real x(start = 0, fixed = true), y; equation der(x) = 1; y = log(0.5 - x); end M;' >log.mo
check "a variable that becomes infinite" eval 'run 6 simulate log.mo -o log.csv && says "E_NONFINITE" &&
    says "t = 0.5, equation" && says "logarithm" && whole_csv log.csv && ! grep -qE "inf|nan" log.csv'
printf 'model M Real x(start = 0, fixed = true); equation der(x) = 1; if x > 0.25 then terminate("enough"); end if; end M;' >enough.mo
check "terminate" eval 'run 0 simulate enough.mo -o enough.csv && says "enough" &&
    prints "ended at t = 0.25" && near "$(field enough.csv x)" 0.25 1e-9'

cat >rod.mo <<'EOF'
model Rod "der(x) = u: known on every route what der(der(x)) is; der(2*y) is not called anything"
  Real x(start = 0, fixed = true), y(start = -1), u(start = 3, fixed = true), v, F;
equation
  der(x) = u; 2*der(y) = v;
  der(u) = -F*x; der(v) = 2*(-F*y - 9.81);
  x^2 + y^2 = 1;
end Rod;
EOF
for route in direct array; do
    check "second derivatives on route $route" eval 'run 0 simulate rod.mo --route $route --stop 0.5 &&
        ! grep -qi nan out && ! grep -q "der(der(x)) .*not on" out &&
        [ "$(awk "/der\(der\(x\)\)/ { print \$2 }" out)" = "$(awk "/ der\(u\)/ { print \$2 }" out)" ]'
done
check "a correct model" eval 'run 0 check "$decay" && prints "Decay is correct" &&
    [ "$(wc -l <out)" = 1 ]'
check "too few equations are said without a run" eval 'run 4 check "$models/Few.mo" &&
    says "error[E_STRUCTURE]" && says "z"'
printf 'model Bounce\n  parameter Real g = 9.81;\n  Real h(start = 1, fixed = true), v(fixed = true);\n  Integer n;\nequation
  der(h) = v;\n  der(v) = -g;\n  when h < 0 then\n    reinit(v, -pre(v));\n    n = pre(n) + 1;\n  end when;
end Bounce;\n' >bounce.mo
check "what when sets counts as determined" eval 'run 4 check bounce.mo && says "hybrid models are not" &&
    says "(bounce.mo:8:3)" && ! says "unknown"'

# What simulate refuses before it looks for numbers check refuses: the same words, the same exit code.
agree() { # CODE NAME DECLARATIONS-AND-EQUATIONS WORDS...
    local code=$1 file=$2.mo
    printf 'model %s\n%s\nend %s;\n' "$2" "$3" "$2" >"$file"
    shift 3
    run "$code" check "$file" && cp err checked && run "$code" simulate "$file" && cmp -s err checked || return 1
    for words; do says "$words" || return 1; done
}

# Start values that move are told by a run, whatever the states it ends with, and by whatever route.
pendulum() { printf 'model P Real x(start = 1), y(start = %s), u, v, lambda; equation
  der(x) = u; der(y) = v; der(u) = -lambda*x; der(v) = -lambda*y - 9.81; x^2 + y^2 = 1; end P;' "$1" >pendulum.mo; }
pendulum -0.5 # the nearest point has the same direction: (1, -0.5)/sqrt(1.25)
printf 'model D Real x(start = 1, fixed = true); equation der(x) = -x; end D;' >agreed.mo
for options in "--stop 0.1" "--stop 5" "--stop 0.1 --route projection" "--stop 0.1 --route array"; do
    check "start values that moved: $options" eval 'run 0 simulate pendulum.mo $options &&
        says "y from -0.5 to -0.447214" && says "x from 1 to 0.894427" && ! says "u = 0"'
done

printf 'model L Real x, y; equation x = delay(sin(time), 0.1); der(x) = y; end L;' >late.mo
check "what cannot be differentiated, why it has to be" eval 'run 4 check late.mo && says "it contains delay(" &&
    says "der(x) is needed" && says "(late.mo:1:29)"'
check "options of the library as those of the program" eval 'run 2 solve vanderpol --min-step 1 --max-step 0.1 &&
    says "error[E_STEP]: --min-step exceeds --max-step" && run 2 solve vanderpol --method milne && says "give --fixed-step, or" &&
    run 2 simulate agreed.mo --method milne && says "give --fixed-step (of '"'daedalus solve'"'), or" && ! says "option '"'"'"'
check "a method that is not there" eval 'run 2 simulate agreed.mo --method foo && says "daedalus methods" && ! says "dae_"'

# What beginners write, and what they are told.
check "an initial value written as an equation" agree 4 Initially '  Real x = 1;
equation
  der(x) = -x;' "'x = 1' holds always" 'x(start = 1, fixed = true)'
check "a delay time below zero" agree 3 Backwards '  parameter Real d = -1;
  Real x = delay(time, d);' "a delay time is negative" "it is -1"
check "an equation for a parameter" agree 4 Given '  parameter Real k = 1;
  Real x = time;
equation
  k = 2;' "'k' is a parameter"
check "equations that contradict each other" agree 4 Against '  Real x, y;
equation
  x + y = 1;
  2*x + 2*y = 3;' 'contradict each other'
check "equations that say the same" agree 4 Same '  Real x, y;
equation
  x + y = 1;
  2*x + 2*y = 2;' 'says what the others say: write another'

# Potentials of which only differences count, in any domain; what has a level beside them is left alone.
circuit() { # FILE DECLARATIONS-AND-EQUATIONS
    printf 'package G
  connector Pin Real v%s; flow Real i; end Pin;
  partial model Two Pin p, n; Real v, i; equation v = p.v - n.v; i = p.i; p.i + n.i = 0; end Two;
  model R extends Two; equation v = 2*i; end R;
  model D extends Two; equation i = if v > 0 then v else 1e-3*v; end D;
  model C extends Two(v(start = 0, fixed = true)); equation der(v) = i; end C;
  model S extends Two; equation v = sin(time); end S;
  model Ground Pin p; equation p.v = 0; end Ground;
  model M %s end M; end G;' "${3:-}" "$2" >"$1"
}
loop='S s; R r; C c; D d; equation connect(s.p, r.p); connect(r.n, c.p); connect(c.n, d.p); connect(d.n, s.n);'
circuit loop.mo "$loop"
circuit grounded.mo "Ground g; $loop connect(g.p, s.n);"
circuit two.mo "Ground g; S s2; R r2; $loop connect(g.p, s.n); connect(s2.p, r2.p); connect(s2.n, r2.n);"
circuit warm.mo "$loop" '(unit = "K")'
check "a circuit without ground" eval 'run 4 check loop.mo && says "nothing fixes the level of 8 connected potentials" &&
    says "s.p.v" && says "ground" && run 4 simulate loop.mo && says "nothing fixes the level"'
check "a circuit with a ground" run 0 simulate grounded.mo
check "one of two circuits without ground" eval 'run 4 check two.mo && says "of 4 connected" &&
    says "s2.p.v" && ! says "s.p.v"'
check "temperatures without a level" eval 'run 4 check warm.mo && says "a given temperature"'

# Inside of functions that are run step by step: variables by their names, messages with values.
halve='function f input Real u; output Real y; protected Real z; Integer n; Real a[3]; algorithm z := u; n := 0;
  a := {1, 2, 3};
  while z > 1 loop z := z/2; n := n + 1; end while;'
check "values in the message of a loop" eval 'printf "model A %s
  assert(z > 0.9, \"z is \" + String(z) + \" after \" + String(n)); y := z; end f; Real x = f(3 + time); end A;" "$halve" >A.mo &&
    run 7 simulate A.mo && says "z is 0.75 after 2" && says "A.mo:4:3" && says "z = 0.75" && ! says local &&
    { ! "$program" simulate A.mo --native 2>err >out; } && says "z is 0.75 after 2"'
check "an index out of range" eval 'printf "model I %s
  y := a[n]; end f; Real x = f(99 + time); end I;" "$halve" >I.mo &&
    run 5 simulate I.mo && says "index out of range" && says "I.mo:4:3" && says "the index is 7; n = 7" &&
    says "'"'a'"' has 3 elements" && ! says local'
check "values in the message of an algorithm" eval 'printf "model P Real p = 2 + time, y; Integer n; algorithm y := 0; n := 0;
  while n < p loop n := n + 1; assert(y < 5, \"y is \" + String(y) + \" for p = \" + String(p)); y := y + 3*n; end while; end P;" >P.mo &&
    run 7 simulate P.mo && says "y is 9 for p = 2"'

check "agree: when" agree 4 When 'discrete Real x(start = 0, fixed = true);
equation
  when time > 0.5 then
    x = 1;
  end when;' 'hybrid models' '(When.mo:4:3)'
check "agree: pre without when" agree 4 Pre '  Boolean b(start = false);
equation
  b = time > 0.5 or pre(b);' "'pre(b)' (Pre.mo:4:3)"
check "agree: sample in a declaration" agree 4 Sample 'Boolean b = sample(0, 0.1);' 'Sample.mo:2:11'
check "agree: an assertion about parameters" agree 7 Asserted 'parameter Real p = -1;
  Real x(start = 1, fixed = true);
equation
  assert(p > 0, "p is " + String(p));
  der(x) = -p*x;' 'an assertion failed: p is -1' '(Asserted.mo:5:3)' 'p = -1'
check "agree: one in a function of parameters" agree 7 Called 'function f input Real u; output Real y;
  algorithm assert(u > 0, "u is too small"); y := 2*u; end f;
  parameter Real p = -1, q = f(p);
  Real x = q*time;' 'u is too small' '(Called.mo:3:13)'
check "agree: a fixed value out of range" agree 5 Ranged 'Real x(start = 1, fixed = true, min = 2);
equation
  der(x) = -x;' "'x' is out of range" 'Ranged.mo:2:6'
check "agree: two fixed values of the same" agree 5 Twice 'Real x(start = 1, fixed = true), y(start = 2, fixed = true);
equation
  der(x) = -x;
  y = x;' 'contradict each other' 'Twice.mo:2:6' 'Twice.mo:2:34'
check "agree: a parameter that is no number" agree 5 Divided 'parameter Real p = 0, q = 1/p;
  Real x = q*time;' "'q' is infinite" 'Divided.mo:2:23'
check "agree: an experiment that ends before it begins" agree 3 Backward 'Real x = time;
  annotation(experiment(StartTime = 2, StopTime = 1));' 'Backward.mo:3:14' 'StartTime = 2, StopTime = 1'
check "agree: an equation too few" agree 4 Lacking 'Real x, y;
equation
  der(x) = y;' '1 equation for 2 unknowns'
check "an assertion about parameters that only warns" eval 'printf "model W parameter Real p = 2; Real x = time; equation
    assert(p < 1, \"p is large\", AssertionLevel.warning); end W;" >W.mo && run 0 check W.mo && says "warning: p is large" &&
    run 0 simulate W.mo && [ "$(grep -c "p is large" err)" = 1 ]'
check "an interval that begins late" eval 'printf "model L Real x = time; annotation(experiment(StartTime = 5)); end L;" >L.mo &&
    run 0 simulate L.mo && prints "t = 6"'
check "a correct model, as JSON" eval 'run 0 check "$decay" --json &&
    prints "\"status\": \"ok\"" && prints "\"model\": \"Decay\"" && [ "$(number equations)" -ge 4 ]'
check "a wrong text" eval 'run 3 check bad.mo && says "error[E_SYNTAX]" && says "bad.mo:2:"'
check "a wrong text, simulated" eval 'run 3 simulate bad.mo -o bad.csv && says "bad.mo:2:" &&
    no_file bad.csv'
check "a wrong name" eval 'run 3 check unknown.mo && says "error[E_MODEL]" && says "speed"'
check "a wrong text, as JSON" eval 'run 3 check bad.mo --json-errors && says "\"code\": \"E_SYNTAX\"" &&
    says "\"exit\": 3" && says "bad.mo:2:"'
echo 'model W Real x(stateSelect = StateSelect.always); equation x = sin(time); end W;' >wish.mo
check "a warning, as text" eval 'run 0 simulate wish.mo && says "warning: stateSelect = always"'
check "a warning, as JSON" eval 'run 0 simulate wish.mo --json-errors && says "\"warnings\": \"warning: state"'
# ---- analyze ----
json() { # of standard output; without python3 only its ends are looked at
    if command -v python3 >/dev/null; then python3 -m json.tool <out >/dev/null
    else [ "$(head -c 1 out)" = "{" ] && [ "$(tail -c 2 out | head -c 1)" = "}" ]; fi
}
check "analysis: a page" eval 'run 0 analyze "$models/../../examples/modelica/pendulum.mo" && quiet &&
    prints "structural index 3" && prints "differential index 3" && prints "x*vx + y*vy = 0" &&
    prints "2 initial values can be chosen" && [ "$(wc -l <out)" -lt 60 ]'
echo 'model B Real a, b(start = 1), c; equation der(a) = c; 0 = b*(1 - b);
0 = a*b + c*(1 - b) - time; end B;' >branch.mo
check "analysis: the start of the derivative array" eval 'run 0 analyze --reduce branch.mo &&
    prints "consistent start" && prints "c = 1" && ! grep -q "no consistent start" out'
check "analysis: freedom and index of the derivative array" eval 'run 0 analyze --json branch.mo &&
    json out "d[\"freedom\"] == 0 and d[\"indices\"][\"differentiation\"] == 2"'
check "analysis: the reduced system of index 2" eval 'run 0 analyze --reduce "$models/IndexTwo.mo" &&
    prints "der(x) = cos(time)" && prints "der(x) + y = 0" && prints "x = 0" && prints "y = -1" &&
    grep -qE "^  differentiation +2 " out && grep -qE "^  tractability +2 " out &&
    grep -qE "^  perturbation +2 " out'
check "analysis: the formula of an algebraic variable" eval 'run 0 analyze --reduce \
    "$models/Hessenberg.mo" && prints "der(z) = (6*a*y^2*z - 2*a^2*z^2 - 4*y^4)/(a*y)"'
check "analysis: a singular mass matrix" eval 'run 0 analyze --reduce "$models/SingularMass.mo" &&
    prints "P M Q = diag(I, 0)" && prints "u1 = x1 + x2" && prints "der(u1) = -x1/2"'
check "analysis as JSON" eval 'for m in IndexTwo Hessenberg SingularMass Decay; do
        run 0 analyze "$models/$m.mo" --json && json && prints "\"hidden_constraints\"" &&
        prints "\"analysis\"" || exit 1; done; [ "$(number freedom)" = 1 ]'
check "analysis: what is wrong is an error" eval 'run 3 analyze bad.mo && says "bad.mo:2:"'

check "empty file" eval ': >void.mo && { run 3 check void.mo || run 8 check void.mo; }'
check "endless file" eval '{ run 3 check /dev/zero || run 8 check /dev/zero || run 9 check /dev/zero; }'
check "flat equations" eval 'run 0 flatten "$decay" && prints "der(x) =" && prints "end Decay;"'
check "flat equations to a file" eval 'run 0 flatten "$decay" -o flat.mo && [ ! -s out ] &&
    grep -qF "der(x) =" flat.mo'
check "a function with a loop of unknown length is flat text, too" eval '
    run 0 simulate "$models/procedure.mo" -o nested.csv --force && run 0 flatten "$models/procedure.mo" &&
    mv out flat.mo && run 0 simulate flat.mo -o flat.csv --force &&
    grep -q "^function .P.root" flat.mo && [ "$(wc -l <flat.csv)" -gt 10 ] && cmp nested.csv flat.csv'
check "flat equations are a model" eval 'run 0 check flat.mo'
check "a file that exists is kept" eval 'run 8 flatten "$decay" -o flat.mo && says "--force"'
check "the model is no output" eval 'cp "$decay" own.mo && run 2 flatten own.mo -o own.mo --force &&
    cmp -s own.mo "$decay"'

# ---- results ----
check "a run, in words" eval 'run 0 simulate "$decay" && prints "Decay" && prints "t = 4 after" &&
    prints "value"'
check "end values" eval 'run 0 simulate "$decay" --json && prints "\"status\": \"ok\"" &&
    near "$(number x)" 0.0183156388887 2e-6 && near "$(number minus_x)" -0.0183156388887 2e-6 &&
    near "$(number k)" 1 0 && near "$(number t)" 4 0'
check "statistics in the JSON" eval '[ "$(number steps)" -gt 5 ] && [ "$(number residuals)" -gt 10 ] &&
    [ "$(number states)" = 1 ] && [ "$(number rows)" = 501 ]'
check "statistics in words" eval 'run 0 simulate "$decay" --stats && prints "Newton iterations"'
check "stop" eval 'run 0 simulate "$decay" --stop 2 --json && near "$(number x)" 0.1353352832366 2e-6'
check "start" eval 'run 0 simulate "$decay" --start 3 --json && near "$(number x)" 0.3678794411714 2e-6'
check "tolerance" eval 'run 0 simulate "$decay" --rtol 1e-10 --atol 1e-12 --json &&
    near "$(number x)" 0.018315638888734 1e-9'
check "method" eval 'run 0 simulate "$decay" --method radau --json &&
    prints "\"method\": \"radau" && near "$(number x)" 0.0183156388887 1e-6'
check "parameter" eval 'run 0 simulate "$decay" --set k=2 --json &&
    near "$(number x)" 0.000335462627903 1e-6 && near "$(number k)" 2 0'
check "native code, or a word that there is none" eval 'run 0 simulate "$decay" --native --json &&
    { quiet >/dev/null || says "interpreted"; } && near "$(number x)" 0.0183156388887 2e-6'

# ---- wrong values ----
check "unknown method" eval 'run 2 simulate "$decay" --method bdff && says bdff'
check "rtol negative" eval 'run 2 simulate "$decay" --rtol -1 && says "error[E_TOL]"'
check "rtol without a digit" eval 'run 2 simulate "$decay" --rtol 1 && says "rtol <= 0.1" && ! prints variable >/dev/null'
check "unknown method: said before anything else" eval 'run 2 simulate "$decay" --method bdff && [ ! -s out ]'
check "method of another code" eval 'run 0 simulate "$decay" --method dassl && says "method '"'bdf'"' is taken"'
check "rtol zero" run 2 simulate "$decay" --rtol 0
check "atol not a number" run 2 simulate "$decay" --atol nan
check "decimal comma" eval 'run 2 simulate "$decay" --stop 1,5 && says "not a number"'
check "stop before start" eval 'run 2 simulate "$decay" --stop -1 && says "error[E_TIME]"'
check "stop at the start: initial values" eval 'run 0 simulate "$decay" --stop 0 -o only.csv &&
    [ "$(wc -l <only.csv)" = 2 ] && near "$(field only.csv x)" 1 0 && prints "initial values at t = 0"'
check "the same later, with a page" eval 'run 0 simulate "$decay" --start 3 --stop 3 -o only.mat \
    --report only.html --interval 0.1 --stats && [ -s only.html ] && [ -s only.mat ]'
check "stop infinite" run 2 simulate "$decay" --stop inf
check "intervals zero" run 2 simulate "$decay" --intervals 0
check "intervals 2.5" run 2 simulate "$decay" --intervals 2.5
check "both kinds of intervals" run 2 simulate "$decay" --intervals 5 --interval 1
check "interval too small" eval 'run 9 simulate "$decay" --interval 1e-15 && says "E_LIMIT"'
check "set: unknown name" eval 'run 2 simulate "$swing" --set omga=3 &&
    says "did you mean '"'omega'"'"'
cat >colors.mo <<'EOF'
package P
  type Color = enumeration(red, green, blue);
  model M
    parameter Color c = Color.blue;
    parameter Color two[2] = {Color.red, Color.red};
    Real x = if c == Color.red then 1 elseif c == Color.green then 2 else 3;
    Real y = if two[2] == Color.green then 5 else 6;
  end M;
end P;
EOF
for value in P.Color.green Color.green green; do
    check "set: an enumeration, c=$value" eval 'run 0 simulate colors.mo --model P.M --stop 1 \
        --set c=$value --json && prints "\"x\": 2"'
done
check "set: an array of literals" eval 'run 0 simulate colors.mo --model P.M --stop 1 \
    --set "two={red, Color.green}" --json && prints "\"y\": 5"'
check "set: no literal" run 2 simulate colors.mo --model P.M --stop 1 --set c=pink
cat >says.mo <<'EOF'
model Says
  type E = enumeration(low, high);
  Real x(start = 0, fixed = true);
  Real y = 2*x;
  E e = if x > 0.3 then E.high else E.low;
equation
  der(x) = 1;
  assert(time < 0.5, "e is " + String(e) + ", b is " + String(y > 0.2, minimumLength = 6) +
    "y - 2 time is " + String(noEvent(abs(y - 2*time)) + 1, significantDigits = 3) +
    (if x > 0.1 then ", late" else ", early"));
end Says;
EOF
check "values in the message of an assertion" eval 'run 7 simulate says.mo --stop 1 &&
    says "e is high, b is true  y - 2 time is 1, late"'
check "set: twice" eval 'run 2 simulate "$decay" --set k=3 --set k=4 && says "twice"'
check "set: NaN" run 2 simulate "$decay" --set k=nan
check "set: comma" eval 'run 2 simulate "$decay" --set k=1,5 && says "comma"'
check "set: no value" run 2 simulate "$decay" --set k
check "set: wrong type" run 2 simulate "$decay" --set 'k="text"'
check "set: a constant" eval 'run 2 simulate "$swing" --set pi=3 && says "constant"'
check "set: a variable that is computed" eval 'run 2 simulate "$decay" --set y=3 && says "y.start"'
check "set: a start value" eval 'run 0 simulate "$decay" --set x.start=2 --json &&
    near "$(number x)" 0.0366312777775 4e-6'
check "memory limit" eval 'run 9 simulate "$decay" --max-memory 1000 && says "error["'

# ---- files ----
check "CSV" eval 'run 0 simulate "$decay" -o r.csv && whole_csv r.csv && [ "$(wc -l <r.csv)" = 502 ] &&
    head -1 r.csv | grep -q "^time,x,y,minus_x,angle," && prints "r.csv" &&
    near "$(field r.csv x)" 0.0183156388887 2e-6'
check "no parameters in a CSV" eval '! head -1 r.csv | grep -qE "(^|,)k(,|$)"'
check "a CSV of chosen variables" eval 'run 0 simulate "$decay" -o c.csv --output-variables "k,*x,a?gle" &&
    [ "$(head -1 c.csv)" = "time,k,x,minus_x,angle" ]'
check "a variable that is not there" eval 'run 2 simulate "$decay" -o n.csv --output-variables angel &&
    says "did you mean '"'angle'"'" && no_file n.csv'
check "a pattern that would take forever" eval 'run 2 simulate "$decay" -o n.csv \
    --output-variables "$(printf "*a%.0s" $(seq 2000))b" && no_file n.csv'
check "intervals" eval 'run 0 simulate "$decay" -o i.csv --intervals 8 && [ "$(wc -l <i.csv)" = 10 ] &&
    [ "$(sed -n 3p i.csv | cut -d, -f1)" = 0.5 ]'
check "every so often" eval 'run 0 simulate "$decay" -o e.csv --interval 1.5 &&
    [ "$(cut -d, -f1 e.csv | tr "\n" " ")" = "time 0 1.5 3 4 " ]'
check "CSV on standard output" eval 'run 0 simulate "$decay" -o - && whole_csv out && says "t = 4 after"'
check "JSON and CSV on standard output" run 2 simulate "$decay" -o - --json
check "same input, same bytes" eval 'run 0 simulate "$swing" -o s1.csv && run 0 simulate "$swing" -o s2.csv &&
    cmp -s s1.csv s2.csv'
check "file exists" eval 'run 8 simulate "$decay" -o r.csv && says "--force" && whole_csv r.csv'
check "file exists, replaced" run 0 simulate "$decay" -o r.csv --force
kept() { # CODE ARGUMENTS...: fails before the first row, and the older files stay as they are
    local code=$1 name
    shift
    for name in old.csv old.mat old.html; do echo "old $name" >"$name"; done
    run "$code" "$@" -o old.csv --report old.html --force && run "$code" "$@" -o old.mat --force || return 1
    for name in old.csv old.mat old.html; do
        [ "$(cat $name)" = "old $name" ] || { echo "$name has changed"; return 1; }
    done
    ! ls .daedalus-* 2>/dev/null
}
check "a wrong text replaces nothing" eval 'echo "model M Real x; equation x = ; end M;" >wrong.mo && kept 3 simulate wrong.mo'
check "initial values not found replace nothing" kept 5 simulate "$models/Root.mo" --set a=-1
check "nothing is left beside new files" eval 'run 0 simulate "$decay" -o old.csv --report old.html --force &&
    whole_csv old.csv && tail -1 old.html | grep -q "</html>" && ! ls .daedalus-* 2>/dev/null'
check "initial values not found leave no file" eval 'run 5 simulate "$models/Root.mo" --set a=-1 -o never.mat && no_file never.mat'
check "folder missing" eval 'run 8 simulate "$decay" -o nowhere/r.csv && says "folder must exist"'
check "path is a folder" eval 'mkdir -p dir.csv && run 8 simulate "$decay" -o dir.csv --force'
check "no known ending" eval 'run 2 simulate "$decay" -o r.xlsx && says ".mat" && no_file r.xlsx'
check "two outputs, one name" run 2 simulate "$decay" -o same.csv --report same.csv
check "a failed second file takes the first along" eval \
    'run 8 simulate "$decay" -o first.csv --report nowhere/r.html && no_file first.csv'
check "the model is no output" eval 'cp "$decay" own.csv && run 2 simulate own.csv -o own.csv --force &&
    cmp -s own.csv "$decay"'
check "too many rows" eval 'run 9 simulate "$decay" -o huge.csv --intervals 1e9 && says "E_LIMIT" &&
    no_file huge.csv'
check "our own limit on file size" eval 'run 9 simulate "$decay" -o m.csv --max-output 5000 &&
    says "--max-output" && no_file m.csv'
for name in "with blank" "ümläut" "$(printf 'new\nline')" "$(printf 'n%.0s' $(seq 240))" "-dash" '$(id);`id`'; do
    check "a path like $(printf %q "${name:0:20}")" eval 'cp "$decay" "./$name.mo" &&
        run 0 simulate "./$name.mo" -o "./$name.csv" --report "./$name.html" &&
        whole_csv "./$name.csv" && rm -f "./$name".*'
done

mat() { # FILE POINTS: read with nothing but the description of the format
    [ -z "$python" ] || python3 - "$1" "$2" <<'END_OF_READER'
import math, struct, sys
data, at, m = open(sys.argv[1], "rb").read(), 0, {}
while at < len(data):
    kind, rows, columns, imaginary, length = struct.unpack_from("<5i", data, at)
    name = data[at + 20:at + 20 + length - 1].decode()
    at += 20 + length
    size, code = {0: (8, "d"), 20: (4, "i"), 51: (1, "c")}[kind]
    values = struct.unpack_from("<%d%s" % (rows * columns, code), data, at)
    m[name] = [values[k * rows:(k + 1) * rows] for k in range(columns)]
    at += rows * columns * size
assert list(m) == ["Aclass", "name", "description", "dataInfo", "data_1", "data_2"]
text = lambda column: b"".join(column).rstrip(b"\0 ").decode()
names = [text(c) for c in m["name"]]
info = dict(zip(names, m["dataInfo"]))
def column(name):
    block, place = info[name][:2]
    values = m["data_1" if block == 1 else "data_2"]
    return [math.copysign(1, place) * p[abs(place) - 1] for p in values]
t, x = column("time"), column("x")
assert len(t) == int(sys.argv[2]) or int(sys.argv[2]) == 0 and len(t) > 5, len(t)
assert column("k") == [1, 1] and info["k"][0] == 1
assert info["minus_x"][1] == -info["x"][1] and column("minus_x") == [-v for v in x]
assert all(abs(v - math.exp(-s)) < 1e-5 for s, v in zip(t, x))
assert [s for s, v in zip(names, m["description"]) if s == "x" and text(v) == "what decays [m]"]
END_OF_READER
}
check "MAT" eval 'run 0 simulate "$decay" -o r.mat && mat r.mat 501'
check "MAT, few variables" eval 'run 0 simulate "$decay" -o few.mat --output-variables "x,minus_x,k" &&
    mat few.mat 501 && [ "$(wc -c <few.mat)" -lt "$(wc -c <r.mat)" ]'
mkfifo pipe.mat
check "MAT to a pipe" eval '(cat pipe.mat >/dev/null & echo $! >cat.pid); run 2 simulate "$decay" -o pipe.mat --force;
    code=$?; kill "$(cat cat.pid)" 2>/dev/null; [ $code = 0 ] && says "pipe"'
check "report" eval 'run 0 simulate "$decay" --report r.html && prints "r.html" && tail -1 r.html | grep -q "</html>"'

# ---- output that cannot be written ----
if [ -w /dev/full ]; then
    full() { timeout 100 "$program" "$@" >/dev/full 2>err; [ $? = 8 ] && says "E_IO"; }
    check "results to a full device" full simulate "$decay"
    check "flat equations to a full device" full flatten "$decay"
    check "CSV to a full device" full simulate "$decay" -o -
fi
cat >grow.mo <<'END'
model Grow Real x(start = 1, fixed = true); equation der(x) = 1e6*x; end Grow;
END
stopped() { # the values are said to be those of the last row, which is long before the end
    ! timeout 100 "$program" simulate grow.mo >out 2>err && prints "STOPPED at t = 0.0006" &&
        prints "at t = 0, the last row:" || return 1
    ! timeout 100 "$program" simulate grow.mo --json >out 2>err && near "$(number final_t)" 0 0 &&
        near "$(number t)" 0.000694 3e-6
}
check "of which time values are if it stops between rows" stopped
check "of which time values are at the end" eval 'run 0 simulate "$decay" --json &&
    near "$(number final_t)" "$(number t)" 0'
limited() ( # 8 blocks of 1024 bytes
    ulimit -f 8
    timeout 100 "$program" simulate "$decay" -o "$1" >out 2>err
    [ $? = 9 ]
)
check "limit on file size, CSV" eval 'limited small.csv && says "E_LIMIT" && last_line_valid && whole_csv small.csv'
check "limit on file size, MAT" eval 'limited small.mat && says "E_LIMIT" && last_line_valid && mat small.mat 0'

# ---- runs that fail ----
check "limit on steps" eval 'run 9 simulate "$swing" --stop 1e6 --max-steps 50 -o w.csv && says "E_WORK" &&
    last_line_valid && whole_csv w.csv'
check "an assertion of the model" eval 'run 7 simulate "$models/Asserts.mo" -o a.csv && says "error[E_ASSERT]" &&
    says "x is below one half" && last_line_valid && whole_csv a.csv &&
    near "$(tail -1 err | sed "s/.*t=//")" 0.693147 1e-5 && near "$(field a.csv x)" 0.5 1e-5'
check "a page of a run that failed" eval 'run 7 simulate "$models/Asserts.mo" --report f.html &&
    grep -qF "x is below one half" f.html && tail -1 f.html | grep -q "</html>" &&
    grep -qF "class=\"failure\" role=\"alert\">error[E_ASSERT]" f.html'
check "a page of a run that did not begin" eval 'run 5 simulate "$models/Root.mo" --set a=-1 --report g.html &&
    grep -qF "did not begin" g.html && grep -qF "There are no curves" g.html && ! grep "<svg" g.html | grep -vq "structure of the equations" &&
    grep -qF "role=\"alert\">error[E_" g.html && tail -1 g.html | grep -q "</html>"'
check "a run that failed, as JSON" eval 'run 7 simulate "$models/Asserts.mo" --json &&
    prints "\"status\": \"E_ASSERT\""'
check "one equation too few" eval 'run 4 simulate "$models/Few.mo" && says "error[E_STRUCTURE]" && says "z"'
check "not a number at the start" eval 'run 5 simulate "$models/Root.mo" --set a=-1 -o nan.csv && says "error["'
check "not a number on the way" eval 'run 6 simulate "$models/Root.mo" --set a=1 --stop 3 -o nan2.csv &&
    says "error[" && last_line_valid && whole_csv nan2.csv'

# ---- what beginners write ----
one() { # CODE TEXT: a model in one line
    printf '%s\n' "$2" >one.mo && run "$1" simulate one.mo
}
check "one over zero" eval 'one 5 "model M Real x = 1 / 0; end M;" && says "is infinite" && says "1/0" && says "one.mo:1:14"'
check "an input of the whole model" eval 'one 0 "model M input Real u; Real x = u; end M;" &&
    says "input without a value, 0 is taken: '"'u'"'"'
check "a partial model" eval 'one 3 "partial model M Real x = 1; end M;" && says "is partial" && says "extends M"'
check "a loop without end" eval 'one 9 "model M Real x; algorithm while true loop x := 1; end while; end M;" &&
    says "does not end" && says "one.mo:1:"'
check "a state machine" eval 'one 4 "model M equation initialState(a); end M;" && says "state machines are read, but not simulated"'
check "given twice" eval 'one 4 "model M Real x; equation der(x) = -x; x = 1; end M;" &&
    says "no unknown that the others leave open"'
check "a singularity is no wrong Jacobian" eval 'one 6 "model M Real x(start = 1, fixed = true); equation der(x) = -1 / (x - 0.5); end M;" &&
    says "singularity" && ! grep -qE "Jacobian|problem.level" err'
check "an equation in one pair of quotes" eval 'one 6 "model M Real x(start = 1, fixed = true); equation der(x) = -1 / sqrt(x); end M;" &&
    says "of '"'der(x) = -1/sqrt(x)'"' with"'
check "time is in every file" eval 'run 0 simulate "$decay" -o t.csv --output-variables "time,x" &&
    [ "$(head -1 t.csv)" = "time,x" ]'

# ---- pipes and signals ----
gone() { # the reader has left before anything is written
    { sleep 0.3; "$program" "$@" 2>err; echo $? >code; } | true
    [ "$(cat code)" = 141 ] && quiet
}
check "broken pipe" gone flatten "$decay"
check "broken pipe, JSON" gone simulate "$decay" --json
check "silent in a pipe" eval 'run 0 simulate "$swing" --stop 100 && quiet'

long_run=(simulate "$swing" --stop 1e9 --interval 1e2 --max-steps 1e12)
interrupted() { # SIGNAL CODE FILE
    local pid code tries=0
    rm -f "$3" long.html
    "$program" "${long_run[@]}" -o "$3" --report long.html --json >out 2>err &
    pid=$!
    while [ "$(cat "$3" 2>/dev/null | wc -c)" -lt 2000 ] && [ $tries -lt 200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -"$1" $pid
    wait $pid
    code=$?
    [ $code = "$2" ] || { echo "exit $code, not $2"; return 1; }
    says "SIG$1" && last_line_valid && prints '"status": "E_INTERRUPTED"' &&
        tail -1 long.html | grep -q "</html>"
}
# ---- init ----

rod=$models/Rod.mo
of() { # NAME: the value of a variable in the JSON of init
    awk -v name="\"$1\"" '/"name":/ { met = index($0, name) } met && /"value":/ { print $2; exit }' out
}
printf 'model M Real x(start = 8, fixed = true), y; equation der(x) = -x; y = (x - 8)/log(x/8); end M;' >zero.mo
check "init: a failure of the integration's kind is one of initial values" eval \
    'run 5 init zero.mo && says "division by zero" && run 5 simulate zero.mo'
check "init: the nearest values" eval 'run 0 init "$rod" --json &&
    near "$(of x)" 0.650791373456 1e-9 && near "$(of y)" -0.759256602365 1e-9 && says "moved to the nearest"'
check "init: a table" eval 'run 0 init "$rod" && prints "guess, nearest" && prints "hidden: 2*x*der(x)" &&
    prints "Newton"'
check "init: kept values" eval 'run 0 init "$rod" --keep x,u --json && near "$(of y)" -0.8 1e-9 &&
    near "$(of v)" 0.75 1e-9 && quiet'
check "init: states held" eval 'run 0 init "$rod" --hold-states --json && near "$(of x)" 0.6 1e-9 && near "$(of y)" -0.8 1e-9'
check "init: a parameter" eval 'run 0 init "$rod" --set L=2 --json && near "$(of x)" 1.301582746912 1e-9'
check "init: a contradiction" eval 'run 5 init "$rod" --keep x,y && says "E_INCONSISTENT" &&
    says "x = 0.6" && says "y = -0.7" && says "with L = 1" && says "Rod.mo:11:"'
check "init: a contradiction as JSON" eval 'run 5 init "$rod" --keep x,y --json && prints "\"conflict\"" &&
    prints "fixed start value" && says "E_INCONSISTENT"'
check "init: strict" eval 'run 5 init "$rod" --strict && says "fixed = true"'
check "init: strict and fixed" eval 'run 0 init "$models/Swing.mo" --strict && prints "fixed" && quiet'
check "init: keep what is not there" eval 'run 2 init "$rod" --keep z && says "no variable"'
check "init: JSON is JSON" eval '[ -z "$python" ] || { run 0 init "$rod" --json && python3 -m json.tool out >/dev/null; }'
check "init: no such model" eval 'run 8 init nowhere.mo && says "nowhere.mo"'

set -m # a background process of a shell without job control ignores SIGINT: give it back
check "SIGINT" eval 'interrupted INT 130 long.csv && whole_csv long.csv &&
    [ "$(tail -1 long.csv | cut -d, -f1)" = "$(tail -1 err | sed "s/.*t=//")" ]'
check "SIGTERM" eval 'interrupted TERM 143 long.mat'
check "SIGHUP" eval 'interrupted HUP 129 long.csv && whole_csv long.csv'
killed() { # nothing is lost even then
    "$program" simulate "$decay" --stop 1e-3 --intervals 10000000 -o killed.mat >out 2>err &
    local pid=$! tries=0
    while [ "$(cat killed.mat 2>/dev/null | wc -c)" -lt 20000 ] && [ $tries -lt 200 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    kill -KILL $pid
    wait $pid 2>/dev/null
    return 0
}
check "SIGKILL leaves complete points" eval 'killed && mat killed.mat 0'
set +m

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
