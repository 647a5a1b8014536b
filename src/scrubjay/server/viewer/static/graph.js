// The concepts as a picture. Where each is drawn was computed by the server: the page only draws.
(() => {
  const box = document.getElementById("web");
  if (!box || typeof cytoscape === "undefined") return;
  const note = document.getElementById("web-note");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Sizes are those on the screen when all is in sight: `unit` is how much of the picture one pixel shows then.
  // Of many, nothing is see-through: it costs most of a frame.
  const style = (many, unit) => [
    { selector: "node", style: {
      "width": "data(size)", "height": "data(size)", "background-color": colour("--accent"), "background-opacity": many ? 1 : 0.85,
      "label": "data(name)", "font-size": 12 * unit, "color": colour("--text"), "text-valign": "bottom", "text-margin-y": 2 * unit,
      "text-max-width": 120 * unit, "text-wrap": "ellipsis", "min-zoomed-font-size": 25, // pictures of names are kept at up to twice their size: less would show them all
      "text-background-color": colour("--raised"), "text-background-opacity": many ? 0 : 0.75, "text-background-padding": unit } },
    { selector: ".large", style: { "min-zoomed-font-size": 0, "z-index": 5 } },
    { selector: "edge", style: {
      "width": "data(width)", "line-color": colour("--line-strong"), "opacity": many ? 1 : 0.55, "curve-style": "haystack" } },
    { selector: ".near", style: { "background-color": colour("--mark-strong"), "z-index": 9, "min-zoomed-font-size": 0 } },
    { selector: "edge.near", style: { "line-color": colour("--mark-strong"), "opacity": 1 } },
    { selector: ".far", style: { "opacity": 0.15, "label": "" } },
  ];

  function drawn(told) {
    const most = Math.max(1, ...told.nodes.map((each) => each.memories));
    const together = Math.max(1, ...told.ties.map((each) => each.together));
    const many = told.nodes.length > 400;
    const wide = (axis, room) => (Math.max(...told.nodes.map((each) => each[axis])) - Math.min(...told.nodes.map((each) => each[axis]))) / Math.max(1, room - 70);
    const unit = told.nodes.length > 1 ? Math.max(0.5, wide("x", box.clientWidth), wide("y", box.clientHeight)) : 1;
    // So many names fit beside each other; the others show when looked at closely. The first are the largest.
    const named = told.nodes.length > 40 ? Math.round(box.clientWidth / 30) : 40;
    const cy = cytoscape({
      container: box,
      style: style(many, unit),
      layout: { name: "preset", fit: false },
      zoom: 1 / unit,
      elements: [
        ...told.nodes.map((each, place) => ({ data: { id: each.id, name: each.name, size: unit * ((many ? 3 : 5) + 24 * Math.sqrt(each.memories / most)) }, classes: place < named ? "large" : "", position: { x: each.x, y: each.y } })),
        ...told.ties.map((each) => ({ data: { source: each.one, target: each.other, width: unit * ((many ? 0.4 : 0.7) + 3 * each.together / together) } })),
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
    box.dataset.drawn = String(told.nodes.length);
    if (told.known > told.nodes.length) note.textContent += ` Shown: the ${told.nodes.length.toLocaleString("en")} that most memories refer to, of ${told.known.toLocaleString("en")}.`;
  }

  fetch(box.dataset.web, { headers: { accept: "application/json" } })
    .then((answer) => answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status))))
    .then(drawn)
    .catch((error) => { note.textContent = `The picture could not be drawn (${error.message}); the list says the same.`; });
})();
