"use strict";
// Fills the page of a live run from its stream of events. Without it, reload the report.
const page = document.getElementById("live");
const points = [];
const SPACE = "http://www.w3.org/2000/svg";

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

function add(svg, name, attributes, text) {
  const element = document.createElementNS(SPACE, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  svg.append(element);
}

function chart(id, columns) {
  const svg = document.getElementById(id);
  svg.replaceChildren();
  const values = points.flatMap((point) => columns.map(([at]) => point[at])).filter((of) => of !== null);
  if (values.length === 0) return;
  const top = Math.max(...values) || 1;
  const [from, to] = [points[0][0], points[points.length - 1][0]];
  const x = (seconds) => (to > from ? 50 + (545 * (seconds - from)) / (to - from) : 50);
  const y = (value) => 140 - (130 * value) / top;
  add(svg, "path", { class: "base", d: "M50 140H595" });
  add(svg, "text", { x: 44, y: 14, "text-anchor": "end" }, top.toPrecision(3));
  add(svg, "text", { x: 44, y: 144, "text-anchor": "end" }, "0");
  add(svg, "text", { x: 595, y: 157, "text-anchor": "end" }, duration(to));
  for (const [at, ink] of columns) {
    const known = points.filter((point) => point[at] !== null);
    const line = known.map((point) => `${x(point[0]).toFixed(1)},${y(point[at]).toFixed(1)}`);
    add(svg, "polyline", { class: `line ${ink}`, points: line.join(" ") });
  }
}

function show(now) {
  document.getElementById("gone").hidden = true;
  document.getElementById("phase").textContent = now.phase ?? "between phases";
  const planned = now.planned_s === null ? "" : ` of ${duration(now.planned_s)}, ${duration(now.left_s)} left`;
  const elapsed = now.elapsed_s === null ? "" : `${duration(now.elapsed_s)}${planned}`;
  document.getElementById("time").textContent = elapsed;
  const target = now.target_iops === null ? "as many as possible" : `held at ${now.target_iops}`;
  figure("iops", now.iops === null ? "-" : now.iops.toFixed(0), `${target}; ${now.sessions} sessions`, "plain");
  latency("read", now.read);
  latency("log_write", now.log_write);
  figure("issues", String(now.issues), "", now.issues > 0 ? "fail" : "plain");
  if (now.points.length > 0) {
    points.push(...now.points);
    points.splice(0, points.length - 2000);
    chart("iops-chart", [[1, "ink-total"]]);
    chart("latency-chart", [[2, "ink-read"], [3, "ink-log"]]);
  }
}

const events = new EventSource(page.dataset.events);
events.addEventListener("message", (event) => show(JSON.parse(event.data)));
events.addEventListener("open", () => points.splice(0));
events.addEventListener("end", () => {
  events.close();
  location.assign(page.dataset.report);
});
events.addEventListener("error", () => {
  document.getElementById("gone").hidden = false;
});
