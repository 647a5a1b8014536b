// Keyboard shortcuts, theme and local times. Every link and form works without scripts.
(() => {
  const $ = (selector) => document.querySelector(selector);
  const dark = () => document.documentElement.dataset.theme === "dark" ||
    (!document.documentElement.dataset.theme && matchMedia("(prefers-color-scheme: dark)").matches);

  function theme() {
    const next = dark() ? "light" : "dark";
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("theme", next); } catch { /* for this page alone */ }
    document.dispatchEvent(new Event("theme"));
  }

  function step(by) {
    const items = [...document.querySelectorAll("[data-item]")].filter((each) => each.offsetParent);
    if (!items.length) return;
    const at = items.indexOf(document.activeElement);
    items[at < 0 ? (by > 0 ? 0 : items.length - 1) : Math.min(items.length - 1, Math.max(0, at + by))].focus();
  }

  // Times in the browser's zone; the server wrote them in its own.
  const two = (number) => String(number).padStart(2, "0");
  const months = ["January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November", "December"];
  function localTimes(root) {
    for (const each of root.querySelectorAll('time[datetime*="T"]')) {
      const at = new Date(each.dateTime);
      if (Number.isNaN(at.getTime())) continue;
      const clock = `${two(at.getHours())}:${two(at.getMinutes())}`;
      const day = `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
      each.textContent = each.dataset.day === day ? clock : `${at.getDate()} ${months[at.getMonth()]} ${at.getFullYear()}, ${clock}`;
    }
  }
  localTimes(document);
  document.addEventListener("htmx:load", (event) => localTimes(event.detail.elt));

  let go = 0; // when `g` was pressed

  function pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const typing = event.target.closest("input, textarea, select, [contenteditable]");
    const empty = typing?.id === "query" && !typing.value; // `/` searches: it does not begin a question
    if (typing && !(event.key === "/" && empty)) {
      if (event.key === "Escape") { event.preventDefault(); typing.blur(); } // browsers would clear a search field
      return;
    }
    if ($("#keys").open) return;
    const soon = event.timeStamp - go < 1500;
    go = 0;
    if (soon) {
      const page = $(`[data-go="${CSS.escape(event.key)}"]`);
      if (page) { event.preventDefault(); page.click(); return; }
    }
    const acts = {
      "/": () => { const query = $("#query"); if (query) { query.focus(); query.select(); } else $(".name").click(); },
      "?": () => $("#keys").showModal(),
      "j": () => step(1),
      "k": () => step(-1),
      "d": theme,
      "e": () => $("[data-edit]")?.click(),
      "g": () => { go = event.timeStamp; },
    };
    if (acts[event.key]) { event.preventDefault(); acts[event.key](); }
  }

  document.addEventListener("keydown", pressed);
  // After a search, keys are for the results, and a phone hides its keyboard.
  document.addEventListener("submit", (event) => { if (event.target.matches(".search")) $("#query").blur(); });
  // Leave empty fields out of URLs. htmx collects fields by the same event.
  document.addEventListener("formdata", (event) => {
    if (event.target.method !== "get") return;
    const empty = [...event.formData].filter(([, value]) => value === "");
    for (const [name] of empty) {
      const values = event.formData.getAll(name).filter((value) => value !== "");
      event.formData.delete(name);
      for (const value of values) event.formData.append(name, value);
    }
  });
  $("#theme").addEventListener("click", theme);
  $("#help").addEventListener("click", () => $("#keys").showModal());
})();
