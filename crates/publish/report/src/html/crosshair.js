"use strict";
// Reads charts out by mouse, touch and keyboard: a line across every chart of the page at one
// moment, and all its values under each. Without it, the strips of a chart show them as titles.
(() => {
  const SPACE = "http://www.w3.org/2000/svg";
  const charts = () => [...document.querySelectorAll("figure svg")].filter((svg) => svg.querySelector(".hints"));
  const strips = (svg) => [...svg.querySelectorAll(".hints rect")];
  const moment = (strip) => strip.dataset.at;

  function readout(svg) {
    const figure = svg.closest("figure");
    return figure.querySelector(".readout") ?? figure.appendChild(Object.assign(document.createElement("p"), { className: "readout" }));
  }

  function said(strip) {
    const title = strip.querySelector("title");
    if (title) {
      strip.dataset.said = title.textContent;
      title.remove();
    }
    return strip.dataset.said;
  }

  function mark(svg, strip) {
    svg.querySelector(".cross")?.remove();
    readout(svg).textContent = strip ? said(strip) : "";
    if (!strip) return;
    const [x, y, width, height] = ["x", "y", "width", "height"].map((of) => Number(strip.getAttribute(of)));
    const line = document.createElementNS(SPACE, "path");
    line.setAttribute("class", "cross");
    line.setAttribute("d", `M${(x + width / 2).toFixed(1)} ${y}V${y + height}`);
    svg.append(line);
  }

  // The strip of the same moment, or the nearest one, on every chart over time.
  function show(svg, strip) {
    for (const other of charts()) {
      const same = other === svg;
      readout(other).setAttribute("aria-live", same ? "polite" : "off");
      if (same) mark(other, strip);
      else if (strip === null || moment(strip) === undefined) mark(other, null);
      else {
        const timed = strips(other).filter((of) => moment(of) !== undefined);
        const far = (of) => Math.abs(moment(of) - moment(strip));
        mark(other, timed.reduce((best, of) => (best && far(best) <= far(of) ? best : of), null));
      }
    }
    svg.dataset.at = strip ? strips(svg).indexOf(strip) : "";
  }

  function under(svg, event) {
    const box = svg.getBoundingClientRect();
    const x = ((event.clientX - box.left) * svg.viewBox.baseVal.width) / box.width;
    const far = (of) => Math.abs(Number(of.getAttribute("x")) + Number(of.getAttribute("width")) / 2 - x);
    return strips(svg).reduce((best, of) => (best && far(best) <= far(of) ? best : of), null);
  }

  function pointed(event) {
    const svg = event.target.closest?.("figure svg");
    if (svg?.querySelector(".hints")) show(svg, under(svg, event));
  }

  const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10, Home: -1e9, End: 1e9 };

  document.addEventListener("pointermove", pointed);
  document.addEventListener("pointerdown", pointed);
  document.addEventListener("keydown", (event) => {
    const svg = event.target.closest?.("figure svg");
    if (!svg?.querySelector(".hints")) return;
    if (event.key === "Escape") show(svg, null);
    if (steps[event.key] === undefined) return;
    event.preventDefault();
    const all = strips(svg);
    const from = svg.dataset.at ? Number(svg.dataset.at) : all.length - (steps[event.key] < 0 ? 0 : 1);
    show(svg, all[Math.min(Math.max(from + steps[event.key], 0), all.length - 1)]);
  });
  for (const svg of charts()) readout(svg);
})();
