// Runs before the page is drawn, so that it is not drawn light first and dark then.
(() => {
  try {
    const chosen = localStorage.getItem("theme");
    if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
  } catch { /* no storage: the system's choice holds */ }
})();
