/* page.js: what a report page does: variables chosen from a list, curves by dygraphs, one panel for
   each unit, all panels over the same time. page_data.c tells what the data look like. */
(function () {
"use strict";

const COLOURS = 6; /* of page.css; dashes when they come again */
const MOST_LISTED = 400;

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const curves = data.curves, variables = data.variables;
const chosen = new Map(); /* number of a variable -> number of its style */
let panels = [];          /* the plots in view */
let window_ = null;       /* [from, to] of the time in view; null: all */
let applying = false;     /* the panels are being told what to show */

/* ---- data ---- */

function unpack(p) {
    const raw = atob(p.f), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++)
        bytes[i] = raw.charCodeAt(i);
    const f = new DataView(bytes.buffer), out = new Array(bytes.length / 4);
    for (let i = 0; i < out.length; i++) {
        const v = p.o + p.s * f.getFloat32(4 * i, true);
        out[i] = Number.isFinite(v) ? v : null;
    }
    return out;
}

const time = data.time ? unpack(data.time) : null;

function timesOf(curve) {
    const c = curves[curve];
    return time || (c.times = c.times || unpack(c.t));
}

function valuesOf(variable) {
    const c = curves[variable.k];
    c.values = c.values || unpack(c.v);
    return variable.m ? c.values.map((v) => v === null ? null : -v) : c.values;
}

/* [[time, value], ...] as dygraphs takes them; null is a gap, two points of one time are a jump */
function pointsOf(i) {
    const t = timesOf(variables[i].k), v = valuesOf(variables[i]);
    return t.map((at, j) => [at, v[j]]);
}

/* The number of the first point whose time is not before t, which may be their count. */
function firstFrom(points, t) {
    let low = 0, high = points.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (points[middle][0] < t)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

function between(a, b, t) {
    return a[1] === null || b[1] === null ? null
        : a[1] + (b[1] - a[1]) * (t - a[0]) / (b[0] - a[0]);
}

/* Values of a drawn curve before and after t, which differ at a jump. */
function valuesAt(points, t) {
    const i = firstFrom(points, t);
    let j = i;
    while (j + 1 < points.length && points[j + 1][0] === t)
        j++;
    if (i < points.length && points[i][0] === t)
        return [points[i][1], points[j][1]];
    const v = i === 0 || i === points.length ? null : between(points[i - 1], points[i], t);
    return [v, v];
}

/* Seven digits of what varies between two values, which may be little of a large one. */
function digitsIn(low, high) {
    const large = Math.max(Math.abs(low), Math.abs(high)) / (high - low);
    return large > 10 && large < Infinity ? Math.min(16, 7 + Math.floor(Math.log10(large))) : 7;
}

function written(v, digits) {
    return v === null ? "–" : String(Number(v.toPrecision(digits)));
}

/* ---- what is in view ---- */

/* All of the time; a little more, since dygraphs writes no number at the very end. */
function whole() {
    const t = curves.length ? timesOf(0) : [0, 1], from = t[0], to = t[t.length - 1];
    return to > from ? [from, to + 1e-6 * (to - from)] : [from - 0.5, from + 0.5];
}

/* The least and the greatest value of some curves in a time; none: the first is greater. */
function range(curves_, [from, to]) {
    let low = Infinity, high = -Infinity;
    const take = (v) => {
        if (v !== null) {
            low = Math.min(low, v);
            high = Math.max(high, v);
        }
    };
    for (const points of curves_) {
        for (const t of [from, to])
            valuesAt(points, t).forEach(take);
        for (let i = firstFrom(points, from); i < points.length && points[i][0] <= to; i++)
            take(points[i][1]);
    }
    return [low, high];
}

/* What the curves of a panel reach in the time in view, and some room. */
function reach(p, time_) {
    const [low, high] = range(p.points, time_);
    if (low > high)
        return [0, 1];
    const size = Math.max(Math.abs(low), Math.abs(high));
    const room = high - low > 1e-12 * size ? 0.06 * (high - low) : size > 0 ? 0.1 * size : 1;
    return [low - room, high + room];
}

const same = (a, b) => a[0] === b[0] && a[1] === b[1];

/* Gives every panel what it shows: the same time, and its own values unless they were chosen. */
function apply() {
    const time_ = window_ || whole();
    applying = true;
    for (const p of panels) {
        unmark(p);
        p.time = time_;
        p.values = p.chosen || reach(p, time_);
        p.graph.updateOptions({ dateWindow: p.time, valueRange: p.values });
    }
    makeRoom();
    applying = false;
}

function show(range) {
    window_ = range;
    if (!range)
        panels.forEach((p) => { p.chosen = null; });
    apply();
}

/* After every drawing: what dygraphs shows by the reader's zooming or moving is for all panels. */
function follow(p) {
    if (applying || !p.graph)
        return;
    const time_ = p.graph.xAxisRange(), values = p.graph.yAxisRange(0), all = whole();
    const deep = time_[1] - time_[0] < 1e-6 * (all[1] - all[0]); /* of single precision */
    if (same(time_, p.time) && same(values, p.values))
        return;
    if (!same(values, p.values))
        p.chosen = values;
    if (!same(time_, p.time) && !deep)
        window_ = time_;
    apply();
}

/* ---- panels ---- */

/* Axes and grid are all we need of what dygraphs adds to the curves; its legend would not pass
   the page's policy. Events are marked above the grid and below the curves. */
class EventMarks {
    activate() {
        return { willDrawChart: (e) => markEvents(e.dygraph, e.drawingContext) };
    }
}
Dygraph.PLUGINS = [EventMarks, Dygraph.Plugins.Axes, Dygraph.Plugins.Grid]; /* the last draws first */

const FONT = 12; /* of the axes, in pixels */
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colourName = (style) => "--c" + style % COLOURS;
const ruler = document.createElement("canvas").getContext("2d");

function element(tag, name, parent, text) {
    const e = document.createElement(tag);
    e.className = name;
    if (text)
        e.textContent = text;
    parent.append(e);
    return e;
}

function textWidth(text) {
    ruler.font = FONT + "px " + getComputedStyle(document.body).fontFamily;
    return ruler.measureText(text).width;
}

/* Numbers beside ticks: as many digits as tell neighbours apart; powers of ten where that is
   shorter. */
function tickTexts(values, step) {
    const last = Math.floor(Math.log10(step) + 1e-3); /* the power of ten of the last digit */
    const plain = values.map((v) => String(Number(v.toFixed(Math.min(100, Math.max(0, -last))))));
    const power = values.map((v) => {
        if (Math.abs(v) < step / 2)
            return "0";
        const digits = Math.floor(Math.log10(Math.abs(v)) + 1e-9) - last;
        const [mantissa, exponent] = v.toExponential(Math.min(20, Math.max(0, digits))).split("e");
        return Number(mantissa) + "e" + Number(exponent);
    });
    return plain.join("").length > power.join("").length + 2 * values.length ? power : plain;
}

function ticker(a, b, pixels, options, graph) {
    const list = Dygraph.numericTicks(a, b, pixels, options, graph);
    const step = list.length > 1 ? Math.abs(list[1].v - list[0].v) : 1;
    const texts = tickTexts(list.map((tick) => tick.v), step);
    list.forEach((tick, i) => { tick.label = texts[i]; });
    return list;
}

/* Numbers beside each other need as much room as they are wide. */
function timeTicker(a, b, pixels, options, graph) {
    let gap = options("pixelsPerLabel"), list, widest;
    for (let i = 0; i < 4; i++) {
        list = ticker(a, b, pixels, (name) => name === "pixelsPerLabel" ? gap : options(name),
                      graph);
        widest = Math.max(...list.map((tick) => textWidth(tick.label)));
        if (widest + 16 <= gap)
            break;
        gap = widest + 24;
    }
    return list;
}

/* The numbers of all axes have the same room left of the panels, so that the same time stands
   below the same time. */
function makeRoom() {
    const texts = [...document.querySelectorAll("#panels .dygraph-axis-label-y")];
    const widths = texts.map((e) => textWidth(e.textContent));
    const room = 8 * Math.ceil((Math.max(16, ...widths) + 2) / 8) + "px";
    if (room === $("panels").style.getPropertyValue("--room"))
        return;
    $("panels").style.setProperty("--room", room);
    panels.forEach((p) => p.graph.resize());
}

/* Every curve has times of its own: dygraphs asks here for its points. */
function handlerOf(p) {
    return class extends Dygraph.DataHandlers.DefaultHandler {
        extractSeries(rows, column) { return p.points[column - 1]; }
    };
}

/* Below the curves: a dashed line at every event in view, as many as can be told apart. */
function markEvents(graph, canvas) {
    const area = graph.getArea();
    canvas.save();
    canvas.strokeStyle = css("--soft");
    canvas.lineWidth = 1;
    canvas.setLineDash([2, 4]);
    let last = -Infinity;
    for (const t of data.events) {
        const x = Math.round(graph.toDomXCoord(t)) + 0.5;
        if (x < area.x || x > area.x + area.w || x - last < 2)
            continue;
        last = x;
        canvas.beginPath();
        canvas.moveTo(x, area.y);
        canvas.lineTo(x, area.y + area.h);
        canvas.stroke();
    }
    canvas.restore();
}

function options(p) {
    const styles = p.numbers.map((i) => chosen.get(i)), series = {};
    const names = p.numbers.map((_, k) => "c" + k);
    styles.forEach((style, k) => {
        series[names[k]] = { strokePattern: style >= COLOURS ? [8, 4] : null };
    });
    const axis = (marks, gap) => ({ ticker: marks, pixelsPerLabel: gap, axisLabelWidth: 2,
                                    axisTickSize: 5 });
    return {
        labels: ["time"].concat(names),
        dataHandler: handlerOf(p),
        colors: styles.map((style) => css(colourName(style))),
        series: series,
        strokeWidth: 1.8,
        pointSize: 2,
        highlightCircleSize: 0,
        highlightSeriesOpts: { strokeWidth: 2.6 },
        highlightSeriesBackgroundAlpha: 0.35,
        highlightSeriesBackgroundColor: css("--back"),
        animateBackgroundFade: false,
        gridLineColor: css("--line"),
        gridLineWidth: 1,
        axisLineColor: css("--soft"),
        axisLineWidth: 1,
        axisLabelFontSize: FONT,
        axes: { x: axis(timeTicker, 80), y: axis(ticker, 36) },
        rightGap: 24,
        panEdgeFraction: 1e-9, /* moving ends where the curves end */
        dateWindow: p.time,
        valueRange: p.values,
        interactionModel: { mousedown: press, dblclick: () => show(null) },
        drawCallback: () => follow(p),
    };
}

function legend(p, parent) {
    const box = element("div", "legend", parent);
    p.timeText = element("output", "", element("span", "", box, "time [s]"));
    p.keys = p.numbers.map((i) => {
        const v = variables[i], style = chosen.get(i), key = element("span", "", box);
        const line = element("i", "", key);
        line.style.borderTop = "3px " + (style >= COLOURS ? "dashed" : "solid") + " var(" +
            colourName(style) + ")";
        element("b", "", key, v.n + (v.u ? " [" + v.u + "]" : ""));
        key.title = v.c || v.n;
        return { key: key, value: element("output", "", key) };
    });
}

function panel(unit, numbers) {
    const p = { numbers: numbers, points: numbers.map(pointsOf), chosen: null };
    const box = element("figure", "panel", $("panels")), chart = element("div", "chart", box);
    const label = numbers.length === 1 ? variables[numbers[0]].n + (unit ? " [" + unit + "]" : "")
        : unit ? "[" + unit + "]" : "";
    element("div", "ylabel", chart, label);
    p.place = element("div", "graph", chart);
    element("div", "xlabel", box, "time [s]");
    legend(p, box);
    p.digits = p.points.map((points) => digitsIn(...range([points], whole())));
    p.time = window_ || whole();
    p.values = reach(p, p.time);
    const row = (t) => [t].concat(numbers.map(() => 0)); /* the ends; handlerOf has the points */
    p.graph = new Dygraph(p.place, whole().map(row), options(p));
    p.hair = element("div", "hair", p.place);
    p.dots = numbers.map((i) => {
        const dot = element("div", "dot", p.place);
        dot.style.background = "var(" + colourName(chosen.get(i)) + ")";
        return dot;
    });
    unmark(p);
    /* before dygraphs, whose own marks suppose common times */
    p.place.addEventListener("mousemove", (e) => { e.stopPropagation(); read(p, e); }, true);
    p.place.addEventListener("mouseleave", () => panels.forEach(unmark));
    touch(p);
    return p;
}

/* One panel for each unit, in the order in which the units were chosen. */
function draw() {
    const units = new Map();
    for (const i of chosen.keys()) {
        const unit = variables[i].u || "";
        units.set(unit, (units.get(unit) || []).concat(i));
    }
    for (const p of panels)
        p.graph.destroy();
    panels = [];
    if (!$("plot"))
        return;
    $("panels").replaceChildren();
    $("panels").className = ["", "one", "two"][units.size] || "many";
    for (const [unit, numbers] of units)
        panels.push(panel(unit, numbers));
    apply();
}

/* ---- reading values ---- */

const NEAR = 24; /* pixels from a curve that is meant */

function unmark(p) {
    for (const e of [p.hair, ...p.dots || []])
        if (e)
            e.hidden = true;
    p.timeText.textContent = "–";
    for (const k of p.keys) {
        k.value.textContent = "–";
        k.key.className = "";
    }
    if (p.meant !== undefined)
        p.graph.clearSelection();
    p.meant = undefined;
}

/* The curve at a height of the panel stands out from the others. */
function emphasize(p, tops, y) {
    let best = NEAR, meant;
    tops.forEach((top, k) => {
        if (top !== null && Math.abs(top - y) < best) {
            best = Math.abs(top - y);
            meant = k;
        }
    });
    if (meant === p.meant || p.numbers.length < 2)
        return;
    if (meant === undefined)
        p.graph.clearSelection();
    else
        p.graph.setSelection(false, "c" + meant, true);
    p.meant = meant;
    p.keys.forEach((k, i) => { k.key.className = i === meant ? "meant" : ""; });
}

function mark(p, t, y) {
    const area = p.graph.getArea(), x = p.graph.toDomXCoord(t), tops = [];
    p.hair.hidden = false;
    p.hair.style.left = x + "px";
    p.hair.style.top = area.y + "px";
    p.hair.style.height = area.h + "px";
    p.timeText.textContent = written(t, digitsIn(...whole()));
    p.points.forEach((points, k) => {
        const [before, after] = valuesAt(points, t).map((v) => written(v, p.digits[k]));
        const v = valuesAt(points, t)[1], top = v === null ? null : p.graph.toDomYCoord(v);
        const seen = top !== null && top >= area.y && top <= area.y + area.h;
        p.keys[k].value.textContent = before === after ? after : before + " → " + after;
        p.dots[k].hidden = !seen;
        if (seen)
            p.dots[k].style.transform = "translate(" + x + "px," + top + "px)";
        tops.push(seen ? top : null);
    });
    emphasize(p, tops, y);
}

/* The time of a point of the panel's curves that is near, if it is in view. */
function nearest(p, t) {
    let best = null;
    for (const points of p.points) {
        const i = firstFrom(points, t);
        for (const point of points.slice(Math.max(0, i - 1), i + 1))
            if (best === null || Math.abs(point[0] - t) < Math.abs(best - t))
                best = point[0];
    }
    return best !== null && best >= p.time[0] && best <= p.time[1] ? best : t;
}

function read(p, e) {
    const box = p.place.getBoundingClientRect(), area = p.graph.getArea();
    const x = e.clientX - box.left, y = e.clientY - box.top;
    if (x < area.x || x > area.x + area.w || y < area.y || y > area.y + area.h) {
        panels.forEach(unmark);
        return;
    }
    const t = nearest(p, p.graph.toDataXCoord(x));
    for (const q of panels)
        mark(q, t, q === p ? y : -NEAR);
}

/* ---- mouse and fingers ---- */

/* Dragging zooms: along the time, or, if it goes up or down, along the values. With the shift
   key it moves what is in view. */
function press(event, graph, context) {
    if (event.button !== 0)
        return;
    const verb = event.shiftKey ? "Pan" : "Zoom";
    context.initializeMouseDown(event, graph, context);
    Dygraph["start" + verb](event, graph, context);
    const move = (e) => {
        e.stopPropagation();
        panels.forEach(unmark);
        Dygraph["move" + verb](e, graph, context);
    };
    const release = (e) => {
        document.removeEventListener("mousemove", move, true);
        document.removeEventListener("mouseup", release, true);
        Dygraph["end" + verb](e, graph, context);
        context.destroy();
    };
    document.addEventListener("mousemove", move, true);
    document.addEventListener("mouseup", release, true);
}

/* Fingers: one reads values, two zoom, a double tap shows all again. */
function touch(p) {
    const fingers = new Map(), g = p.graph;
    let start = null, tapped = 0;
    const left = (e) => e.clientX - p.place.getBoundingClientRect().left;
    p.place.addEventListener("pointerdown", (e) => {
        if (e.pointerType !== "touch")
            return;
        fingers.set(e.pointerId, left(e));
        if (fingers.size === 2) {
            const [a, b] = [...fingers.values()];
            start = [g.toDataXCoord(Math.min(a, b)), g.toDataXCoord(Math.max(a, b))];
        } else if (e.timeStamp - tapped < 300) {
            show(null);
        }
        tapped = e.timeStamp;
        read(p, e);
    });
    p.place.addEventListener("pointermove", (e) => {
        if (!fingers.has(e.pointerId))
            return;
        fingers.set(e.pointerId, left(e));
        if (fingers.size === 1)
            read(p, e);
        if (fingers.size !== 2 || !start)
            return;
        /* the times under the fingers stay under them */
        const [a, b] = [...fingers.values()].sort((x, y) => x - y), area = g.getArea();
        if (b - a < 8)
            return;
        const slope = (start[1] - start[0]) / (b - a), all = whole();
        const from = Math.max(all[0], start[0] - slope * (a - area.x));
        const to = Math.min(all[1], from + slope * area.w);
        if (to - from > 1e-6 * (all[1] - all[0]))
            show([from, to]);
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"])
        p.place.addEventListener(end, (e) => { fingers.delete(e.pointerId); start = null; });
}

/* ---- the list ---- */

function freeStyle() {
    const used = new Set(chosen.values());
    let style = 0;
    while (used.has(style))
        style++;
    return style;
}

function toggle(i, on) {
    if (on && !chosen.has(i))
        chosen.set(i, freeStyle());
    if (!on)
        chosen.delete(i);
}

function entry(i) {
    const v = variables[i], label = document.createElement("label");
    const box = document.createElement("input"), dot = document.createElement("i");
    const name = document.createElement("span");
    box.type = "checkbox";
    box.checked = chosen.has(i);
    name.textContent = v.n;
    label.title = v.c || v.n;
    label.append(box, dot, name);
    if (v.u) {
        const unit = document.createElement("small");
        unit.textContent = v.u;
        label.append(unit);
    }
    const paint = () => {
        dot.style.background = chosen.has(i) ? "var(" + colourName(chosen.get(i)) + ")"
                                                : "transparent";
    };
    box.addEventListener("change", () => { toggle(i, box.checked); paint(); draw(); });
    paint();
    return label;
}

function list() {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [];
    variables.forEach((v, i) => {
        const text = (v.n + " " + (v.c || "")).toLowerCase();
        if (words.every((w) => text.includes(w)))
            found.push(i);
    });
    const note = document.createElement("p");
    note.textContent = found.length === 0 ? "no variable is like that"
        : found.length > MOST_LISTED ? "… and " + (found.length - MOST_LISTED) +
          " more: search to see them" : "";
    $("list").replaceChildren(...found.slice(0, MOST_LISTED).map(entry));
    if (note.textContent)
        $("list").append(note);
}

/* ---- the page ---- */

$("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    draw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
if ($("plot")) { /* a run that did not begin has none */
    $("search").addEventListener("input", list);
    $("reset").addEventListener("click", () => show(null));
    $("none").addEventListener("click", () => { chosen.clear(); list(); draw(); });
    data.shown.forEach((i) => toggle(i, true));
    list();
    draw();
}
})();
