"use strict";
// Fills the page of a live run from its stream of events.
const page = document.getElementById("live");
const points = [];
const SPACE = "http://www.w3.org/2000/svg";
const [LEFT, TOP, BOTTOM] = [50, 14, 174];

function duration(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  const parts = [[Math.floor(whole / 3600), "h"], [Math.floor(whole / 60) % 60, "min"], [whole % 60, "s"]];
  const said = parts.filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`);
  return said.join(" ") || "0 s";
}

function figure(id, value, remark, tone) {
  const box = document.getElementById(id);
  box.className = tone;
  box.querySelector("b").textContent = value;
  box.querySelector("dd span").textContent = remark;
}

function latency(id, of) {
  if (of.mean_ms === null) {
    figure(id, "-", `limit ${of.limit_ms} ms on average`, "plain");
    return;
  }
  const tone = of.mean_ms > of.limit_ms ? "fail" : "plain";
  const remark = `99 % within ${of.p99_ms.toFixed(2)} ms; limit ${of.limit_ms} ms on average`;
  figure(id, `${of.mean_ms.toFixed(2)} ms`, remark, tone);
}

function add(parent, name, attributes, text) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  parent.append(element);
  return element;
}

// An empty chart; whatever is read out of it goes on being read out.
function blank(id) {
  const svg = document.getElementById(id);
  svg.replaceChildren();
  // As wide as it is shown, so that its words are as large as all others.
  const width = Math.max(svg.clientWidth, 300);
  svg.setAttribute("viewBox", `0 0 ${width} 200`);
  const right = width - 8;
  add(svg, "path", { class: "base", d: `M${LEFT} ${BOTTOM}H${right}` });
  return { svg, right };
}

// Steps from zero to above `top`: 1, 2 or 5 times a power of ten.
function evenTicks(top) {
  const power = 10 ** Math.floor(Math.log10(top / 4));
  const step = [1, 2, 5, 10].map((of) => of * power).find((of) => top / of <= 4) ?? 10 * power;
  return Array.from({ length: Math.ceil(top / step) + 1 }, (_, at) => at * step);
}

// Powers of ten around all values.
function powers(low, high) {
  const [from, to] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  return Array.from({ length: Math.max(to - from, 1) + 1 }, (_, at) => 10 ** (from + at));
}

function axis({ svg, right }, ticks, y) {
  for (const tick of ticks) {
    add(svg, "path", { class: "grid", d: `M${LEFT} ${y(tick).toFixed(1)}H${right}` });
    add(svg, "text", { x: LEFT - 6, y: y(tick) + 4, "text-anchor": "end" }, String(Number(tick.toPrecision(3))));
  }
}

// Whether a line of `drawn`, as lists of places, passes through a box.
function isCrossed(drawn, [left, top, right, bottom]) {
  return drawn.some((line) =>
    line.some(([x, y], at) => {
      const [fromX, fromY] = line[Math.max(at - 1, 0)];
      return fromX < right && x > left && Math.min(fromY, y) < bottom && Math.max(fromY, y) > top;
    }));
}

// A label stands at either end of its limit, above or below it: where no line and no other label is.
function limits({ svg, right }, all, y, drawn) {
  const taken = [];
  for (const [value, label, kind] of all) {
    const at = y(value);
    const width = 6.2 * label.length;
    const places = [[right - width, at - 4], [LEFT + 2, at - 4], [right - width, at + 13], [LEFT + 2, at + 13]];
    const box = ([x, base]) => [x, base - 11, x + width, base + 3];
    const apart = (one, two) => one[2] < two[0] || two[2] < one[0] || one[3] < two[1] || two[3] < one[1];
    const isFree = (place) => !isCrossed(drawn, box(place)) && taken.every((other) => apart(box(place), other));
    const [x, base] = places.find(isFree) ?? places[0];
    taken.push(box([x, base]));
    add(svg, "path", { class: kind, d: `M${LEFT} ${at.toFixed(1)}H${right}` });
    add(svg, "text", { class: `${kind}-label`, x, y: base }, label);
  }
}

function strips({ svg, right }, x, say) {
  const group = add(svg, "g", { class: "hints" });
  points.forEach((point, at) => {
    const from = at === 0 ? LEFT : (x(points[at - 1][0]) + x(point[0])) / 2;
    const to = at + 1 === points.length ? right : (x(point[0]) + x(points[at + 1][0])) / 2;
    const strip = { x: from, y: TOP, width: to - from, height: BOTTOM - TOP, "data-at": point[0], "data-said": say(point) };
    add(group, "rect", strip);
  });
}

// Columns of `points` over time, beside limits as [value, label, kind].
function overTime(id, columns, bounds, logarithmic, say) {
  const frame = blank(id);
  // The measured part gives the scale: a warm-up at full speed would flatten it.
  const isMeasured = points.some((point) => point[4]);
  const scaled = points.filter((point) => point[4] || !isMeasured);
  const known = scaled.flatMap((point) => columns.map(([at]) => point[at])).filter((of) => of !== null && of > 0);
  const values = [...known, ...bounds.map(([value]) => value)];
  if (known.length === 0) return;
  const ticks = logarithmic ? powers(Math.min(...values), Math.max(...values)) : evenTicks(Math.max(...values));
  const [low, high] = [ticks[0], ticks[ticks.length - 1]];
  const share = logarithmic
    ? (value) => Math.log10(Math.min(Math.max(value, low), high) / low) / Math.log10(high / low)
    : (value) => Math.min(value, high) / high;
  const y = (value) => BOTTOM - (BOTTOM - TOP) * share(value);
  const [from, to] = [points[0][0], points[points.length - 1][0]];
  const x = (seconds) => LEFT + ((frame.right - LEFT) * (seconds - from)) / Math.max(to - from, 1e-9);
  axis(frame, ticks, y);
  add(frame.svg, "text", { x: LEFT, y: BOTTOM + 18 }, duration(from));
  add(frame.svg, "text", { x: frame.right, y: BOTTOM + 18, "text-anchor": "end" }, duration(to));
  const drawn = columns.map(([at]) => points.filter((point) => point[at] !== null).map((point) => [x(point[0]), y(point[at])]));
  drawn.forEach((line, at) => {
    const places = line.map((place) => place.map((of) => of.toFixed(1)).join(","));
    add(frame.svg, "polyline", { class: `line ${columns[at][1]}`, points: places.join(" ") });
  });
  limits(frame, bounds, y, drawn);
  strips(frame, x, say);
}

// Bars of both kinds beside each other, as shares of the requests of their kind.
function histogram(now) {
  const frame = blank("histogram");
  const of = now.histogram;
  const kinds = of === null ? [] : [["read", "ink-read"], ["log_write", "ink-log"]];
  const counts = kinds.flatMap(([kind]) => of[kind]);
  const used = of === null ? [] : of.read.map((count, at) => (count + of.log_write[at] > 0 ? at : -1)).filter((at) => at >= 0);
  if (!counts.some((count) => count > 0)) return;
  const [first, last] = [used[0], used[used.length - 1]];
  const width = (frame.right - LEFT) / (last - first + 1);
  const whole = (kind) => of[kind].reduce((sum, count) => sum + count, 0) || 1;
  const share = (kind, at) => (100 * of[kind][at]) / whole(kind);
  const ticks = evenTicks(Math.max(...kinds.flatMap(([kind]) => of[kind].map((_, at) => share(kind, at)))));
  const y = (value) => BOTTOM - ((BOTTOM - TOP) * value) / ticks[ticks.length - 1];
  axis(frame, ticks, y);
  const upto = (at) => (at < of.upto_ms.length ? `to ${of.upto_ms[at]} ms` : `over ${of.upto_ms[at - 1]} ms`);
  const group = add(frame.svg, "g", { class: "hints" });
  for (let at = first; at <= last; at += 1) {
    const left = LEFT + (at - first) * width;
    kinds.forEach(([kind, ink], side) => {
      const top = y(share(kind, at));
      add(frame.svg, "rect", { class: `bar ${ink}`, x: left + (side * width) / 2 + 1, y: top, width: Math.max(width / 2 - 2, 1), height: BOTTOM - top });
    });
    const said = `${upto(at)}: ${share("read", at).toFixed(2)} % of database reads, ${share("log_write", at).toFixed(2)} % of log writes`;
    add(group, "rect", { x: left, y: TOP, width, height: BOTTOM - TOP, "data-said": said });
    if ((last - at) % 3 === 0 && at < of.upto_ms.length) {
      add(frame.svg, "text", { x: left + width, y: BOTTOM + 18, "text-anchor": at === last ? "end" : "middle" }, `${of.upto_ms[at]} ms`);
    }
  }
  frame.svg.append(group);
}

function draw(now) {
  const target = now.target_iops === null ? [] : [[now.target_iops, `asked for ${now.target_iops}`, "goal"]];
  const said = (value, digits) => (value === null ? "none" : value.toFixed(digits));
  overTime("iops-chart", [[1, "ink-total"]], target, false, (point) => `${duration(point[0])}: ${said(point[1], 0)} IOPS`);
  const bounds = [
    [now.read.limit_ms, `reads at most ${now.read.limit_ms} on average`, "limit"],
    [now.log_write.limit_ms, `log writes at most ${now.log_write.limit_ms} on average`, "limit"],
    [Math.max(now.read.worst_limit_ms, now.log_write.worst_limit_ms), `any interval at most ${now.read.worst_limit_ms}`, "limit"],
  ];
  overTime("latency-chart", [[2, "ink-read"], [3, "ink-log"]], bounds, true, (point) =>
    `${duration(point[0])}: database reads ${said(point[2], 3)} ms, log writes ${said(point[3], 3)} ms`);
}

function decide(seconds, text, isTuner) {
  const item = document.createElement("li");
  for (const [name, said] of [["time", duration(seconds)], [isTuner ? "b" : "span", text]]) {
    item.append(Object.assign(document.createElement(name), { textContent: said }));
  }
  const list = document.getElementById("decisions");
  list.prepend(item);
  while (list.children.length > 200) list.lastChild.remove();
}

function loads(all) {
  document.getElementById("loads").hidden = all.length === 0;
  const rows = all.map((load) => {
    const row = document.createElement("tr");
    const asked = load.asked_iops === null ? "not held" : load.asked_iops.toFixed(0);
    const cells = [["th", load.number], ["td", asked], ["td", load.iops === null ? "-" : load.iops.toFixed(0)], ["td", load.verdict]];
    cells.forEach(([name, said], at) => {
      const cell = Object.assign(document.createElement(name), { textContent: said });
      cell.className = at === 3 ? load.tone : at === 0 ? "" : "number";
      if (at === 0) cell.scope = "row";
      row.append(cell);
    });
    return row;
  });
  document.querySelector("#loads tbody").replaceChildren(...rows);
}

function time(now) {
  const elapsed = now.elapsed_s === null ? "" : duration(now.elapsed_s);
  if (now.left_s !== null) return `${elapsed} of ${duration(now.planned_s)}, ${duration(now.left_s)} left`;
  return now.least_left_s === null ? elapsed : `${elapsed}; then ${duration(now.least_left_s)} of measurement`;
}

let settledAt = null;

function show(now) {
  document.getElementById("gone").hidden = true;
  document.getElementById("phase").textContent = now.phase ?? "between phases";
  document.getElementById("time").textContent = time(now);
  const pace = now.is_held ? "held at" : "as many as possible, from the measurement on held at";
  const target = now.target_iops === null ? "as many as possible" : `${pace} ${now.target_iops}`;
  figure("iops", now.iops === null ? "-" : now.iops.toFixed(0), `${target}; ${now.sessions} sessions per database`, "plain");
  latency("read", now.read);
  latency("log_write", now.log_write);
  figure("issues", String(now.issues), "", now.issues > 0 ? "fail" : "plain");
  for (const line of now.decisions) decide(line.at_s, line.text, line.is_tuner);
  if (now.tuned_at_s !== null && settledAt === null) {
    settledAt = now.tuned_at_s;
    decide(settledAt, `The tuner settled at ${now.sessions} sessions per database.`, true);
  }
  loads(now.loads);
  if (now.points.length > 0) {
    points.push(...now.points);
    points.splice(0, points.length - 2000);
    draw(now);
    histogram(now);
  }
}

const events = new EventSource(page.dataset.events);
events.addEventListener("message", (event) => show(JSON.parse(event.data)));
events.addEventListener("open", () => {
  points.splice(0);
  document.getElementById("decisions").replaceChildren();
  settledAt = null;
});
events.addEventListener("end", (event) => {
  events.close();
  location.assign(JSON.parse(event.data).place);
});
events.addEventListener("error", () => {
  document.getElementById("gone").hidden = false;
});
