/* A search, a map of the whole run, and the numbers of the range that is shown or selected. */
(() => {
    if (!timelines)
        return;
    const { data, charts, view, state, whole, watchers, element } = timelines;
    const make = (tag, text, name) => {
        const made = document.createElement(tag);
        if (text !== undefined)
            made.textContent = text;
        if (name)
            made.className = name;
        return made;
    };

    /* --- search */

    const field = document.getElementById("find");
    const said = document.getElementById("found");
    let matches = [], at = -1;

    /* The texts that the pattern is sought in: names, source lines, or the words of the legend. Bars that stand for several kinds of
     * operation have no name, so they are found by those words alone. */
    function find() {
        const words = field.value.trim().toLowerCase();
        matches = [];
        at = -1;
        state.found = null;
        said.textContent = "";
        if (words) {
            state.found = new Set();
            data.whats.forEach(([look, name, , line], what) => {
                if ((name + " " + (line || "") + " " + data.looks[look]).toLowerCase().includes(words))
                    state.found.add(what);
            });
            let count = 0, time = 0;
            charts.forEach(chart => chart.lanes.forEach((bars, lane) => bars.forEach((bar, number) => {
                if (!state.found.has(bar.what))
                    return;
                matches.push({ chart, lane, number, start: bar.start });
                count += chart === charts[0] ? bar.count : 0;
                time += chart === charts[0] ? bar.busy : 0;
            })));
            const place = new Map(charts.map((chart, index) => [chart, index]));
            matches.sort((a, b) => place.get(a.chart) - place.get(b.chart) || a.start - b.start);
            said.textContent = matches.length ? timelines.sayCount(count) + " found, " +
                timelines.sayTime(time) + (charts.length > 1 ? " in the first timeline" : "") +
                ": Enter goes to the next" : "nothing found";
        }
        timelines.drawAll();
    }

    function next(by) {
        if (!matches.length)
            return;
        at = (at + by + matches.length) % matches.length;
        const match = matches[at];
        timelines.choose(match.chart, match.lane, match.number);
    }

    field.addEventListener("input", find);
    field.addEventListener("keydown", event => {
        if (event.key === "Enter")
            next(event.shiftKey ? -1 : 1);
        else if (event.key === "Escape") {
            field.value = "";
            find();
        }
    });
    field.parentElement.hidden = false;

    /* --- the map: the first timeline as a whole, and what part of it is shown */

    const map = element("svg", { class: "map", width: "100%", height: 34, role: "img",
        "aria-label": "The whole run; the frame is what the timelines show" });
    const drawing = charts[0].whole;
    const frame = element("rect", { class: "frame", y: 0.5, height: 33 });
    drawing.setAttribute("y", 0);
    drawing.setAttribute("height", 34);
    drawing.setAttribute("class", "bars");
    map.append(drawing, frame);
    const holder = document.getElementById("map");
    holder.append(map);
    holder.hidden = false;

    function drawFrame() {
        const width = Math.max(map.clientWidth, 1), span = view.to - view.from;
        frame.setAttribute("x", view.from / whole * width + 0.5);
        frame.setAttribute("width", Math.max(span / whole * width - 1, 2));
    }

    function moveTo(event) {
        const box = map.getBoundingClientRect(), span = view.to - view.from;
        const middle = (event.clientX - box.left) / Math.max(box.width, 1) * whole;
        const from = Math.min(Math.max(middle - span / 2, 0), whole - span);
        timelines.show(from, from + span);
    }

    let held = false;
    map.addEventListener("pointerdown", event => {
        held = true;
        map.setPointerCapture(event.pointerId);
        moveTo(event);
    });
    map.addEventListener("pointermove", event => {
        if (held)
            moveTo(event);
    });
    map.addEventListener("pointerup", () => { held = false; });
    map.addEventListener("pointercancel", () => { held = false; });

    /* --- numbers of a range */

    const range = document.getElementById("range");

    /* Operations that reach beyond the range count with the part of their time that is in it. */
    function sumsOf(chart, from, to) {
        const sums = data.looks.map(() => ({ count: 0, time: 0, bytes: 0 }));
        for (const bars of chart.lanes)
            for (let i = timelines.firstAfter(bars, from); i < bars.length && bars[i].start < to; i++) {
                const bar = bars[i], length = bar.end - bar.start;
                if (bar.end < from)
                    continue;
                const inside = Math.min(bar.end, to) - Math.max(bar.start, from);
                const part = length > 0 ? inside / length : 1, sum = sums[bar.look];
                sum.count += bar.merged ? Math.round(bar.count * part) : 1;
                sum.time += bar.busy * part;
                sum.bytes += bar.bytes * part;
            }
        return sums;
    }

    function row(tag, cells) {
        const made = make("tr");
        cells.forEach((cell, index) => made.append(make(tag, cell, index < 1 ? "left" : "")));
        return made;
    }

    /* what would round to 0.0 % is something all the same */
    function sayShare(share) {
        return share > 0 && share < 0.0005 ? "<0.1 %" : (100 * share).toFixed(1) + " %";
    }

    function drawRange() {
        const { from, to } = state.selection || view, span = Math.max(to - from, 1);
        range.replaceChildren(make("p", (state.selection ? "Selected: " : "Shown: ") +
            timelines.sayTime(span) + " from " + (from ? timelines.sayTime(from, 7) : "0") +
            (state.selection ? " (Esc ends the selection)" : ""), "remark"));
        for (const chart of charts) {
            const table = make("table"), head = make("thead"), body = make("tbody");
            const sums = sumsOf(chart, from, to);
            head.append(row("th", [chart.label, "operations", "total time", "of the range", "bytes",
                "rate"]));
            sums.forEach((sum, look) => {
                const copies = look >= 1 && look <= 5 && sum.bytes > 0 && sum.time > 0;
                if (sum.count)
                    body.append(row("td", [data.looks[look], timelines.sayCount(sum.count),
                        timelines.sayTime(sum.time), sayShare(sum.time / span),
                        sum.bytes > 0 ? timelines.sayBytes(sum.bytes) : "-",
                        copies ? timelines.sayRate(sum.bytes / sum.time * 1e9) : "-"]));
            });
            table.append(head, body);
            const box = make("div", undefined, "scroll");
            box.append(table);
            range.append(box);
        }
        range.hidden = false;
    }

    charts.forEach(chart => {
        chart.label = chart.plot.closest("figure").querySelector("figcaption b").textContent;
    });
    watchers.push(drawFrame, drawRange);
    drawFrame();
    drawRange();
})();
