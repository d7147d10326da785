/* Zoom and hover for the timelines. Without this script they are drawn as a whole, and in tables.
 * page_tools.js, which follows in the same element, uses what this returns. */
"use strict";
const timelines = (() => {
    const SVG = "http://www.w3.org/2000/svg";
    const AXIS = 22, LANE = 26, BAR = 20, RATE = 34, UNITS = 20000;
    const LEAST_NS = 20, MOST_LABELS = 400;

    const figures = document.querySelectorAll("figure.timeline");
    if (!figures.length)
        return null;
    const data = JSON.parse(document.getElementById("data").textContent);
    const whole = Math.max(data.window, LEAST_NS);
    const view = { from: 0, to: whole };
    const state = { found: null, selection: null }; /* what a search found; Shift + drag */
    const watchers = []; /* called after the charts were drawn */

    /* --- figures as they are said */

    const digits = (value, most) => String(Number(value.toPrecision(most)));
    const scaled = (value, units, most) => {
        let unit = 0;
        while (unit + 1 < units.length && value >= units[unit + 1][1] * 0.99995)
            unit++;
        return digits(value / units[unit][1], most) + " " + units[unit][0];
    };
    const times = [["ns", 1], ["us", 1e3], ["ms", 1e6], ["s", 1e9]];
    const sizes = [["B", 1], ["KiB", 1024], ["MiB", 1048576], ["GiB", 1073741824], ["TiB", 2 ** 40]];
    const rateUnits = [["B/s", 1], ["kB/s", 1e3], ["MB/s", 1e6], ["GB/s", 1e9], ["TB/s", 1e12]];
    const sayTime = (ns, most = 4) => scaled(ns, times, most);
    const sayBytes = bytes => scaled(bytes, sizes, 4);
    const sayCount = count => String(count).replace(/\B(?=(\d{3})+$)/g, ",");

    /* --- the bars */

    /* Numbers as page_data.c writes them. */
    function readLane(numbers) {
        const bars = [];
        let start = 0, furthest = 0, last = null;
        for (let i = 0; i < numbers.length;) {
            start += numbers[i++];
            const bar = { start, end: start + numbers[i++], what: numbers[i++], bytes: numbers[i++] };
            bar.merged = bar.what < 0;
            bar.count = 1;
            bar.busy = bar.end - start;
            bar.base = 0;
            if (bar.merged) {
                bar.what = -1 - bar.what;
                bar.count = numbers[i++];
                bar.busy = numbers[i++];
                if (last && last.merged && last.start === start)
                    bar.base = last.base + share(last);
            }
            bar.look = data.whats[bar.what][0];
            bar.colour = data.whats[bar.what][2];
            furthest = bar.furthest = Math.max(furthest, bar.end);
            bars.push(bar);
            last = bar;
        }
        return bars;
    }

    /* Stretches of the critical path, likewise. */
    function readStretches(numbers) {
        const stretches = [];
        let start = 0;
        for (let i = 0; i < numbers.length; i += 2) {
            start += numbers[i];
            stretches.push([start, start + numbers[i + 1]]);
        }
        return stretches;
    }

    function share(bar) {
        return bar.merged && bar.end > bar.start ? bar.busy / (bar.end - bar.start) : 1;
    }

    /* The first bar that is not over before `ns`. */
    function firstAfter(bars, ns) {
        let low = 0, high = bars.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (bars[middle].furthest < ns)
                low = middle + 1;
            else
                high = middle;
        }
        return low;
    }

    /* --- drawing */

    function element(name, attributes, text) {
        const made = document.createElementNS(SVG, name);
        for (const key in attributes)
            made.setAttribute(key, attributes[key]);
        if (text !== undefined)
            made.textContent = text;
        return made;
    }

    const LOOKS = data.looks.length;
    const COLOURS = LOOKS + 5; /* lanes.h has as many kernels with colours of their own */
    const colourClass = colour => colour < LOOKS ? "look" + colour : "shade" + (colour - LOOKS + 1);

    const charts = Array.from(figures, (figure, index) => {
        const plot = figure.querySelector(".plot");
        const names = Array.from(figure.querySelectorAll(".lanes li:not(.rate)"),
            item => item.textContent);
        const lanes = data.timelines[index].lanes.map(readLane);
        const critical = data.timelines[index].critical.map(readStretches);
        const labels = element("g", { class: "labels" });
        const marks = element("g", {});
        plot.append(labels, marks);
        return { plot, names, lanes, critical, gap: data.timelines[index].gap, labels, marks,
            axis: plot.querySelector(".axis"), bars: plot.querySelector(".bars"),
            rates: plot.querySelector(".rates"),
            tracks: Array.from(figure.querySelectorAll(".lanes .rate"), label =>
                ({ label, look: Number(label.dataset.look), name: label.textContent.split(",")[0] })),
            lane: 0, at: -1 };
    });

    const placeOf = (chart, ns) => (ns - view.from) / (view.to - view.from) * chart.width;

    function niceStep(span, most) {
        const step = 10 ** Math.floor(Math.log10(span / most));
        return step * ([1, 2, 5].find(factor => span / (step * factor) <= most) || 10);
    }

    function drawAxis(chart) {
        const step = niceStep(view.to - view.from, Math.max(2, Math.min(8, chart.width / 110)));
        const unit = times.filter(([, ns]) => ns <= Math.max(view.to / 2, 1)).pop();
        const decimals = Math.max(0, -Math.floor(Math.log10(step / unit[1]) + 1e-9));
        const height = chart.plot.getAttribute("height");
        const drawn = [];
        for (let k = Math.ceil(view.from / step); k * step <= view.to; k++) {
            const x = placeOf(chart, k * step);
            const side = x < 20 ? "first" : x > chart.width - 30 ? "last" : "";
            const text = k ? (k * step / unit[1]).toFixed(decimals) + " " + unit[0] : "0";
            drawn.push(element("line", { x1: x, x2: x, y1: 16, y2: height }),
                element("text", { x, y: 12, class: side }, text));
        }
        chart.axis.replaceChildren(...drawn);
    }

    const shortName = name => name.replace(/^void /, "").replace(/(\w)[<(].*$/, "$1")
        .replace(/^.*::/, "");

    function drawLabel(chart, bar, lane) {
        const left = Math.max(placeOf(chart, bar.start), 0);
        const width = Math.min(placeOf(chart, bar.end), chart.width) - left;
        const most = Math.floor((width - 8) / 6.3);
        if (bar.merged || most < 5 || chart.labels.childElementCount >= MOST_LABELS)
            return;
        const [look, name] = data.whats[bar.what];
        let text = shortName(name || data.looks[look]);
        if (text.length > most)
            text = text.slice(0, most - 1) + "\u2026";
        chart.labels.append(element("text",
            { x: left + 4, y: AXIS + lane * LANE + 17, class: "on" + look }, text));
    }

    /* Bars of a lane in pixels: those narrower than one together, as page_timeline.c draws them. */
    function drawLane(chart, lane, paths) {
        const bars = chart.lanes[lane], top = lane * LANE + (LANE - BAR) / 2;
        const perUnit = UNITS / (view.to - view.from), fine = (view.to - view.from) / chart.width;
        const together = new Array(paths.length).fill(0);
        const isDim = bar => state.found !== null && !state.found.has(bar.what);
        const pathOf = bar => bar.colour + (isDim(bar) ? COLOURS : 0);
        let cell = -1, start = 0, end = 0;
        const put = (path, from, to, base, height) => {
            const x = Math.max((from - view.from) * perUnit, -1);
            const width = Math.max(Math.min((to - view.from) * perUnit, UNITS + 1) - x,
                UNITS / chart.width);
            const y = (top + (1 - base - height) * BAR) * 10;
            paths[path].push("M" + x.toFixed(1) + " " + y.toFixed(0) + "h" + width.toFixed(1) + "v" +
                Math.max(height * BAR * 10, 1).toFixed(0) + "h-" + width.toFixed(1) + "z");
        };
        const flush = () => {
            let base = 0;
            for (let path = 0; cell >= 0 && path < together.length; path++) {
                if (!together[path])
                    continue;
                const height = Math.min(together[path] / Math.max(end - start, 1), 1 - base);
                put(path, start, end, base, height);
                base += height;
                together[path] = 0;
            }
            cell = -1;
        };
        for (let i = firstAfter(bars, view.from); i < bars.length && bars[i].start < view.to; i++) {
            const bar = bars[i];
            if (bar.end - bar.start >= fine) {
                const between = bar.end - bar.start > 4 * fine ? 0.7 * fine : 0; /* that one sees */
                flush();
                put(pathOf(bar), bar.start, bar.end - between, bar.base, share(bar));
                drawLabel(chart, bar, lane);
                continue;
            }
            const here = Math.floor(bar.start / fine);
            if (here !== cell) {
                flush();
                cell = here;
                start = bar.start;
                end = bar.end;
            }
            end = Math.max(end, bar.end);
            together[pathOf(bar)] += Math.max(bar.busy, 1e-3);
        }
        flush();
    }

    function drawCritical(chart) {
        const perUnit = UNITS / (view.to - view.from), parts = [];
        chart.critical.forEach((stretches, lane) => {
            for (const [start, end] of stretches) {
                if (end < view.from || start > view.to)
                    continue;
                const x = Math.max((start - view.from) * perUnit, -1);
                const width = Math.max(Math.min((end - view.from) * perUnit, UNITS + 1) - x,
                    UNITS / chart.width);
                parts.push("M" + x.toFixed(1) + " " + (lane * LANE + LANE - 2) * 10 + "h" +
                    width.toFixed(1) + "v20h-" + width.toFixed(1) + "z");
            }
        });
        return element("path", { class: "critical", d: parts.join("") });
    }

    const isCritical = (chart, lane, bar) => !bar.merged && !chart.gap && chart.critical[lane].some(
        ([start, end]) => start <= bar.start && bar.end <= end);

    function drawMark(chart) {
        const bar = chart.at < 0 ? null : chart.lanes[chart.lane][chart.at];
        chart.marks.replaceChildren();
        if (state.selection) {
            const left = placeOf(chart, state.selection.from);
            chart.marks.append(element("rect", { class: "selection", x: left, y: AXIS,
                width: Math.max(placeOf(chart, state.selection.to) - left, 0),
                height: chart.lanes.length * LANE }));
        }
        if (!bar || bar.end < view.from || bar.start > view.to)
            return;
        const x = Math.max(placeOf(chart, bar.start), -2);
        const width = Math.min(placeOf(chart, bar.end), chart.width + 2) - x;
        chart.marks.append(element("rect", { class: "chosen", x: x - 1,
            y: AXIS + chart.lane * LANE + 1, width: Math.max(width, 1) + 2, height: LANE - 2 }));
    }

    function draw(chart) {
        chart.width = Math.max(chart.plot.clientWidth, 1);
        const paths = Array.from({ length: 2 * COLOURS }, () => []);
        chart.labels.replaceChildren();
        for (let lane = 0; lane < chart.lanes.length; lane++)
            drawLane(chart, lane, paths);
        chart.bars.replaceChildren(...paths.map((parts, path) => element("path",
            { class: colourClass(path % COLOURS) + (path < COLOURS ? "" : " dim"),
                d: parts.join("") })), drawCritical(chart));
        drawAxis(chart);
        drawMark(chart);
        chart.plot.dataset.from = view.from;
        chart.plot.dataset.to = view.to;
    }

    /* --- bytes a second, in pixels: those of a copy are spread evenly over its time */

    function ratesOf(chart, look) {
        const cells = Math.max(Math.floor(chart.width), 1), perCell = (view.to - view.from) / cells;
        const sums = new Float64Array(cells);
        for (const bars of chart.lanes)
            for (let i = firstAfter(bars, view.from); i < bars.length && bars[i].start < view.to; i++) {
                const bar = bars[i], from = Math.max((bar.start - view.from) / perCell, 0);
                if (bar.look !== look || !bar.bytes || bar.end < view.from)
                    continue;
                const to = Math.min((bar.end - view.from) / perCell, cells);
                const length = (bar.end - bar.start) / perCell;
                for (let cell = Math.floor(from); length > 0 && cell < to; cell++)
                    sums[cell] += bar.bytes / length * (Math.min(to, cell + 1) - Math.max(from, cell));
                if (!(length > 0) && from < cells)
                    sums[Math.floor(from)] += bar.bytes;
            }
        return sums.map(bytes => bytes / perCell * 1e9);
    }

    function drawRates() {
        const drawn = charts.flatMap(chart => chart.tracks.map((track, at) =>
            ({ chart, track, at, rates: ratesOf(chart, track.look) })));
        const most = drawn.reduce((top, one) => one.rates.reduce((a, b) => Math.max(a, b), top), 0);
        charts.forEach(chart => chart.rates.replaceChildren());
        for (const { chart, track, at, rates } of drawn) {
            const base = (at + 1) * RATE * 10, height = (RATE - LANE + BAR) * 10, parts = [];
            const width = (UNITS / rates.length).toFixed(2);
            rates.forEach((rate, cell) => {
                if (rate > 0)
                    parts.push("M" + (cell * UNITS / rates.length).toFixed(1) + " " + base + "v-" +
                        (rate / most * height).toFixed(0) + "h" + width + "V" + base + "z");
            });
            track.label.textContent = track.name + ", to " + scaled(Math.max(most, 1), rateUnits, 3);
            chart.rates.append(element("path",
                { class: "look" + track.look, d: parts.join("") }));
        }
    }

    let asked = false;
    function drawAll() {
        if (asked)
            return;
        asked = true;
        requestAnimationFrame(() => {
            asked = false;
            charts.forEach(draw);
            drawRates();
            watchers.forEach(watcher => watcher());
        });
    }

    /* --- what is said of a bar */

    const tip = document.createElement("div");
    tip.id = "tip";
    tip.hidden = true;
    const spoken = document.createElement("div");
    spoken.className = "spoken";
    spoken.setAttribute("aria-live", "polite");
    document.body.append(tip, spoken);

    function describe(chart, lane, bar) {
        const [look, name, , line] = data.whats[bar.what];
        const time = bar.end - bar.start, lines = [chart.names[lane]];
        if (bar.merged)
            lines.push(sayTime(bar.busy) + " busy within " + sayTime(time));
        else
            lines.push(sayTime(time));
        lines.push("from " + sayTime(bar.start, 7));
        if (bar.bytes)
            lines.push(sayBytes(bar.bytes));
        if (bar.bytes && bar.busy && look >= 1 && look <= 5)
            lines.push(scaled(bar.bytes / bar.busy * 1e9, rateUnits, 3));
        if (isCritical(chart, lane, bar))
            lines.push("on the critical path");
        if (line)
            lines.push("at " + line);
        const head = bar.merged ? sayCount(bar.count) + " " + (name || data.looks[look]) + " together"
            : name || data.looks[look];
        return [head, lines.join(" \u00b7 ")];
    }

    function showTip(chart, lane, bar, x, y) {
        const [head, line] = describe(chart, lane, bar), bold = document.createElement("b");
        bold.textContent = head;
        tip.replaceChildren(bold, line);
        tip.hidden = false;
        const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
        tip.style.left = Math.max(4, Math.min(x + 14, room)) + window.scrollX + "px";
        tip.style.top = y + 18 + window.scrollY + "px";
    }

    /* The bar at a place of the plot; of several the one that is drawn there. */
    function barAt(chart, x, y) {
        const lane = Math.floor((y - AXIS) / LANE), perPx = (view.to - view.from) / chart.width;
        if (y < AXIS || lane >= chart.lanes.length)
            return null;
        const ns = view.from + x * perPx, bars = chart.lanes[lane];
        const height = 1 - (y - AXIS - lane * LANE - (LANE - BAR) / 2) / BAR;
        let best = -1, distance = 4 * perPx;
        for (let i = firstAfter(bars, ns - distance);
            i < bars.length && bars[i].start <= ns + 4 * perPx; i++) {
            const bar = bars[i];
            const away = Math.max(bar.start - ns, ns - bar.end, 0);
            const inside = height >= bar.base && height <= bar.base + share(bar);
            if (away < distance || (away === distance && inside)) {
                best = i;
                distance = away;
            }
        }
        return best < 0 ? null : { lane, at: best };
    }

    /* --- moving */

    function show(from, to) {
        const span = Math.min(Math.max(to - from, LEAST_NS), whole);
        const start = Math.min(Math.max((from + to - span) / 2, 0), whole - span);
        view.from = start;
        view.to = start + span;
        tip.hidden = true;
        drawAll();
    }

    function zoom(factor, around = (view.from + view.to) / 2) {
        show(around - (around - view.from) * factor, around + (view.to - around) * factor);
    }

    function move(part) {
        const by = part * (view.to - view.from);
        const kept = Math.min(Math.max(by, -view.from), whole - view.to);
        show(view.from + kept, view.to + kept);
    }

    function choose(chart, lane, at) {
        const bars = chart.lanes[lane];
        if (!bars || !bars[at])
            return;
        chart.lane = lane;
        chart.at = at;
        const bar = bars[at], span = view.to - view.from;
        if (bar.start < view.from || bar.end > view.to)
            show(bar.start - span / 4, bar.start + span * 3 / 4);
        const box = chart.plot.getBoundingClientRect();
        const x = Math.min(Math.max(placeOf(chart, bar.start), 0), chart.width);
        drawMark(chart);
        showTip(chart, lane, bar, box.left + x, box.top + AXIS + lane * LANE + LANE / 2);
        spoken.textContent = describe(chart, lane, bar).join(": ");
    }

    function step(chart, by) {
        const bars = chart.lanes[chart.lane];
        const at = chart.at < 0 ? firstAfter(bars, view.from) : chart.at + by;
        choose(chart, chart.lane, Math.min(Math.max(at, 0), bars.length - 1));
    }

    function stepLane(chart, by) {
        const lane = Math.min(Math.max(chart.lane + by, 0), chart.lanes.length - 1);
        const now = chart.at < 0 ? view.from : chart.lanes[chart.lane][chart.at].start;
        choose(chart, lane, Math.min(firstAfter(chart.lanes[lane], now),
            chart.lanes[lane].length - 1));
    }

    const keys = {
        "+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), "_": () => zoom(2),
        "0": () => show(0, whole), "Home": () => show(0, whole),
        "ArrowLeft": () => move(-0.2), "ArrowRight": () => move(0.2),
        "ArrowUp": chart => stepLane(chart, -1), "ArrowDown": chart => stepLane(chart, 1),
        "n": chart => step(chart, 1), "p": chart => step(chart, -1),
        "N": chart => step(chart, 1), "P": chart => step(chart, -1),
        "Escape": () => { tip.hidden = true; state.selection = null; drawAll(); },
    };

    /* The drawing without scripts takes some bars together, which are told apart here, or not. */
    function sayMerged(figure, fine) {
        const merged = figure.querySelector(".merged");
        if (merged)
            merged.textContent = "Operations narrower than a pixel share a bar, as high as the " +
                "share of its time that was busy: zoom in to tell them apart" +
                (fine ? ", down to " + sayTime(fine) + "; those that are shorter and begin " +
                    "together stay together." : ".");
    }

    function listen(chart) {
        const plot = chart.plot;
        let drag = null;
        const xOf = event => event.clientX - plot.getBoundingClientRect().left;
        const yOf = event => event.clientY - plot.getBoundingClientRect().top;
        const nsAt = x => view.from + x / chart.width * (view.to - view.from);
        plot.setAttribute("tabindex", "0");
        plot.setAttribute("role", "application");
        plot.setAttribute("aria-roledescription", "timeline");
        plot.setAttribute("aria-describedby", "how");
        plot.addEventListener("keydown", event => {
            const act = keys[event.key];
            if (!act || event.ctrlKey || event.metaKey || event.altKey)
                return;
            event.preventDefault();
            act(chart);
        });
        plot.addEventListener("wheel", event => {
            const across = event.shiftKey ? event.deltaX || event.deltaY : event.deltaX;
            if (event.ctrlKey || event.metaKey)
                zoom(2 ** (event.deltaY / 200), nsAt(xOf(event)));
            else if (Math.abs(across) > Math.abs(event.deltaY) || event.shiftKey)
                move(across / chart.width);
            else
                return;
            event.preventDefault();
        }, { passive: false });
        plot.addEventListener("pointerdown", event => {
            if (event.button)
                return;
            drag = { x: xOf(event), last: xOf(event), pans: event.pointerType === "touch" };
            plot.setPointerCapture(event.pointerId);
        });
        plot.addEventListener("pointermove", event => {
            const x = xOf(event);
            if (drag && drag.pans) {
                move((drag.last - x) / chart.width);
                drag.last = x;
            } else if (drag && Math.abs(x - drag.x) > 3) {
                const left = Math.min(x, drag.x);
                chart.marks.replaceChildren(element("rect", { class: "selection", x: left, y: AXIS,
                    width: Math.abs(x - drag.x), height: chart.lanes.length * LANE }));
            } else {
                const found = barAt(chart, x, yOf(event));
                tip.hidden = true;
                if (found)
                    showTip(chart, found.lane, chart.lanes[found.lane][found.at], event.clientX,
                        event.clientY);
            }
        });
        plot.addEventListener("pointerup", event => {
            const x = xOf(event), from = drag;
            drag = null;
            if (!from || from.pans)
                return;
            if (Math.abs(x - from.x) > 3) {
                const left = Math.max(nsAt(Math.min(from.x, x)), 0);
                const right = Math.min(nsAt(Math.max(from.x, x)), whole);
                state.selection = event.shiftKey ? { from: left, to: right } : null;
                if (event.shiftKey)
                    drawAll();
                else
                    show(left, right);
                return;
            }
            const found = barAt(chart, x, yOf(event));
            if (found)
                choose(chart, found.lane, found.at);
        });
        plot.addEventListener("pointercancel", () => { drag = null; drawMark(chart); });
        plot.addEventListener("pointerleave", () => { tip.hidden = true; });
        plot.addEventListener("dblclick", () => show(0, whole));
        new ResizeObserver(drawAll).observe(plot);
    }

    const acts = { in: () => zoom(0.5), out: () => zoom(2), all: () => show(0, whole) };
    for (const button of document.querySelectorAll("[data-zoom]"))
        button.addEventListener("click", acts[button.dataset.zoom]);
    document.getElementById("zoom").hidden = false;
    document.getElementById("how").hidden = false;
    figures.forEach((figure, index) => sayMerged(figure, data.timelines[index].fine));
    charts.forEach(listen);
    /* the drawing without scripts is the map of page_tools.js */
    charts.forEach(chart => { chart.whole = chart.bars.cloneNode(true); });
    charts.forEach(draw);
    drawRates();
    return { data, charts, view, state, whole, watchers, show, choose, drawAll, firstAfter, element,
        sayTime, sayBytes, sayCount, sayRate: rate => scaled(rate, rateUnits, 3) };
})();
