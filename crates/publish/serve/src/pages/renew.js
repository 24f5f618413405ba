// Renews <main> every few seconds, in place: a reload would take focus and position from readers.
(() => {
  const seconds = Number(document.currentScript.dataset.seconds);
  const controls = (main) => [...main.querySelectorAll("a, button, input, select, summary")];
  const renew = (next) => {
    const [old, fresh] = [document, next].map((of) => of.querySelector("main"));
    const focused = controls(old).indexOf(document.activeElement);
    old.replaceWith(fresh);
    if (focused >= 0) controls(fresh)[focused]?.focus({ preventScroll: true });
    document.title = next.title;
  };
  const ask = async () => {
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      const next = new DOMParser().parseFromString(await answer.text(), "text/html");
      if (answer.redirected) return location.assign(answer.url);
      // Another page has taken its place, such as the report at the end.
      if (!next.querySelector("script[data-seconds]")) return location.reload();
      renew(next);
    } catch {
      // The server does not answer; it may be restarting.
    }
    setTimeout(ask, seconds * 1000);
  };
  setTimeout(ask, seconds * 1000);
})();
