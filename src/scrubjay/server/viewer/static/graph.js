// Draws the graph of concepts with the positions that the server computed.
(() => {
  const box = document.getElementById("web");
  if (!box || typeof cytoscape === "undefined") return;
  const note = document.getElementById("web-note");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Sizes are in pixels with the whole graph in view; `unit` is a pixel in graph coordinates then.
  // Large graphs are opaque: transparency costs most of a frame.
  const style = (many, unit) => [
    { selector: "node", style: {
      "width": "data(size)", "height": "data(size)", "background-color": colour("--accent"), "background-opacity": many ? 1 : 0.85,
      "label": "data(name)", "font-size": 12 * unit, "color": colour("--text"), "text-valign": "bottom", "text-margin-y": 2 * unit,
      "text-max-width": 120 * unit, "text-wrap": "ellipsis", "min-zoomed-font-size": 25, // cached labels are scaled up to twice: a smaller value would show them all
      "text-background-color": colour("--raised"), "text-background-opacity": many ? 0 : 0.75, "text-background-padding": unit } },
    { selector: ".large", style: { "min-zoomed-font-size": 0, "z-index": 5 } },
    { selector: "edge", style: {
      "width": "data(width)", "line-color": colour("--line-strong"), "opacity": many ? 1 : 0.55, "curve-style": "haystack" } },
    { selector: ".near", style: { "background-color": colour("--mark-strong"), "z-index": 9, "min-zoomed-font-size": 0 } },
    { selector: "edge.near", style: { "line-color": colour("--mark-strong"), "opacity": 1 } },
    { selector: ".far", style: { "opacity": 0.15, "label": "" } },
  ];

  function draw(graph) {
    const most = Math.max(1, ...graph.nodes.map((each) => each.memories));
    const together = Math.max(1, ...graph.ties.map((each) => each.together));
    const many = graph.nodes.length > 400;
    const wide = (axis, room) => (Math.max(...graph.nodes.map((each) => each[axis])) - Math.min(...graph.nodes.map((each) => each[axis]))) / Math.max(1, room - 70);
    const unit = graph.nodes.length > 1 ? Math.max(0.5, wide("x", box.clientWidth), wide("y", box.clientHeight)) : 1;
    // Names that fit beside each other, of the largest concepts; the others appear when zoomed in.
    const named = graph.nodes.length > 40 ? Math.round(box.clientWidth / 30) : 40;
    const cy = cytoscape({
      container: box,
      style: style(many, unit),
      layout: { name: "preset", fit: false },
      zoom: 1 / unit,
      elements: [
        ...graph.nodes.map((each, place) => ({ data: { id: each.id, name: each.name, size: unit * ((many ? 3 : 5) + 24 * Math.sqrt(each.memories / most)) }, classes: place < named ? "large" : "", position: { x: each.x, y: each.y } })),
        ...graph.ties.map((each) => ({ data: { source: each.one, target: each.other, width: unit * ((many ? 0.4 : 0.7) + 3 * each.together / together) } })),
      ],
      minZoom: 0.3 / unit, maxZoom: 12 / unit, autoungrabify: true, boxSelectionEnabled: false,
      textureOnViewport: many, hideEdgesOnViewport: many, pixelRatio: many ? 1 : "auto",
    });
    cy.center();
    const show = (node) => {
      cy.batch(() => {
        cy.elements().removeClass("near far");
        if (!node || node.empty()) return;
        const near = node.closedNeighborhood();
        near.addClass("near");
        cy.elements().not(near).addClass("far");
      });
    };
    cy.on("tap", "node", (event) => location.assign(`${box.dataset.web.split("/web.json")[0]}/${encodeURIComponent(event.target.id())}`));
    cy.on("mouseover", "node", (event) => show(event.target));
    cy.on("mouseout", "node", () => show(null));
    for (const link of document.querySelectorAll("[data-concept]")) {
      const begin = () => {
        const node = cy.getElementById(link.dataset.concept);
        show(node);
        if (node.nonempty() && !still) cy.animate({ center: { eles: node }, duration: 200 });
      };
      link.addEventListener("focus", begin);
      link.addEventListener("mouseenter", () => show(cy.getElementById(link.dataset.concept)));
      for (const end of ["blur", "mouseleave"]) link.addEventListener(end, () => show(null));
    }
    document.addEventListener("theme", () => cy.style(style(many, unit)));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(style(many, unit)));
    box.dataset.drawn = String(graph.nodes.length);
    if (graph.known > graph.nodes.length) note.textContent += ` Shown: the ${graph.nodes.length.toLocaleString("en")} that most memories refer to, of ${graph.known.toLocaleString("en")}.`;
  }

  fetch(box.dataset.web, { headers: { accept: "application/json" } })
    .then((answer) => answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status))))
    .then(draw)
    .catch((error) => { note.textContent = `The graph could not be drawn (${error.message}); the list has the same content.`; });
})();
