// The concepts as a picture. Where each is drawn was computed by the server: the page only draws.
(() => {
  const box = document.getElementById("web");
  if (!box || typeof cytoscape === "undefined") return;
  const note = document.getElementById("web-note");
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // Of many, names show when looked at closely, and nothing is see-through: either costs most of a frame.
  const style = (many) => [
    { selector: "node", style: {
      "width": "data(size)", "height": "data(size)", "background-color": colour("--accent"), "background-opacity": many ? 1 : 0.85,
      "label": "data(name)", "font-size": 13, "color": colour("--text"), "text-valign": "bottom", "text-margin-y": 3,
      "text-max-width": 120, "text-wrap": "ellipsis", "min-zoomed-font-size": many ? 11 : 7,
      "text-background-color": colour("--page"), "text-background-opacity": many ? 0 : 0.75, "text-background-padding": 1 } },
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
    const cy = cytoscape({
      container: box,
      style: style(many),
      layout: { name: "preset", fit: true, padding: 20 },
      elements: [
        ...told.nodes.map((each) => ({ data: { id: each.id, name: each.name, size: 8 + 34 * Math.sqrt(each.memories / most) }, position: { x: each.x, y: each.y } })),
        ...told.ties.map((each) => ({ data: { source: each.one, target: each.other, width: 0.6 + 3 * each.together / together } })),
      ],
      minZoom: 0.03, maxZoom: 4, autoungrabify: true, boxSelectionEnabled: false,
      textureOnViewport: many, hideEdgesOnViewport: many, pixelRatio: many ? 1 : "auto",
    });
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
    document.addEventListener("theme", () => cy.style(style(many)));
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => cy.style(style(many)));
    box.dataset.drawn = String(told.nodes.length);
    if (told.known > told.nodes.length) note.textContent += ` Shown: the ${told.nodes.length.toLocaleString("en")} that most memories refer to, of ${told.known.toLocaleString("en")}.`;
  }

  fetch(box.dataset.web, { headers: { accept: "application/json" } })
    .then((answer) => answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status))))
    .then(drawn)
    .catch((error) => { note.textContent = `The picture could not be drawn (${error.message}); the list says the same.`; });
})();
