"use strict";
// Unpacks plotly.js and draws the figures one after the other. document.body.dataset.drawn counts them; it is "all" at the end.
(async () => {
  const packed = document.getElementById("plotly").textContent;
  const figures = JSON.parse(document.getElementById("figures").textContent);
  const done = () => { document.body.dataset.drawn = "all"; };
  if (!packed || figures.length === 0) {
    if (figures.length === 0) document.getElementById("undrawn").remove();
    else for (const plot of document.querySelectorAll(".plot")) plot.closest("figure").remove();
    return done();
  }

  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  const text = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  const script = document.createElement("script");
  script.textContent = text;
  document.head.append(script);

  const font = { family: getComputedStyle(document.querySelector("h1")).fontFamily, size: 13, color: "#1d2329" };
  const axis = { gridcolor: "#e6eaee", zerolinecolor: "#b8c0c8", linecolor: "#8a949e", ticks: "outside", tickcolor: "#b8c0c8", automargin: true };
  const narrow = () => window.innerWidth < 600;
  // In a narrow window long names beside the bars would leave no room for them: they are broken into lines.
  const line_letters = 18, line_pixels = 13;
  const broken = (name) => name.split(" ").reduce((lines, word) => {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < line_letters) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
    return lines;
  }, []);
  const break_names = (figure, layout) => {
    const names = [...new Set(figure.traces.flatMap((trace) => Array.isArray(trace.y) ? trace.y : []))];
    if (!narrow() || !names.some((name) => typeof name === "string" && name.length > line_letters)) return 0;
    const lines = names.map((name) => broken(String(name)));
    layout.yaxis = { ...layout.yaxis, tickmode: "array", tickvals: names, ticktext: lines.map((parts) => parts.join("<br>")), tickfont: { size: 10 } };
    return line_pixels * lines.reduce((sum, parts) => sum + parts.length, 0);
  };
  const layout_of = (figure, width) => {
    const layout = structuredClone(figure.layout);
    const names_height = break_names(figure, layout);
    for (const name of ["xaxis", "yaxis"]) {
      layout[name] = { ...axis, ...layout[name] };
      if (layout[name].title) layout[name].title = { text: layout[name].title, standoff: 8, font: { size: 13 } };
    }
    return {
      font, width, height: figure.height + names_height + (narrow() && figure.traces.length > 2 ? 22 * Math.ceil(figure.traces.length / 2) : 0), paper_bgcolor: "#fff", plot_bgcolor: "#fff", hovermode: "closest", dragmode: narrow() ? false : "zoom",
      margin: { l: 56, r: narrow() ? 12 : 24, t: 34, b: 48 }, hoverlabel: { font: { family: font.family }, align: "left" },
      legend: { orientation: "h", traceorder: "normal", x: 0, y: 1.01, yanchor: "bottom", font: { size: 12 } }, ...layout,
    };
  };
  const draw = (figure) => {
    const plot = document.getElementById(figure.id);
    return Plotly.react(plot, figure.traces, layout_of(figure, plot.parentElement.clientWidth),
      { displaylogo: false, responsive: false, modeBarButtonsToRemove: ["lasso2d", "select2d", "autoScale2d"], displayModeBar: narrow() ? false : "hover" });
  };

  let count = 0;
  for (const figure of figures) {
    try {
      await draw(figure);
    } catch (problem) {
      console.error(figure.id, problem);
    }
    document.body.dataset.drawn = String(++count);
    await new Promise((resolve) => setTimeout(resolve));
  }
  document.getElementById("undrawn").remove();
  done();

  let width = document.documentElement.clientWidth;
  const again = () => { for (const figure of figures) draw(figure); };
  window.addEventListener("resize", () => {
    if (document.documentElement.clientWidth === width) return;
    width = document.documentElement.clientWidth;
    again();
  });
  window.matchMedia("print").addEventListener("change", again);
})();
