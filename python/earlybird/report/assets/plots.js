// Draws the charts of a page with Vega-Embed, in the colours of the reader's scheme and for the width there is.
// Each <figure class="plot"> holds its chart as JSON: `document` in earlybird/plots/vega.py describes it.
"use strict";
(() => {
  const ERRORS = 1; // of Vega's log levels: its warnings are for authors of charts, not for readers
  const MANY = 200000; // bytes of data with which a canvas is faster than SVG
  const scheme = matchMedia("(prefers-color-scheme: dark)");
  const darkColours = JSON.parse(document.getElementById("dark-colours").textContent);

  function chartOf(figure) {
    let text = figure.querySelector("script").textContent;
    if (scheme.matches) for (const [light, dark] of Object.entries(darkColours)) text = text.replaceAll(light, dark);
    return JSON.parse(text);
  }

  async function draw(figure) {
    const place = figure.querySelector(".chart");
    const chart = chartOf(figure);
    figure.dataset.width = place.clientWidth;
    const spec = place.clientWidth < chart.width ? chart.narrow : chart.wide;
    const renderer = JSON.stringify(chart.datasets).length > MANY ? "canvas" : "svg";
    spec.config.background = "transparent";
    await vegaEmbed(place, { ...spec, datasets: chart.datasets }, { renderer, actions: false, logLevel: ERRORS });
    figure.dataset.points = Object.values(chart.datasets).reduce((sum, rows) => sum + rows.length, 0);
  }

  async function drawAll() {
    for (const figure of document.querySelectorAll("figure.plot")) {
      if (!figure.clientWidth) continue; // folded: drawn once it is seen
      await draw(figure);
      await new Promise((resolve) => setTimeout(resolve, 0)); // lets the page be read meanwhile
    }
    document.documentElement.dataset.plots = "drawn";
  }

  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const figure = target.closest("figure");
      const isDrawn = figure.dataset.points || document.documentElement.dataset.plots;
      if (isDrawn && target.clientWidth && target.clientWidth !== Number(figure.dataset.width)) requestAnimationFrame(() => draw(figure)); // drawn at once, it would be observed again in the same frame
    }
  });
  for (const chart of document.querySelectorAll("figure.plot .chart")) resized.observe(chart);
  scheme.addEventListener("change", drawAll);
  drawAll();
})();
