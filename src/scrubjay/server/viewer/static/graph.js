// Draws the graph of concepts with the positions that the server computed: an SVG, sharp at every pixel ratio.
(() => {
  const box = document.getElementById("web");
  if (!box) return;
  const note = document.getElementById("web-note");
  const LABEL = 13, LINE = 17, MARGIN = 40; // pixels on the screen, whatever the zoom

  function element(name, attributes, parent) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    return parent.appendChild(made);
  }

  function draw(graph) {
    const most = Math.max(1, ...graph.nodes.map((each) => each.memories));
    const together = Math.max(1, ...graph.ties.map((each) => each.together));
    const many = graph.nodes.length > 400;
    const scale = Math.min(1, Math.max(0.55, box.clientWidth / 700)); // smaller circles on a phone
    const svg = element("svg", { "aria-hidden": "true" }, box);
    const scene = element("g", {}, svg);
    const byId = new Map(graph.nodes.map((each) => [each.id, each]));
    const ties = graph.ties.map((tie) => ({
      one: byId.get(tie.one), other: byId.get(tie.other),
      line: element("line", { class: "far", "stroke-width": (many ? 0.5 : 0.8) + 3 * tie.together / together }, scene),
    }));
    for (const node of graph.nodes) {
      node.radius = scale * ((many ? 2 : 4) + 12 * Math.sqrt(node.memories / most));
      node.circle = element("circle", { class: "far", r: node.radius, "data-id": node.id }, scene);
      element("title", {}, node.circle).textContent = `${node.name}: ${node.memories.toLocaleString("en")}`;
    }
    for (const node of graph.nodes) {
      node.label = element("text", { class: "far" }, scene);
      node.label.textContent = node.name.length > 28 ? `${node.name.slice(0, 27)}…` : node.name;
      node.width = node.label.getComputedTextLength();
    }

    const view = { zoom: 1, x: 0, y: 0 };
    function fit() {
      const range = (axis) => [Math.min(...graph.nodes.map((each) => each[axis])), Math.max(...graph.nodes.map((each) => each[axis]))];
      const [left, right] = range("x"), [top, bottom] = range("y");
      const zoom = Math.min((box.clientWidth - 2 * MARGIN) / Math.max(1, right - left), (box.clientHeight - 2 * MARGIN) / Math.max(1, bottom - top), 2);
      view.least = zoom / 2;
      move(zoom, box.clientWidth / 2 - zoom * (left + right) / 2, box.clientHeight / 2 - zoom * (top + bottom) / 2);
    }

    // Zooming moves concepts apart; circles and names keep their size. A name is shown where it covers no other name
    // and no larger concept: those of the most memories first, and more of them the closer one looks.
    function move(zoom, x, y) {
      Object.assign(view, { zoom, x, y });
      const taken = [];
      const free = (place) => !taken.some((each) => place.left < each.right && each.left < place.right && place.top < each.bottom && each.top < place.bottom);
      for (const node of graph.nodes) {
        node.at = [node.x * zoom + x, node.y * zoom + y];
        node.circle.setAttribute("cx", node.at[0]);
        node.circle.setAttribute("cy", node.at[1]);
      }
      for (const { one, other, line } of ties) {
        line.setAttribute("x1", one.at[0]); line.setAttribute("y1", one.at[1]);
        line.setAttribute("x2", other.at[0]); line.setAttribute("y2", other.at[1]);
      }
      let room = Math.round(box.clientWidth / 18 * zoom / (2 * view.least));
      for (const node of graph.nodes) {
        const [left, top] = node.at, half = node.width / 2 + 3;
        const within = left > 0 && top > 0 && left < box.clientWidth && top < box.clientHeight;
        const middle = Math.min(Math.max(left, half), box.clientWidth - half);
        const below = { left: middle - half, right: middle + half, top: top + node.radius + 1, bottom: top + node.radius + 1 + LINE };
        const above = { ...below, top: top - node.radius - 1 - LINE, bottom: top - node.radius - 1 };
        const place = within && room > 0 && [below, above].find(free);
        node.label.style.display = place ? "" : "none";
        taken.push({ left: left - node.radius, right: left + node.radius, top: top - node.radius, bottom: top + node.radius });
        if (!place) continue;
        room -= 1;
        node.label.setAttribute("x", middle);
        node.label.setAttribute("y", place.bottom - (LINE - LABEL));
        taken.push(place);
      }
    }

    let asked = 0;
    function soon(...to) {
      cancelAnimationFrame(asked);
      asked = requestAnimationFrame(() => move(...to));
      Object.assign(view, { zoom: to[0], x: to[1], y: to[2] });
    }
    function zoomAt(factor, left, top) {
      const zoom = Math.min(Math.max(view.zoom * factor, view.least), view.least * 60);
      const by = zoom / view.zoom;
      soon(zoom, left - (left - view.x) * by, top - (top - view.y) * by);
    }
    box.addEventListener("wheel", (event) => {
      event.preventDefault();
      const frame = box.getBoundingClientRect();
      zoomAt(Math.exp(-event.deltaY / (event.deltaMode ? 20 : 400)), event.clientX - frame.left, event.clientY - frame.top);
    }, { passive: false });

    const fingers = new Map(); // pointers that are down, where they were last
    let moved = 0;
    const spread = () => { const [a, b] = [...fingers.values()]; return Math.hypot(a[0] - b[0], a[1] - b[1]); };
    box.addEventListener("pointerdown", (event) => {
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      moved = fingers.size > 1 ? 99 : 0;
    });
    box.addEventListener("pointermove", (event) => {
      const was = fingers.get(event.pointerId);
      if (!was) { show(byId.get(event.target.dataset?.id)); return; }
      const [right, down] = [event.clientX - was[0], event.clientY - was[1]];
      const before = fingers.size === 2 ? spread() : 0;
      fingers.set(event.pointerId, [event.clientX, event.clientY]);
      moved += Math.abs(right) + Math.abs(down);
      if (moved > 4 && !box.hasPointerCapture(event.pointerId)) box.setPointerCapture(event.pointerId);
      if (fingers.size === 1) soon(view.zoom, view.x + right, view.y + down);
      else if (fingers.size === 2) {
        const frame = box.getBoundingClientRect(), [a, b] = [...fingers.values()];
        zoomAt(spread() / Math.max(1, before), (a[0] + b[0]) / 2 - frame.left, (a[1] + b[1]) / 2 - frame.top);
      }
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"]) box.addEventListener(end, (event) => fingers.delete(event.pointerId));
    box.addEventListener("click", (event) => {
      const id = event.target.dataset?.id;
      if (id && moved <= 4) location.assign(`${box.dataset.web.split("/web.json")[0]}/${encodeURIComponent(id)}`);
    });

    let shown = null;
    function show(node) {
      if (node === shown) return;
      shown = node;
      scene.classList.toggle("faded", Boolean(node));
      const near = new Set(node ? [node] : []);
      for (const { one, other, line } of ties) {
        const ends = node && (one === node || other === node);
        line.classList.toggle("near", Boolean(ends));
        line.classList.toggle("far", !ends);
        if (ends) near.add(one).add(other);
      }
      for (const each of graph.nodes) {
        each.circle.classList.toggle("near", near.has(each));
        for (const part of [each.circle, each.label]) part.classList.toggle("far", !near.has(each));
      }
    }
    for (const link of document.querySelectorAll("[data-concept]")) {
      for (const begin of ["focus", "mouseenter"]) link.addEventListener(begin, () => show(byId.get(link.dataset.concept)));
      for (const end of ["blur", "mouseleave"]) link.addEventListener(end, () => show(undefined));
    }
    fit();
    new ResizeObserver(fit).observe(box);
    box.dataset.drawn = String(graph.nodes.length);
    if (graph.known > graph.nodes.length) note.textContent += ` Shown: the ${graph.nodes.length.toLocaleString("en")} that most memories refer to, of ${graph.known.toLocaleString("en")}.`;
  }

  fetch(box.dataset.web, { headers: { accept: "application/json" } })
    .then((answer) => answer.ok ? answer.json() : Promise.reject(new Error(String(answer.status))))
    .then((graph) => { if (graph.nodes.length) draw(graph); })
    .catch((error) => { note.textContent = `The graph could not be drawn (${error.message}); the list has the same content.`; });
})();
